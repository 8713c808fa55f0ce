package frameworktest_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"polychrome.dev/controller/framework"
	"polychrome.dev/controller/framework/frameworktest"
)

// The kind of these tests is a pod that wants a lamp of a color beside it.
type lamp struct {
	color string
	lit   bool
}

type room struct{ lamps []lamp }

type rule = frameworktest.Simulation[*corev1.Pod, room, string]

const hold = "example.test/lamp"

func planLamp(_ time.Time, pod *corev1.Pod, seen room) framework.Plan[string] {
	plan := framework.Plan[string]{Decision: "keep"}
	held := slices.Contains(pod.Finalizers, hold)
	switch {
	case pod.DeletionTimestamp != nil && len(seen.lamps) > 0:
		plan.Decision, plan.Actions = "clear", []string{"remove"}
	case pod.DeletionTimestamp != nil && held:
		plan.Decision, plan.Actions = "let go", []string{"release"}
	case pod.DeletionTimestamp != nil:
	case !held:
		plan.Decision, plan.Actions = "begin", []string{"hold", "place"}
	case len(seen.lamps) == 0:
		plan.Decision, plan.Actions = "mend", []string{"place"}
	case !seen.lamps[0].lit:
		plan.Decision, plan.Wait = "await light", time.Minute
	}
	return plan
}

func statusLamp(_ time.Time, pod *corev1.Pod, seen room, done []framework.Done[string]) *corev1.Pod {
	out := pod.DeepCopy()
	out.Status.Message = "dark"
	if len(seen.lamps) > 0 && seen.lamps[0].lit {
		out.Status.Message = "light"
	}
	for _, d := range done {
		if d.Err != nil {
			out.Status.Message = d.Err.Error()
		}
	}
	return out
}

func doLamp(s *rule, action string) (framework.Result, error) {
	s.Object = s.Object.DeepCopy()
	switch action {
	case "hold":
		s.Object.Finalizers = append(s.Object.Finalizers, hold)
	case "place":
		s.World.lamps = append(slices.Clone(s.World.lamps), lamp{color: "red"})
	case "remove":
		s.World.lamps = nil
	case "release":
		s.Object = nil
	}
	return framework.Result{}, nil
}

func lampRule(options ...frameworktest.Option) *rule {
	return &rule{
		Now:    time.Unix(1_800_000_000, 0).UTC(),
		Object: frameworktest.Make(&corev1.Pod{}, append([]frameworktest.Option{frameworktest.Name("p")}, options...)...),
		Plan:   planLamp, Status: statusLamp, Do: doLamp,
	}
}

func TestASimulationPlaysPassesToTheEnd(t *testing.T) {
	s := lampRule()
	passes, err := s.Settle(6)
	if err != nil {
		t.Fatal(err)
	}
	if len(passes) != 2 || !passes[0].Busy() || passes[1].Busy() {
		t.Errorf("want one busy pass and one that is not, got %+v", passes)
	}
	if diff := cmp.Diff([]string{hold}, s.Object.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if s.Object.Status.Message != "dark" || len(s.World.lamps) != 1 {
		t.Errorf("want a dark pod with a lamp, got %q and %v", s.Object.Status.Message, s.World.lamps)
	}
	s.Object = frameworktest.Make(s.Object.DeepCopy(), frameworktest.Deleting(s.Now))
	if _, err := s.Settle(6); err != nil || !s.Gone() {
		t.Errorf("want it gone, got %+v, %v", s.Object, err)
	}
}

func TestAFailedActionEndsActing(t *testing.T) {
	s := lampRule()
	s.Fail = func(action string) error {
		if action == "hold" {
			return errors.New("refused")
		}
		return nil
	}
	pass := s.Pass()
	if len(pass.Done) != 1 || pass.Done[0].Err == nil || len(s.World.lamps) != 0 || s.Object.Status.Message != "refused" {
		t.Errorf("want acting to end at once, got %+v and %v", pass, s.World)
	}
}

func TestPlanTwiceFindsWhatIsWrong(t *testing.T) {
	calls := 0
	tests := map[string]struct {
		spoil func(*rule)
		want  string
	}{
		"a good reconciler": {func(*rule) {}, ""},
		"a plan by the throw of a die": {func(s *rule) {
			s.Plan = func(now time.Time, pod *corev1.Pod, seen room) framework.Plan[string] {
				calls++
				plan := planLamp(now, pod, seen)
				plan.Wait = time.Duration(calls)
				return plan
			}
		}, "two plans of one world differ"},
		"a plan that changes the object": {func(s *rule) {
			s.Plan = func(now time.Time, pod *corev1.Pod, seen room) framework.Plan[string] {
				pod.Labels = map[string]string{"seen": "yes"}
				return planLamp(now, pod, seen)
			}
		}, "planning changed the object"},
		"a plan that changes the world": {func(s *rule) {
			s.World.lamps = []lamp{{color: "red"}}
			s.Plan = func(now time.Time, pod *corev1.Pod, seen room) framework.Plan[string] {
				seen.lamps[0].lit = true
				return planLamp(now, pod, seen)
			}
		}, "planning changed"},
		"a status by the throw of a die": {func(s *rule) {
			s.Status = func(now time.Time, pod *corev1.Pod, seen room, done []framework.Done[string]) *corev1.Pod {
				calls++
				out := statusLamp(now, pod, seen, done)
				out.Status.Reason = time.Duration(calls).String()
				return out
			}
		}, "two statuses of one world differ"},
		"a status that changes the object": {func(s *rule) {
			s.Status = func(_ time.Time, pod *corev1.Pod, _ room, _ []framework.Done[string]) *corev1.Pod {
				pod.Status.Message = "changed"
				return pod
			}
		}, "judging changed"},
		"an action without an effect": {func(s *rule) {
			s.Do = func(*rule, string) (framework.Result, error) { return framework.Result{}, nil }
		}, "the action hold is repeated"},
		"a status that never comes to rest": {func(s *rule) {
			s.Status = func(_ time.Time, pod *corev1.Pod, _ room, _ []framework.Done[string]) *corev1.Pod {
				out := pod.DeepCopy()
				out.Status.Message += "."
				return out
			}
		}, "not settled after 6 passes"},
		"actions that are the same in what counts": {func(s *rule) {
			s.Same = func(a, b string) bool { return len(a) > 0 && len(b) > 0 }
		}, "the action place is repeated"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := lampRule()
			test.spoil(s)
			err := frameworktest.PlanTwice(s)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("want nothing wrong, got %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("want %q, got %v", test.want, err)
			}
		})
	}
}

func TestEveryRoomSettles(t *testing.T) {
	frameworktest.PlanTwiceFrom(t, 200, func(r *rand.Rand) *rule {
		// The keys of a map come in another order each time.
		options := []frameworktest.Option{frameworktest.Labels(map[string]string{"a": "", "b": "", "c": "", "d": "", "e": ""})}
		if r.IntN(2) == 0 {
			options = append(options, frameworktest.Finalizers(hold))
			if r.IntN(2) == 0 {
				options = append(options, frameworktest.Deleting(time.Unix(1, 0)))
			}
		}
		s := lampRule(options...)
		s.World.lamps = make([]lamp, r.IntN(2))
		return s
	})
}
