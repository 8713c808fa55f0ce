package schedule

import (
	"strings"
	"testing"
)

func TestExpressionsThatMeanTheSame(t *testing.T) {
	for one, other := range map[string]string{
		"@hourly":               "0 * * * *",
		"@daily":                "0 0 * * *",
		"@midnight":             "0 0 * * *",
		"@weekly":               "0 0 * * SUN",
		"@monthly":              "0 0 1 * *",
		"@yearly":               "0 0 1 1 *",
		"@annually":             "@Yearly",
		" 0\t9  * * 1-5 ":       "0 9 * * 1-5",
		"0 9 * * mon-Fri":       "0 9 * * 1-5",
		"0 9 * jan,DEC *":       "0 9 * 1,12 *",
		"0 9 * * 7":             "0 9 * * 0",
		"0 9 * * 5-7":           "0 9 * * FRI,SAT,SUN",
		"05 009 * * *":          "5 9 * * *",
		"1,2,3,2 9 * * *":       "1-3 9 * * *",
		"10/20 9 * * *":         "10-59/20 9 * * *",
		"0-10/5,30 9 * * *":     "0-10/5,30-30 9 * * *",
		"0 9 * feb-apr/2 *":     "0 9 * FEB-APR/2 *",
		"0 9 * * sun-sat/3":     "0 9 * * 0-6/3",
		"0 9 * * */3":           "0 9 * * */3",
		"*/20,5 * * * *":        "*/20,5-5 * * * *",
		"0 9 31 1-12 *":         "0 9 31 JAN-DEC *",
		"59 23 31 12 6":         "59 23 31 dec sat",
		"0 0 29 2 *":            "0 0 29 FEB *",
		"0 0 30 2 1":            "0 0 30 2 MON",
		"0 0 31 4,6,9,11,12 *":  "0 0 31 4,6,9,11-12 *",
		"* * * * */6":           "* * * * */6",
		"*/59 */23 */30 */11 *": "*/59 */23 */30 */11 *",
	} {
		a, err := parse(one)
		if err != nil {
			t.Errorf("%s: %v", one, err)
			continue
		}
		if b, err := parse(other); err != nil || a != b {
			t.Errorf("%s and %s differ: %v, %v, %v", one, other, a, b, err)
		}
	}
}

func TestWhatIsRefusedSaysWhatToWriteInstead(t *testing.T) {
	for text, instead := range map[string]string{
		"":                         "write five fields",
		" \t ":                     "write five fields",
		"* * * *":                  "write five",
		"0 0 9 * * 1-5":            "leave out the seconds",
		"0 9 * * 1-5 2026":         "leave out the seconds or the year",
		"* * * * * * *":            "has 7 fields: write five",
		"@every 5m":                "write steps, such as */15",
		"@reboot":                  "write five fields",
		"@Reboot":                  "write five fields",
		"@fortnightly":             "@hourly, @daily",
		"@daily 5":                 "@hourly, @daily",
		"TZ=UTC 0 9 * * *":         "write the zone into timeZone",
		"CRON_TZ=Asia/Tokyo 0 9 *": "write the zone into timeZone",
		"cron_tz=UTC * * * * *":    "write the zone into timeZone",
		"*/60 * * * *":             "write 0, or a smaller step",
		"0 */24 * * *":             "write 0, or a smaller step",
		"0 9 */31 * *":             "write 1, or a smaller step",
		"0 9 * */12 *":             "write 1, or a smaller step",
		"0 9 * * */7":              "write 0, or a smaller step",
		"50/10 * * * *":            "write 50, or a smaller step",
		"10-20/11 * * * *":         "write 10, or a smaller step",
		"*/0 * * * *":              "write 1 or more",
		"*/-5 * * * *":             "such as */2",
		"*/ * * * *":               "such as */2",
		"*/x * * * *":              "such as */2",
		"*/5/5 * * * *":            "such as */2",
		"0 22-2 * * *":             "write 22-23,0-2",
		"0 23-0 * * *":             "write 23,0",
		"0 9 * NOV-FEB *":          "write 11-12,1-2",
		"0 9 * * FRI-MON":          "write 5-6,0-1",
		"0 9 * * SAT-SUN":          "write 6-7, where 7 is Sunday",
		"0 9 * * 7-2":              "write 0-2, where 0 is Sunday",
		"0 9 * * 7-0":              "write 0, where 0 is Sunday",
		"1,,2 * * * *":             "single commas",
		",1 * * * *":               "single commas",
		"1, * * * *":               "single commas",
		"1,* * * * *":              "write * alone",
		"60 * * * *":               "from 0 to 59",
		"0 24 * * *":               "from 0 to 23",
		"0 9 0 * *":                "from 1 to 31",
		"0 9 32 * *":               "from 1 to 31",
		"0 9 * 0 *":                "from 1 to 12",
		"0 9 * 13 *":               "from 1 to 12",
		"0 9 * * 8":                "from 0 to 7",
		"-5 * * * *":               "from 0 to 59",
		"+5 * * * *":               "from 0 to 59",
		"5- * * * *":               "from 0 to 59",
		"1-2-3 * * * *":            "from 0 to 59",
		"5.5 * * * *":              "from 0 to 59",
		"99999999999 * * * *":      "from 0 to 59",
		"٣ * * * *":                "from 0 to 59",
		"** * * * *":               "from 0 to 59",
		"? * * * *":                "write *",
		"0 9 ? * MON":              "write *",
		"0 9 L * *":                "last, nearest and nth days are not understood",
		"0 9 15W * *":              "last, nearest and nth days are not understood",
		"0 9 * * 5#2":              "last, nearest and nth days are not understood",
		"0 9 * * MONDAY":           "write MON",
		"0 9 * January *":          "write JAN",
		"0 9 * MON *":              "names from JAN to DEC",
		"0 9 * * JAN":              "names from SUN to SAT",
		"0 MON * * *":              "from 0 to 23",
		"0\n9 * * *":               "write five",
		"0 9 * * 1\n":              "from 0 to 7",
	} {
		_, err := Cron(text, UTC)
		if err == nil {
			t.Errorf("%q is accepted", text)
			continue
		}
		if !strings.Contains(err.Error(), instead) || IsInvalidZone(err) || IsNeverFires(err) {
			t.Errorf("%q: want a refusal that says %q, got %v", text, instead, err)
		}
	}
}

