package framework

import "time"

// rewritesEvery is the least time between two rewrites of objects that were
// settled before this process began to lead.
const rewritesEvery = time.Second / 50

// pacer spreads the rewrites that an upgrade brings. It knows the objects
// that were settled at the start and have not been looked at since; each gets
// a turn when its pass wants to write.
type pacer struct {
	next  time.Time
	turns map[Key]time.Time
}

// begin takes note of an object that is settled at the start.
func (p *pacer) begin(key Key) {
	if p.turns == nil {
		p.turns = map[Key]time.Time{}
	}
	p.turns[key] = time.Time{}
}

// wait is how long a key has to wait for its turn; zero is now.
func (p *pacer) wait(now time.Time, key Key) time.Duration {
	turn, known := p.turns[key]
	if !known {
		return 0
	}
	if turn.IsZero() {
		turn = now
		if p.next.After(now) {
			turn = p.next
		}
		p.turns[key], p.next = turn, turn.Add(rewritesEvery)
	}
	return max(turn.Sub(now), 0)
}

// hasten gives a key an earlier turn.
func (p *pacer) hasten(key Key, at time.Time) {
	if turn, known := p.turns[key]; known && at.Before(turn) {
		p.turns[key] = at
	}
}

// end forgets a key: it was looked at, or is new work now.
func (p *pacer) end(key Key) { delete(p.turns, key) }

// pending is how many keys wait for their turn.
func (p *pacer) pending() int {
	pending := 0
	for _, turn := range p.turns {
		if !turn.IsZero() {
			pending++
		}
	}
	return pending
}
