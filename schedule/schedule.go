package schedule

import (
	"regexp"
	"time"
)

// Schedule is a valid schedule. The zero Schedule never fires.
type Schedule struct {
	zone *time.Location
	// at is the only instant; zero for an expression.
	at         time.Time
	expression expression
}

// Cron is the schedule of a cron expression in a zone. Its error says what to
// write instead.
func Cron(expression, zone string) (Schedule, error) {
	e, err := parse(expression)
	if err != nil {
		return Schedule{}, err
	}
	location, err := Zone(zone)
	if err != nil {
		return Schedule{}, err
	}
	return Schedule{zone: location, expression: e}, nil
}

// instant is RFC 3339 to the letter; time.Parse knows some variants more.
var instant = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$`)

// Once is the schedule of one instant, in RFC 3339, that people are shown in a
// zone. Its error says what to write instead.
func Once(at, zone string) (Schedule, error) {
	// time.Parse would ask what the machine's own zone is.
	parsed, err := time.ParseInLocation(time.RFC3339Nano, at, time.UTC)
	if err != nil || !instant.MatchString(at) {
		return Schedule{}, refuse(partInstant,
			"%s is no instant: write RFC 3339 with its offset, such as 2026-03-08T09:00:00Z or 2026-03-08T09:00:00+01:00", quoted(at))
	}
	location, err := Zone(zone)
	if err != nil {
		return Schedule{}, err
	}
	parsed = parsed.In(location)
	if parsed.Year() < 1 || parsed.Year() > lastYear {
		return Schedule{}, refuse(partInstant, "%s cannot be written in this zone: write an instant in the years from 1 to %d", quoted(at), lastYear)
	}
	return Schedule{zone: location, at: parsed}, nil
}

// At is the only instant of a schedule that was made by Once; zero for others.
func (s Schedule) At() time.Time { return s.at }

// Next is the first instant after another at which the schedule fires, in its
// zone; false if there is none.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	if !s.at.IsZero() {
		return s.at, s.at.After(after)
	}
	next, _, ok := s.walk(after)
	return next, ok
}

// Upcoming are the next instants after another, soonest first, n at most.
func (s Schedule) Upcoming(after time.Time, n int) []time.Time {
	var all []time.Time
	for len(all) < n {
		next, ok := s.Next(after)
		if !ok {
			break
		}
		all = append(all, next)
		after = next
	}
	return all
}
