package workflow

import (
	"errors"
	"testing"
)

func TestOpens(t *testing.T) {
	wf := flow(stage("a"))
	change := func(change func(*serviceDefinition)) *serviceDefinition {
		sd := up(wantedFor(wf, stage("a")))
		change(sd)
		return sd
	}
	for name, c := range map[string]struct {
		sd     *serviceDefinition
		unread error
		want   bool
	}{
		"ready":                                 {sd: change(func(*serviceDefinition) {}), want: true},
		"ready, with a label of somebody else":  {sd: change(func(sd *serviceDefinition) { sd.Annotations = map[string]string{"team": "theirs"} }), want: true},
		"there is none":                         {},
		"new":                                   {sd: wantedFor(wf, stage("a"))},
		"not ready":                             {sd: down(wantedFor(wf, stage("a")), "ImagePullBackOff")},
		"ready before it was changed":           {sd: change(func(sd *serviceDefinition) { sd.Generation++ })},
		"a status of the last generation":       {sd: change(func(sd *serviceDefinition) { sd.Status.ObservedGeneration-- })},
		"a condition of the last generation":    {sd: change(func(sd *serviceDefinition) { sd.Status.Conditions[0].ObservedGeneration-- })},
		"no condition":                          {sd: change(func(sd *serviceDefinition) { sd.Status.Conditions = nil })},
		"ready for what is not wanted any more": {sd: change(func(sd *serviceDefinition) { sd.Spec.Image = "example.com/old:1" })},
		"going":                                 {sd: going(up(wantedFor(wf, stage("a"))))},
		"somebody else's":                       {sd: foreign(up(wantedFor(wf, stage("a"))))},
		"nobody's":                              {sd: change(func(sd *serviceDefinition) { sd.OwnerReferences = nil })},
		"unreadable":                            {sd: change(func(*serviceDefinition) {}), unread: errors.New("broken")},
	} {
		p := newPlane()
		if c.sd != nil {
			p.objects[c.sd.Name] = c.sd
		}
		child := p.look(wf, stage("a"))
		child.Unread = c.unread
		if got := child.opens(); got != c.want {
			t.Errorf("%s: want open %t, got %t", name, c.want, got)
		}
	}
}
