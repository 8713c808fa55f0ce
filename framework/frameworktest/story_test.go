package frameworktest_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"polychrome.dev/controller/framework/frameworktest"
)

func beginLamp(testing.TB) *frameworktest.Story[*corev1.Pod, room, string] {
	s := lampRule()
	return &frameworktest.Story[*corev1.Pod, room, string]{
		Simulation: s,
		Action:     func(action string) string { return action + " the lamp" },
		Commands: map[string]func(frameworktest.Command) (string, error){
			"light": func(c frameworktest.Command) (string, error) {
				if len(s.World.lamps) == 0 {
					return "", fmt.Errorf("there is no lamp")
				}
				s.World.lamps = []lamp{{color: c.Options["color"], lit: true}}
				return "a lamp of " + c.Options["color"] + "\n\n" + c.Input, nil
			},
			"delete": func(frameworktest.Command) (string, error) {
				s.Object = frameworktest.Make(s.Object.DeepCopy(), frameworktest.Deleting(s.Now))
				return "", nil
			},
		},
	}
}

func TestStories(t *testing.T) {
	frameworktest.RunStories(t, "testdata/stories/*.txt", beginLamp)
}
