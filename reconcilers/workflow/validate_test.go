package workflow

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	polychromev1alpha1 "polychrome.dev/controller/apis/polychrome/v1alpha1"
)

func TestInvalid(t *testing.T) {
	long := strings.Repeat("w", 60)
	named := func(name string, stages ...workflowStage) *workflow {
		wf := flow(stages...)
		wf.Name = name
		return wf
	}
	for name, c := range map[string]struct {
		wf         *workflow
		wantReason polychromev1alpha1.Reason
		want       string
	}{
		"a diamond is fine":                  {wf: flow(stage("end", "left", "right"), stage("left", "start"), stage("right", "start"), stage("start"))},
		"64 stages with every edge are fine": {wf: flow(dense(64, false)...)},
		"a dependency named twice is fine":   {wf: flow(stage("b", "a", "a"), stage("a"))},
		"no stages": {
			wf: flow(), wantReason: polychromev1alpha1.ReasonInvalidSpec, want: "spec.stages is empty: name at least one stage",
		},
		"a workflow whose name begins with a digit": {
			wf: named("1wf", stage("a")), wantReason: polychromev1alpha1.ReasonInvalidName,
			want: `the workflow's name "1wf" cannot begin the names of Services: make it again with ` + labelRule,
		},
		"a workflow with a dot in its name": {wf: named("w.f", stage("a")), wantReason: polychromev1alpha1.ReasonInvalidName},
		"a workflow with too long a name":   {wf: named(strings.Repeat("w", 64), stage("a")), wantReason: polychromev1alpha1.ReasonInvalidName},
		"a stage with a name in capitals": {
			wf: flow(stage("Load")), wantReason: polychromev1alpha1.ReasonInvalidStageName,
			want: `the stage name "Load" cannot end the name of a Service: write ` + labelRule,
		},
		"a stage without a name": {wf: flow(stage("")), wantReason: polychromev1alpha1.ReasonInvalidStageName},
		"a name made up to match one that is cut": {
			wf:         named(long[:30], stage(long[:40]), stage(strings.TrimPrefix(childName(long[:30], long[:40]), long[:30]+"-"))),
			wantReason: polychromev1alpha1.ReasonInvalidStageName,
			want: "the stages " + strings.TrimPrefix(childName(long[:30], long[:40]), long[:30]+"-") + " and " + long[:40] +
				" would share the ServiceDefinition " + childName(long[:30], long[:40]) + ": rename one of them",
		},
		"a stage listed twice": {
			wf: flow(stage("a"), stage("b"), stage("a")), wantReason: polychromev1alpha1.ReasonDuplicateStage,
			want: "the stage a is listed 2 times: keep one of them",
		},
		"an unknown dependency": {
			wf: flow(stage("a", "nobody"), stage("b")), wantReason: polychromev1alpha1.ReasonUnknownDependency,
			want: "the stage a depends on nobody, which is no stage",
		},
		"itself": {
			wf: flow(stage("a", "a"), stage("b")), wantReason: polychromev1alpha1.ReasonSelfDependency, want: "the stage a depends on itself",
		},
		"a cycle": {
			wf: flow(stage("b", "a"), stage("a", "b")), wantReason: polychromev1alpha1.ReasonDependencyCycle,
			want: "stages depend on each other in a circle: a → b → a",
		},
		"two cycles at once": {
			wf:         flow(stage("d", "c"), stage("c", "d"), stage("b", "a"), stage("a", "b"), stage("e", "d", "a")),
			wantReason: polychromev1alpha1.ReasonDependencyCycle,
			want:       "stages depend on each other in a circle: a → b → a; stages depend on each other in a circle: c → d → c",
		},
		"a cycle behind a valid part": {
			wf:         flow(stage("a"), stage("b", "a", "x"), stage("x", "y"), stage("y", "z"), stage("z", "x")),
			wantReason: polychromev1alpha1.ReasonDependencyCycle,
			want:       "stages depend on each other in a circle: x → y → z → x",
		},
		"all at once": {
			wf:         flow(stage("b", "a", "nobody"), stage("a", "b", "a"), stage("c"), stage("c"), stage("D")),
			wantReason: polychromev1alpha1.ReasonInvalidStageName,
			want: `the stage name "D" cannot end the name of a Service: write ` + labelRule +
				"; the stage c is listed 2 times: keep one of them" +
				"; the stage b depends on nobody, which is no stage" +
				"; the stage a depends on itself" +
				"; stages depend on each other in a circle: a → b → a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				rand.Shuffle(len(c.wf.Spec.Stages), func(i, j int) {
					c.wf.Spec.Stages[i], c.wf.Spec.Stages[j] = c.wf.Spec.Stages[j], c.wf.Spec.Stages[i]
				})
				got, broken := invalid(c.wf)
				if broken != (c.wantReason != "") || got.reason != c.wantReason {
					t.Errorf("want reason %q, got %q", c.wantReason, got.reason)
				}
				if diff := cmp.Diff(c.want, got.message); c.want != "" && diff != "" {
					t.Errorf("message (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAMessageOfManyFaultsIsCut(t *testing.T) {
	stages := dense(64, true)
	for i := range stages {
		stages[i].DependsOn = append(stages[i].DependsOn, "nobody"+strings.Repeat("é", 20))
	}
	got, _ := invalid(flow(stages...))
	if len(got.message) > maxMessage || !utf8.ValidString(got.message) || !strings.HasSuffix(got.message, "…") {
		t.Errorf("want at most %d bytes and an ellipsis, got %d: %s", maxMessage, len(got.message), got.message)
	}
}
