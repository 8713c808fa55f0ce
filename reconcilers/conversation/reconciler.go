package conversation

import (
	"context"
	"log/slog"
	"time"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/reconcilers/conversation/execution"
	"polychrome.dev/controller/reconcilers/conversation/slots"
)

// DefaultWarmPool is the SandboxWarmPool that units are claimed from where
// claims name one.
const DefaultWarmPool = "polychrome-harness-warm"

// Conversations is what the reconciler asks of the kind it reconciles; a
// framework.Resource provides it.
type Conversations interface {
	OnChange(handler func(conv *polychromev1alpha1.Conversation, deleted bool))
	AddFinalizer(ctx context.Context, conv *polychromev1alpha1.Conversation, finalizer string) error
	RemoveFinalizer(ctx context.Context, conv *polychromev1alpha1.Conversation, finalizer string) error
	Delete(ctx context.Context, conv *polychromev1alpha1.Conversation) error
}

// Options are what a Reconciler is made of.
type Options struct {
	// Conversations reads and writes the reconciled kind. Required.
	Conversations Conversations
	// Claims reads and writes the execution units, in the versions of their
	// API that may be used. Required.
	Claims execution.Claims
	// ClaimVersion is the one version of the claims' API that may be used,
	// execution.V1alpha1 or execution.V1beta1. The newest that is served if
	// empty. It is for whoever fills Claims.
	ClaimVersion string
	// Template names the SandboxTemplate that units are claimed from.
	// DefaultTemplate if empty.
	Template string
	// WarmPool names the SandboxWarmPool that units are claimed from where
	// claims name one. DefaultWarmPool if empty.
	WarmPool string
	// Generation is the desired harness image generation, an opaque text.
	// Empty switches rolling off.
	Generation string
	// RollConcurrency is how many conversations may roll at once.
	// DefaultRollConcurrency if not positive.
	RollConcurrency int
	// RetentionSeconds is how long a closed conversation is kept before it
	// is deleted. Zero or less keeps it for ever.
	RetentionSeconds int64
	// Wake asks for a pass of each key; it is called when a slot for rolling
	// frees. Without it a waiting conversation finds out within 15 s.
	Wake func(keys ...framework.Key)
	// Now is the clock. time.Now if nil.
	Now func() time.Time
	// Log takes what happens. slog.Default() if nil.
	Log *slog.Logger
}

// Reconciler drives Conversations. It implements framework.Reconciler.
type Reconciler struct {
	rules
	conversations Conversations
	backend       execution.Backend
	slots         *slots.Slots
	now           func() time.Time
	log           *slog.Logger
}

var _ framework.Reconciler[*polychromev1alpha1.Conversation, World, Action] = (*Reconciler)(nil)

// New makes a Reconciler and subscribes it to changes of conversations. Call
// it before the caches start, or slots in use would not be counted.
func New(o Options) *Reconciler {
	if o.Template == "" {
		o.Template = DefaultTemplate
	}
	if o.WarmPool == "" {
		o.WarmPool = DefaultWarmPool
	}
	if o.RollConcurrency <= 0 {
		o.RollConcurrency = DefaultRollConcurrency
	}
	if o.Wake == nil {
		o.Wake = func(...framework.Key) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	claims := execution.NewSandboxClaims(execution.SandboxClaimOptions{
		Claims: o.Claims, Template: o.Template, WarmPool: o.WarmPool, Generation: o.Generation, Log: o.Log,
	})
	r := &Reconciler{
		rules: rules{
			generation: o.Generation,
			retention:  max(o.RetentionSeconds, 0),
			readyPoll:  claims.ReadyPollInterval(),
		},
		conversations: o.Conversations,
		backend:       claims,
		slots: slots.New(slots.Options{
			Limit: o.RollConcurrency, Generation: o.Generation, Wake: o.Wake, Now: o.Now,
			BusyUntil: func(now int64, conv *polychromev1alpha1.Conversation) int64 {
				until, _ := busyUntil(now, conv)
				return until
			},
		}),
		now: o.Now,
		log: o.Log,
	}
	o.Conversations.OnChange(func(conv *polychromev1alpha1.Conversation, deleted bool) {
		r.slots.Observe(conv, deleted)
		if deleted {
			claims.Forget(conv.UID)
		}
	})
	return r
}

// Rolls tells how the rolls of all conversations stand.
func (r *Reconciler) Rolls() slots.Standing { return r.slots.Standing() }
