package conversation

import (
	"fmt"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// halts reports whether the conversation is one of those whose failed rolls
// keep all others from being rolled to the desired generation. They say so,
// and not the many that wait: a halt must not rewrite a fleet.
func (p rules) halts(now int64, conv *polychromev1alpha1.Conversation, w World) bool {
	recorded := conv.Status.HarnessImageGeneration
	return w.Rolls.Halted && slots.Failed(now, conv) && (recorded == "" || recorded == p.generation)
}

func (p rules) haltedMessage(w World) string {
	return fmt.Sprintf("%d conversations failed to roll to generation %q; no other is rolled to it until they recover or another generation is asked for",
		w.Rolls.Failed, p.generation)
}

// failedRoll is the message of a roll that was not ready in time.
func (p rules) failedRoll(s polychromev1alpha1.ConversationStatus) string {
	if s.HarnessImageGeneration == "" {
		return "the execution unit was replaced, and the new one was not ready within 10 minutes"
	}
	return fmt.Sprintf("the execution unit was replaced by one of generation %q, which was not ready within 10 minutes", s.HarnessImageGeneration)
}
