package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCadence(t *testing.T) {
	for expression, want := range map[string]string{
		"0 9 * * MON-FRI":          "every weekday at 09:00 Europe/London",
		"0 9 * * 1-5":              "every weekday at 09:00 Europe/London",
		"* * * * *":                "every minute, Europe/London",
		"*/15 * * * *":             "every 15 minutes, Europe/London",
		"0,15,30,45 * * * *":       "every 15 minutes, Europe/London",
		"*/7 * * * *":              "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour, Europe/London",
		"@hourly":                  "every hour, Europe/London",
		"30 * * * *":               "every hour at minute 30, Europe/London",
		"10-13 * * * *":            "at minutes 10 to 13 of every hour, Europe/London",
		"0 */6 * * *":              "every 6 hours, Europe/London",
		"0 8-18 * * *":             "every hour from 08:00 to 18:00, Europe/London",
		"*/15 9-17 * * 1-5":        "every 15 minutes from 09:00 to 17:45, every weekday, Europe/London",
		"0,30 9-17 * * 1-5":        "every 30 minutes from 09:00 to 17:30, every weekday, Europe/London",
		"*/15 9,10 * * *":          "every 15 minutes from 09:00 to 10:45, Europe/London",
		"*/15 9,11 * * *":          "every 15 minutes of hours 9 and 11, Europe/London",
		"5,6 9-17 * * *":           "at minutes 5 and 6 of hours 9 to 17, Europe/London",
		"* 9 * * *":                "every minute from 09:00 to 09:59, Europe/London",
		"@daily":                   "every day at 00:00 Europe/London",
		"30 9,17 * * *":            "every day at 09:30 and 17:30 Europe/London",
		"@weekly":                  "every Sunday at 00:00 Europe/London",
		"@monthly":                 "on day 1 of the month at 00:00 Europe/London",
		"@yearly":                  "on day 1 of the month in January at 00:00 Europe/London",
		"0 9 13 * 5":               "on day 13 of the month and every Friday at 09:00 Europe/London",
		"0 9 */2 * 5":              "on days 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 and 31 of the month if that is a Friday at 09:00 Europe/London",
		"0 9 1-7 * */2":            "on days 1 to 7 of the month if that is a Tuesday, Thursday, Saturday or Sunday at 09:00 Europe/London",
		"0 9 * * SAT,SUN":          "every Saturday and Sunday at 09:00 Europe/London",
		"0 9 * * 5-7":              "every Friday to Sunday at 09:00 Europe/London",
		"0 9 * * 0-7":              "every day at 09:00 Europe/London",
		"0 9 1-31 * 5":             "every day at 09:00 Europe/London",
		"0 9 * 3,6-8 *":            "every day in March and June to August at 09:00 Europe/London",
		"0 * * 3 *":                "every hour, every day in March, Europe/London",
		"0 9 * 1,2 MON,WED,FRI":    "every Monday, Wednesday and Friday in January and February at 09:00 Europe/London",
		"0 0 29 2 *":               "on day 29 of the month in February at 00:00 Europe/London",
		"0 0 1 1/3 *":              "on day 1 of the month in January, April, July and October at 00:00 Europe/London",
		"5 4 * * sun":              "every Sunday at 04:05 Europe/London",
		"0 0,1,2,3,4,5 * * *":      "every day at 00:00, 01:00, 02:00, 03:00, 04:00 and 05:00 Europe/London",
		"0 0,1,2,3,4,5,6 * * *":    "every hour from 00:00 to 06:00, Europe/London",
		"0 0-23 * * *":             "every hour, Europe/London",
		"0-59 * * * *":             "every minute, Europe/London",
		"7,9 */2 1 * *":            "at minutes 7 and 9 of hours 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 22, on day 1 of the month, Europe/London",
		"0 0 * * TUE,THU,SAT,SUN ": "every Tuesday, Thursday, Saturday and Sunday at 00:00 Europe/London",
	} {
		if got := cron(t, expression, "Europe/London").Cadence(); got != want {
			t.Errorf("%s\nwant %s\ngot  %s", expression, want, got)
		}
	}
}

func TestCadenceOfOneInstant(t *testing.T) {
	for at, want := range map[string]string{
		"2026-07-08T09:00:00Z":         "once on 2026-07-08 at 10:00 Europe/London",
		"2026-07-08T23:30:05-02:00":    "once on 2026-07-09 at 02:30:05 Europe/London",
		"2026-12-08T09:00:00.25+00:00": "once on 2026-12-08 at 09:00:00.25 Europe/London",
	} {
		s, err := Once(at, "Europe/London")
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Cadence(); got != want {
			t.Errorf("%s: want %q, got %q", at, want, got)
		}
	}
	if got := (Schedule{}).Cadence(); got != "never" {
		t.Errorf("the zero schedule reads %q", got)
	}
}

// A sentence that two schedules share would mislead about one of them.
func TestASentenceStandsForOneSchedule(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	known := map[string]string{}
	for range 15_000 {
		text := anyExpression(r)
		e, err := parse(text)
		if err != nil {
			continue
		}
		s := Schedule{zone: zone(t, UTC), expression: e}
		sentence := s.Cadence()
		if len(sentence) > 1024 {
			t.Fatalf("%s has a sentence of %d bytes", text, len(sentence))
		}
		days := ""
		for date := 1; date <= 31; date++ {
			for week := range 7 {
				if e.day(date, weekday(int64(week))) {
					days += fmt.Sprint(date, week, " ")
				}
			}
		}
		facts := fmt.Sprint(e.minute.values, e.hour.values, e.month.values, days)
		if other, seen := known[sentence]; seen && other != facts {
			t.Fatalf("%s reads %q, which already stands for another schedule", text, sentence)
		}
		known[sentence] = facts
	}
	if len(known) < 2_000 {
		t.Errorf("only %d sentences were seen", len(known))
	}
}

// anyExpression is mostly valid.
func anyExpression(r *rand.Rand) string {
	words := make([]string, 0, len(ranges))
	for _, s := range ranges {
		words = append(words, anyField(r, s))
	}
	return strings.Join(words, " ")
}

func anyField(r *rand.Rand, s span) string {
	if r.IntN(3) == 0 {
		return "*"
	}
	items := make([]string, 0, 3)
	for range 1 + r.IntN(3)*r.IntN(2) {
		low := s.low + r.IntN(s.most-s.low+1)
		high := low + r.IntN(s.most-low+1)
		step := 1 + r.IntN(max(high-low, 1))
		items = append(items, []string{
			fmt.Sprint(low), fmt.Sprintf("%d-%d", low, high), fmt.Sprintf("%d-%d/%d", low, high, step),
			fmt.Sprintf("*/%d", 1+r.IntN(s.high-s.low)), fmt.Sprintf("%d/%d", low, 1+r.IntN(5)),
		}[r.IntN(5)])
	}
	return strings.Join(items, ",")
}
