package execution

// pools are the warm pools that a claim may name.
type pools struct {
	// warm is the one that was configured; shadow is the one that the operator
	// keeps for the template.
	warm, shadow string
}

// poolsFor are the pools of a configuration.
func poolsFor(warm, template string) pools {
	return pools{warm: warm, shadow: "shadow-pool-" + template}
}

// poolSight is which of the pools there are, as far as that can be read.
type poolSight struct{ readable, warm, shadow bool }

// poolFor names the pool that a claim should name. A claim that has its sandbox
// stays with the pool that it names, if that is one of ours: another name would
// change the claim and not the sandbox.
func poolFor(of pools, c claim, seen poolSight) string {
	switch {
	case c.sandbox != "" && (c.pool == of.warm || c.pool == of.shadow):
		return c.pool
	case seen.readable && !seen.warm && seen.shadow:
		return of.shadow
	}
	return of.warm
}
