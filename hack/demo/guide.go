package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// guide says where things are and what to try.
func guide(o *options, c *controller, holding bool) string {
	var b strings.Builder
	b.WriteString("\nEverything has settled.\n\n")
	if kubeconfig := os.Getenv("KUBECONFIG"); kubeconfig != "" {
		fmt.Fprintf(&b, "  kubeconfig  %s\n", near(kubeconfig))
	}
	fmt.Fprintf(&b, "  controller  %s  (its own kubeconfig)\n", o.identity())
	fmt.Fprintf(&b, "  its log     %s\n", o.log())
	fmt.Fprintf(&b, "  metrics     http://%s/metrics\n", c.metrics)
	fmt.Fprintf(&b, "  health      http://%s/readyz\n", c.health)
	b.WriteString("\nTo try in another terminal, in this folder:\n\n")
	b.WriteString(suggestions(o))
	b.WriteString(ending(o, c, holding))
	return b.String()
}

// ending says what comes after this, and how to roll.
func ending(o *options, c *controller, holding bool) string {
	switch {
	case holding:
		return "\n  Roll the image: press Enter here. The controller starts anew with the next harness\n" +
			"  image generation, and the units are replaced, at most five at once.\n\n" +
			"Ctrl-C stops everything. Changes from here on:\n\n"
	case o.existing:
		return "\nThis is no terminal, so the controller stops now; the objects stay.\n"
	}
	return "\n  # roll the image: the next run replaces every unit\n  " +
		generationEnv + "=" + nextGeneration(c.generation) + " make demo\n\n" +
		"This is no terminal, so everything stops now; the objects are kept for the next run.\n"
}

// suggestions are commands that work as they stand.
func suggestions(o *options) string {
	control, apps := o.kubectlPath+" -n "+namespace, o.kubectlPath+" -n "+appsNamespace
	var b strings.Builder
	if kubeconfig := os.Getenv("KUBECONFIG"); kubeconfig != "" {
		fmt.Fprintf(&b, "  export KUBECONFIG=%s\n", near(kubeconfig))
	}
	for _, s := range []struct{ why, kubectl, command string }{
		{"look closer", control, "get conversations,sandboxclaims,pods -o wide"},
		{"close one: its unit is torn down; false resumes it", control, `patch conversation hello --subresource=status --type=merge -p '{"status":{"closed":true}}'`},
		{"delete a claim: the unit has vanished and is made again", control, "delete sandboxclaim hello-research"},
		{"move the foreign claim away: the broken one recovers", control, "delete sandboxclaim taken"},
		{"give the units another image, then roll; warm pods are of the old one unless the pool makes them anew", control, `patch sandboxwarmpool polychrome-harness-warm --type=merge -p '{"spec":{"updateStrategy":{"type":"Recreate"}}}'`},
		{"", control, `patch sandboxtemplate polychrome-harness-default --type=json -p '[{"op":"replace","path":"/spec/podTemplate/spec/containers/0/image","value":"harness:2"}]'`},
		{"why: the events of one", control, "events --for conversation/hello"},
		{"a pipeline came up in order; edit a stage, and what depends on it is left alone", apps, "get workflows,servicedefinitions,pods"},
		{"why the broken pipeline starts nothing", apps, `get workflow circular -o jsonpath='{.status.conditions[?(@.type=="Ready")].message}{"\n"}'`},
		{"correct the image that no registry has", apps, `patch servicedefinition unpullable --type=merge -p '{"spec":{"image":"registry.example.com/team/web:1.0"}}'`},
	} {
		if s.why != "" {
			fmt.Fprintf(&b, "  # %s\n", s.why)
		}
		fmt.Fprintf(&b, "  %s %s\n", s.kubectl, s.command)
	}
	if o.existing {
		fmt.Fprintf(&b, "  # take the examples away, while the controller still runs\n  %s delete -f %s\n", o.kubectlPath, strings.Join(o.examples, " -f "))
	}
	return b.String()
}

// near writes a path as seen from here, where that is shorter.
func near(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, path); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}
