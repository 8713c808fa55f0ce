package conversation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	agentsandboxv1alpha1 "polychrome.dev/controller/apis/agentsandbox/v1alpha1"
	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
	"polychrome.dev/controller/test/cluster"
)

// film is everything that happened in a scene, in the order in which the API
// server did it. Both kinds are kept in one store, so that their versions
// compare.
type film struct {
	*scene
	mu     sync.Mutex
	frames []frame
}

// frame is one conversation or one claim after one write; gone once deleted.
type frame struct {
	version uint64
	conv    *polychromev1alpha1.Conversation
	claim   *agentsandboxv1alpha1.SandboxClaim
	gone    bool
}

// films records the scene from now on.
func (s *scene) films() *film {
	s.t.Helper()
	f := &film{scene: s}
	convs, err := s.client.PolychromeV1alpha1().Conversations(s.Namespace).Watch(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	units, err := s.client.AgentSandboxV1alpha1().SandboxClaims(s.Namespace).Watch(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var filming sync.WaitGroup
	for _, watching := range []watch.Interface{convs, units} {
		filming.Go(func() {
			for event := range watching.ResultChan() {
				f.take(event)
			}
		})
	}
	s.t.Cleanup(func() {
		convs.Stop()
		units.Stop()
		filming.Wait()
	})
	return f
}

func (f *film) take(event watch.Event) {
	object, err := meta.Accessor(event.Object)
	if err != nil {
		return
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		f.t.Errorf("a version that is no number: %v", err)
	}
	taken := frame{version: version, gone: event.Type == watch.Deleted}
	taken.conv, _ = event.Object.(*polychromev1alpha1.Conversation)
	taken.claim, _ = event.Object.(*agentsandboxv1alpha1.SandboxClaim)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frames = append(f.frames, taken)
}

// end ends the controller's life and returns all that happened. The last
// thing that happens to each kind is the end of an object made for that.
func (f *film) end(l *life) []frame {
	f.t.Helper()
	l.stop()
	const last = "the-end"
	f.meanwhile(f.makes(last), f.player.takes(last), f.deletes(conversations, last), f.deletes(claims, last))
	cluster.Eventually(f.t, settle, func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		ended := 0
		for _, each := range f.frames {
			if each.gone && each.name() == last {
				ended++
			}
		}
		if ended < 2 {
			return fmt.Errorf("%d watches of 2 have shown the end", ended)
		}
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	frames := slices.DeleteFunc(slices.Clone(f.frames), func(each frame) bool { return each.name() == last })
	slices.SortStableFunc(frames, func(a, b frame) int { return cmp.Compare(a.version, b.version) })
	return frames
}

func (f frame) name() string {
	if f.conv != nil {
		return f.conv.Name
	}
	return f.claim.Name
}

// judged is what a film is judged by: the state after each of its frames.
type judged struct {
	convs map[string]*polychromev1alpha1.Conversation
	units map[string]*agentsandboxv1alpha1.SandboxClaim
	// made has every claim there ever was, by its address.
	made map[string]*agentsandboxv1alpha1.SandboxClaim
	// withdrawn are the addresses that a conversation has ceased to show.
	withdrawn map[string]bool
	faults    []string
	// rolling and down are the most conversations that ever said that they
	// roll, and that had no unit which is ready although they had one once.
	rolling, down int
	booted        map[string]bool
}

// judge plays a film and finds what should never be seen.
func judge(frames []frame) *judged {
	j := &judged{
		convs: map[string]*polychromev1alpha1.Conversation{}, units: map[string]*agentsandboxv1alpha1.SandboxClaim{},
		made: map[string]*agentsandboxv1alpha1.SandboxClaim{}, withdrawn: map[string]bool{}, booted: map[string]bool{},
	}
	for _, each := range frames {
		switch name := each.name(); {
		case each.gone && each.conv != nil:
			delete(j.convs, name)
			delete(j.booted, name)
		case each.gone:
			delete(j.units, name)
		case each.conv != nil:
			j.seesConversation(each.conv)
		default:
			j.seesClaim(each.claim)
		}
		j.count()
	}
	return j
}

func (j *judged) seesClaim(claim *agentsandboxv1alpha1.SandboxClaim) {
	if before := j.units[claim.Name]; before != nil && before.UID == claim.UID && generationOf(before) != generationOf(claim) {
		j.fault("claim %s was made with generation %q and says %q", claim.Name, generationOf(before), generationOf(claim))
	}
	j.units[claim.Name] = claim
	if ips := claim.Status.Sandbox.PodIPs; len(ips) > 0 {
		j.made[ips[0]] = claim
		j.booted[claim.Name] = true
	}
}

// seesConversation looks at what a write has changed: what was written while
// it was true may be overtaken.
func (j *judged) seesConversation(conv *polychromev1alpha1.Conversation) {
	var before polychromev1alpha1.ConversationStatus
	if seen := j.convs[conv.Name]; seen != nil && seen.UID == conv.UID {
		before = seen.Status
	}
	j.convs[conv.Name] = conv
	now, unit := conv.Status, j.units[conv.Name]
	if before.PodIP != "" && before.PodIP != now.PodIP {
		j.withdrawn[before.PodIP] = true
	}
	if now.PodIP != "" && now.PodIP != before.PodIP || now.HarnessReady && !before.HarnessReady {
		switch {
		case j.withdrawn[now.PodIP]:
			j.fault("%s shows %s again", conv.Name, now.PodIP)
		case !ready(unit) || unit.Status.Sandbox.PodIPs[0] != now.PodIP:
			j.fault("%s shows %s, which is not the address of its unit", conv.Name, now.PodIP)
		}
	}
	if now.HarnessReady && (now.PodIP == "" || now.SandboxClaimName == "") {
		j.fault("%s is ready without an address or a claim", conv.Name)
	}
	generation := now.HarnessImageGeneration
	if generation != "" && generation != before.HarnessImageGeneration && (unit == nil || generationOf(unit) != generation) {
		j.fault("%s is stamped with generation %q, which is not its unit's", conv.Name, generation)
	}
	if made := j.made[now.PodIP]; made != nil && generationOf(made) != generation {
		j.fault("%s shows %s, which was made with %q, with generation %q", conv.Name, now.PodIP, generationOf(made), generation)
	}
}

func (j *judged) count() {
	rolling, down := 0, 0
	for name, conv := range j.convs {
		if conv.Status.Closed || conv.DeletionTimestamp != nil {
			continue
		}
		if conv.Status.RollingHarness {
			rolling++
		}
		if j.booted[name] && !ready(j.units[name]) {
			down++
		}
	}
	j.rolling, j.down = max(j.rolling, rolling), max(j.down, down)
}

func (j *judged) fault(format string, values ...any) {
	j.faults = append(j.faults, fmt.Sprintf(format, values...))
}

func generationOf(claim *agentsandboxv1alpha1.SandboxClaim) string {
	return claim.Annotations[polychromev1alpha1.HarnessImageGenerationAnnotation]
}

// ready reports whether a claim is there to stay and can be dialled.
func ready(claim *agentsandboxv1alpha1.SandboxClaim) bool {
	return claim != nil && claim.DeletionTimestamp == nil && len(claim.Status.Sandbox.PodIPs) > 0 &&
		meta.IsStatusConditionTrue(claim.Status.Conditions, agentsandboxv1alpha1.ConditionReady)
}
