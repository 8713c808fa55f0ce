package schedule

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// longEnv asks for the whole of what is sampled otherwise.
const longEnv = "POLYCHROME_TEST_LONG"

const (
	// samples is how many changes of clocks an ordinary run looks at.
	samples = 400
	// around is how much time before and after a change is played, in minutes.
	around = 27 * 60
)

// The oracle plays every minute around a change of clocks and asks what the
// wall shows, by other means than the walk: no bounds of zone periods, no
// calendar, no sets.
func TestTheWalkAgreesWithPlayingEveryMinute(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	changes := namedChanges(t)
	if os.Getenv(longEnv) != "" {
		changes = allChanges(t)
		if len(changes) < 18_000 {
			t.Errorf("only %d changes of clocks were found", len(changes))
		}
	} else {
		changes = append(changes, someChanges(t, rand.New(rand.NewPCG(seed, 0)))...)
	}
	var compared, next atomic.Int64
	var players sync.WaitGroup
	for range 2 {
		players.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(changes)) && !t.Failed(); i = next.Add(1) - 1 {
				compared.Add(playAround(t, changes[i], rand.New(rand.NewPCG(seed, uint64(i)))))
			}
		})
	}
	players.Wait()
	t.Logf("%d changes of clocks, %d instants compared", len(changes), compared.Load())
}

// change is one change of the clocks of a zone.
type change struct {
	zone *time.Location
	at   int64
}

// namedChanges are those that other programs stumble over.
func namedChanges(t *testing.T) []change {
	var found []change
	for name, years := range map[string][]int{
		"Pacific/Apia": {2011}, "Pacific/Fakaofo": {2011}, "Australia/Lord_Howe": {2026}, "Africa/Cairo": {2026},
		"America/Santiago": {2026}, "America/New_York": {2026}, "Africa/Casablanca": {2026, 2035}, "Antarctica/Troll": {2026},
		"America/Caracas": {2007, 2016}, "Asia/Pyongyang": {2015, 2018}, "America/Sao_Paulo": {2018}, "Asia/Beirut": {2026},
		"Antarctica/Casey": {2009, 2018, 2020}, "Asia/Gaza": {2026, 2040}, "Europe/Dublin": {2040}, "America/Asuncion": {2024},
	} {
		z := zone(t, name)
		for _, year := range years {
			found = append(found, changesOf(z, year, year+1)...)
		}
	}
	if len(found) < 25 {
		t.Errorf("only %d of the named changes were found", len(found))
	}
	return found
}

func someChanges(t *testing.T, r *rand.Rand) []change {
	names := zoneNames()
	var found []change
	for len(found) < samples {
		year := 2000 + r.IntN(41)
		found = append(found, changesOf(zone(t, names[r.IntN(len(names))]), year, year+1)...)
	}
	return found
}

func allChanges(t *testing.T) []change {
	var found []change
	for _, name := range zoneNames() {
		found = append(found, changesOf(zone(t, name), 2000, 2041)...)
	}
	return found
}

func zoneNames() []string {
	files, _ := zones()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// changesOf looks at the clock every few hours, and halves the time between
// two looks that differ.
func changesOf(z *time.Location, from, to int) []change {
	const look = 6 * 3600
	var found []change
	end := time.Date(to, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for at := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); at < end; at += look {
		before, after := at, at+look
		if offsetOf(z, before) == offsetOf(z, after) {
			continue
		}
		for after-before > 1 {
			middle := before + (after-before)/2
			if offsetOf(z, middle) == offsetOf(z, before) {
				before = middle
			} else {
				after = middle
			}
		}
		found = append(found, change{z, after})
	}
	return found
}

func offsetOf(z *time.Location, at int64) int64 {
	_, offset := time.Unix(at, 0).In(z).Zone()
	return int64(offset)
}

// playAround compares several schedules around a change, and returns how many
// instants that were.
func playAround(t *testing.T, c change, r *rand.Rand) int64 {
	begin := c.at/60 - around
	walls := make([]int64, 2*around)
	for i := range walls {
		at := (begin + int64(i)) * 60
		walls[i] = (at + offsetOf(c.zone, at)) / 60
	}
	var compared int64
	for range 8 {
		text := nearby(r, walls[around-1], walls[around])
		e, err := parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			return compared
		}
		s, fires := Schedule{zone: c.zone, expression: e}, play(text, walls)
		for i, fire := range fires {
			fires[i] = begin + fire
		}
		afters := []int64{begin*60 + 30*3600}
		for range 12 {
			afters = append(afters, begin*60+30*3600+r.Int64N(24*3600))
		}
		for _, after := range append(afters, instants(fires, begin+30*60)...) {
			compared++
			want, _ := slices.BinarySearch(fires, floorDiv(after, 60)+1)
			if want == len(fires) {
				// The next one is after the time that was played.
				continue
			}
			if got, ok := s.Next(time.Unix(after, 0)); !ok || got.Unix() != fires[want]*60 {
				t.Errorf("%s in %s after %s: want %s, got %s", text, c.zone, time.Unix(after, 0).In(c.zone),
					time.Unix(fires[want]*60, 0).In(c.zone), got)
				return compared
			}
		}
	}
	return compared
}

