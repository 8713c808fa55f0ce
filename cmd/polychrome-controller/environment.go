package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// envPrefix begins every variable that is meant for this program.
const envPrefix = "POLYCHROME_"

// podNamespaceFile is where a pod finds the name of its own namespace.
const podNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// environment is what surrounds the process, as far as options come from it.
type environment struct {
	// variables are the environment variables by name.
	variables map[string]string
	// podNamespaceFile is read for the namespace if nothing else names it.
	podNamespaceFile string
}

func processEnvironment() environment {
	env := environment{variables: map[string]string{}, podNamespaceFile: podNamespaceFile}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		env.variables[name] = value
	}
	return env
}

// podNamespace is the namespace of the pod this runs in, if it does.
func (e environment) podNamespace() string {
	content, err := os.ReadFile(e.podNamespaceFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// serviceLink matches the variables that the kubelet derives from Services of
// the pod's namespace: a Service named polychrome-controller makes some that
// begin like ours.
var serviceLink = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$`)

// unknown lists the variables with our prefix that are nobody's, sorted.
func (e environment) unknown(known map[string]bool) []string {
	var names []string
	for name := range e.variables {
		if strings.HasPrefix(name, envPrefix) && !known[name] && !serviceLink.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// twin is the variable that stands for a flag.
func twin(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
