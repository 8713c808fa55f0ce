package schedule_test

import (
	"fmt"
	"time"

	"polychrome.dev/controller/schedule"
)

func ExampleCron() {
	s, err := schedule.Cron("30 2 * * *", "America/New_York")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Cadence())
	// Clocks are put forward over 02:30 on the first of these days.
	for _, next := range s.Upcoming(time.Date(2026, 3, 7, 12, 0, 0, 0, time.UTC), 3) {
		fmt.Println(next.Format(time.RFC3339))
	}
	// Output:
	// every day at 02:30 America/New_York
	// 2026-03-08T03:00:00-04:00
	// 2026-03-09T02:30:00-04:00
	// 2026-03-10T02:30:00-04:00
}

func ExampleCron_refused() {
	for _, expression := range []string{"0 0 9 * * *", "0 22-2 * * *", "0 0 30 2 *"} {
		_, err := schedule.Cron(expression, schedule.UTC)
		fmt.Println(err)
	}
	_, err := schedule.Cron("@daily", "GMT+8")
	fmt.Println(err)
	// Output:
	// the expression has six fields: leave out the seconds or the year and write five, minute, hour, day of the month, month and day of the week, such as 0 9 * * MON-FRI
	// the hour "22-2" ends before it begins: write 22-23,0-2
	// no month that is named has such a day, so it never fires: write another day, or other months
	// "GMT+8" is a distance from UTC and no zone: write an IANA name such as Europe/London, or UTC; with clocks that are never changed it is Etc/GMT-8, whose sign is the other way round
}

func ExampleOnce() {
	s, err := schedule.Once("2026-03-08T09:00:00Z", "Europe/Paris")
	if err != nil {
		fmt.Println(err)
		return
	}
	next, ok := s.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(next.Format(time.RFC3339), ok)
	// Output:
	// 2026-03-08T10:00:00+01:00 true
}
