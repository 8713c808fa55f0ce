package framework

import "k8s.io/apimachinery/pkg/runtime/schema"

// Cache is what one resource's cache shows at a moment.
type Cache struct {
	// Resource, Namespace and Selector tell what is cached; an empty
	// selector is everything.
	Resource  schema.GroupVersionResource
	Namespace string
	Selector  string
	// State is whether the cache can be read at all.
	State State
	// Versions is the resourceVersion of every object, by key.
	Versions map[Key]string
}

// Caches tells what every cache of the process shows. A test compares it with
// the API server to know that all news has arrived.
func (m *Manager) Caches() []Cache {
	caches := make([]Cache, 0, len(m.resources))
	for _, r := range m.resources {
		caches = append(caches, r.cache())
	}
	return caches
}

// Idle reports whether nothing is due, in work, parked or awaited from a
// cache in any controller. Objects that wait for a time or back off do not
// count, nor does news that has not reached a cache; see BackingOff and
// Caches.
func (m *Manager) Idle() bool {
	for _, c := range m.controllers {
		if !c.Idle() {
			return false
		}
	}
	return true
}

// BackingOff is how many objects wait for the next try after a failure, or for
// their turn. Terminal ones do not count: no time helps them.
func (m *Manager) BackingOff() int {
	total := 0
	for _, c := range m.controllers {
		total += c.backingOff()
	}
	return total
}

func (r *Resource[T]) cache() Cache {
	c := Cache{Resource: r.Resource, Namespace: r.Namespace, State: r.State(), Versions: map[Key]string{}}
	if r.Selector != nil {
		c.Selector = r.Selector.String()
	}
	for _, obj := range r.List() {
		c.Versions[keyOf(obj)] = obj.GetResourceVersion()
	}
	return c
}

func (c *Controller[T, W, A]) backingOff() int { return c.loop.backingOff() }

func (l *loop) backingOff() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := l.pacer.pending()
	for _, state := range l.keys {
		if state.failures > 0 && !state.terminal {
			total++
		}
	}
	return total
}