// What an error tells people to write is accepted.
func TestRemediesHold(t *testing.T) {
	for wrong, right := range map[string]string{
		"0 22-2 * * *": "0 22-23,0-2 * * *", "0 23-0 * * *": "0 23,0 * * *", "0 9 * NOV-FEB *": "0 9 * 11-12,1-2 *",
		"0 9 * * SAT-SUN": "0 9 * * 6-7", "0 9 * * 7-2": "0 9 * * 0-2", "*/60 * * * *": "0 * * * *",
	} {
		if _, err := parse(wrong); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
		if _, err := parse(right); err != nil {
			t.Errorf("%s: %v", right, err)
		}
	}
}

func TestTheLongestExpression(t *testing.T) {
	short := "0" + strings.Repeat(",1", 59) + " 9 * * *"
	if _, err := parse(short + strings.Repeat(" ", longest-len(short))); err != nil {
		t.Errorf("%d bytes: %v", longest, err)
	}
	if _, err := parse(short + strings.Repeat(" ", longest-len(short)+1)); err == nil || !strings.Contains(err.Error(), "129 bytes: write at most 128") {
		t.Errorf("%d bytes: want a refusal, got %v", longest+1, err)
	}
}

func TestWhatNeverFires(t *testing.T) {
	for text, never := range map[string]bool{
		"0 0 30 2 *": true, "0 0 31 2,4,6,9,11 *": true, "0 0 30,31 FEB *": true, "0 0 30 2 */2": true, "0 0 31 */2 *": false,
		"0 0 29 2 *": false, "0 0 30 2 1": false, "0 0 */30 2 *": false, "0 0 31 4-12/2 *": false, "0 0 31 4,6 *": true,
	} {
		_, err := Cron(text, UTC)
		if IsNeverFires(err) != never || (err != nil) != never {
			t.Errorf("%s: want never %t, got %v", text, never, err)
		}
	}
}

func TestInstantsThatAreNone(t *testing.T) {
	for _, text := range []string{
		"", "2026-03-08", "2026-03-08T09:00:00", "2026-03-08 09:00:00Z", "2026-03-08T09:00Z", "2026-13-08T09:00:00Z",
		"2026-02-30T09:00:00Z", "2026-03-08T24:00:00Z", "2026-03-08T09:00:60Z", "2026-03-08t09:00:00z", "2026-03-08T09:00:00,5Z",
		"2026-03-08T9:00:00Z", "2026-03-08T09:00:00+0100", "2026-03-08T09:00:00Z ", "02026-03-08T09:00:00Z", "-026-03-08T09:00:00Z",
		strings.Repeat("2", 500),
	} {
		if _, err := Once(text, UTC); err == nil || !strings.Contains(err.Error(), "write RFC 3339") || IsInvalidZone(err) {
			t.Errorf("%q: want a refusal that says what to write, got %v", text, err)
		}
	}
	for text, zone := range map[string]string{"9999-12-31T23:59:59Z": "Pacific/Apia", "0001-01-01T00:00:00Z": "America/New_York", "0000-06-01T00:00:00Z": UTC} {
		if _, err := Once(text, zone); err == nil || !strings.Contains(err.Error(), "years from 1 to 9999") {
			t.Errorf("%s in %s: want a refusal, got %v", text, zone, err)
		}
	}
	if _, err := Once("2026-03-08T09:00:00Z", "utc"); !IsInvalidZone(err) {
		t.Errorf("want a refusal of the zone, got %v", err)
	}
}