// instants are those fires that are not before a minute, in seconds.
func instants(fires []int64, from int64) []int64 {
	var all []int64
	for _, fire := range fires {
		if fire >= from {
			all = append(all, fire*60)
		}
	}
	return all
}

// play is the minutes at which a schedule fires, by the numbers of walls. The
// first day and more only shows what the wall had before.
func play(text string, walls []int64) []int64 {
	words := strings.Fields(text)
	shows := strings.ContainsAny(words[0]+words[1], "*/")
	var fires []int64
	highest := walls[0]
	for i, wall := range walls {
		matches := false
		if shows {
			matches = shown(words, wall)
		} else {
			for time := highest + 1; time <= wall; time++ {
				matches = matches || shown(words, time)
			}
		}
		highest = max(highest, wall)
		if matches {
			fires = append(fires, int64(i))
		}
	}
	return fires
}

// shown reads an expression word by word for one minute of the wall clock.
func shown(words []string, wall int64) bool {
	// The minutes and hours of most times do not match; dates cost more.
	if !inWord(words[0], int(wall%60), 0, 59) || !inWord(words[1], int(wall/60%24), 0, 23) {
		return false
	}
	moment := time.Unix(wall*60, 0).UTC()
	if !inWord(words[3], int(moment.Month()), 1, 12) {
		return false
	}
	week := int(moment.Weekday())
	date, onWeek := inWord(words[2], moment.Day(), 1, 31), inWord(words[4], week, 0, 6) || week == 0 && inWord(words[4], 7, 0, 6)
	if words[2][0] != '*' && words[4][0] != '*' {
		return date || onWeek
	}
	return date && onWeek
}

func inWord(word string, value, low, high int) bool {
	if word == "*" {
		return true
	}
	for _, item := range strings.Split(word, ",") {
		body, step, stepped := strings.Cut(item, "/")
		from, to, ranged := strings.Cut(body, "-")
		first, last, every := low, high, 1
		if body != "*" {
			first, _ = strconv.Atoi(from)
			switch {
			case ranged:
				last, _ = strconv.Atoi(to)
			case !stepped:
				last = first
			}
		}
		if stepped {
			every, _ = strconv.Atoi(step)
		}
		if value >= first && value <= last && (value-first)%every == 0 {
			return true
		}
	}
	return false
}

// nearby is an expression with times close to those between two wall times,
// before and after a change, in minutes.
func nearby(r *rand.Rand, before, after int64) string {
	near := func() int { return int(((before+r.Int64N(after-before+181)-90)%1440 + 1440) % 1440) }
	if after < before {
		near = func() int { return int(((after+r.Int64N(before-after+181)-90)%1440 + 1440) % 1440) }
	}
	time, other := near(), near()
	hour, minute := time/60, time%60
	low, high := min(hour, other/60), max(hour, other/60)
	times := []string{
		fmt.Sprintf("%d %d", minute, hour),
		fmt.Sprintf("0 %d", hour),
		fmt.Sprintf("%d %d-%d", minute, low, high),
		fmt.Sprintf("0,%d %d,%d", minute, hour, other/60),
		fmt.Sprintf("%d-59 %d", minute, hour),
		fmt.Sprintf("%d *", minute),
		fmt.Sprintf("*/%d %d", 1+r.IntN(59), hour),
		fmt.Sprintf("%d/%d %d", minute%30, 1+r.IntN(29), hour),
		fmt.Sprintf("%d */%d", minute, 1+r.IntN(23)),
		fmt.Sprintf("%d %d/%d", minute, hour%12, 1+r.IntN(11)),
		"* *", "0 0", "59 23",
	}
	dates := moment(before)
	days := []string{
		"* * *", "* * *", "* * *", fmt.Sprintf("%d * *", dates.Day()), fmt.Sprintf("* %d *", dates.Month()),
		fmt.Sprintf("* * %d", r.IntN(8)), fmt.Sprintf("%d * %d", 1+r.IntN(31), r.IntN(8)), fmt.Sprintf("*/%d * %d-6", 1+r.IntN(30), r.IntN(7)),
	}
	return times[r.IntN(len(times))] + " " + days[r.IntN(len(days))]
}

func moment(wall int64) time.Time { return time.Unix(wall*60, 0).UTC() }
