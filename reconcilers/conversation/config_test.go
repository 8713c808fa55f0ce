package conversation

import (
	"math"
	"strings"
	"testing"
)

func TestParseRetention(t *testing.T) {
	cases := []struct {
		name     string
		raw      string
		set      bool
		want     int64
		wantWarn bool
	}{
		{"not set is the default", "", false, DefaultRetentionSeconds, false},
		{"empty is off", "", true, 0, false},
		{"blank is off", "   ", true, 0, false},
		{"0 is off", "0", true, 0, false},
		{"a number is used as it stands", "3600", true, 3600, false},
		{"spaces around it do not matter", " 3600\n", true, 3600, false},
		{"the longest there is", "9223372036854775807", true, math.MaxInt64, false},
		{"negative fails towards keeping", "-1", true, 0, true},
		{"a word fails towards keeping", "off", true, 0, true},
		{"another word fails towards keeping", "disabled", true, 0, true},
		{"a duration fails towards keeping", "24h", true, 0, true},
		{"too long a number fails towards keeping", "9223372036854775808", true, 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, warning := ParseRetention(c.raw, c.set)
			if got != c.want || (warning != "") != c.wantWarn {
				t.Errorf("want %d (warning %t), got %d (%q)", c.want, c.wantWarn, got, warning)
			}
			if c.wantWarn && !strings.Contains(warning, `"`+c.raw+`"`) {
				t.Errorf("want a warning that names %q, got %q", c.raw, warning)
			}
		})
	}
}

func TestParseRollConcurrency(t *testing.T) {
	cases := []struct {
		raw      string
		want     int
		wantWarn bool
	}{
		{"", 5, false}, {"  ", 5, false}, {"0", 5, false}, {"1", 1, false}, {"12", 12, false},
		{"-1", 5, true}, {"many", 5, true}, {"2.5", 5, true}, {"99999999999999999999", 5, true},
	}
	for _, c := range cases {
		got, warning := ParseRollConcurrency(c.raw)
		if got != c.want || (warning != "") != c.wantWarn {
			t.Errorf("%q: want %d (warning %t), got %d (%q)", c.raw, c.want, c.wantWarn, got, warning)
		}
	}
}

func TestParseGeneration(t *testing.T) {
	cases := []struct {
		name    string
		raw     string
		want    string
		wantErr bool
	}{
		{"empty is off", "", "", false},
		{"blank is off", " \t", "", false},
		{"anything else is used as it stands", " 2026.7.0 ", " 2026.7.0 ", false},
		{"as long as the schema allows", strings.Repeat("ü", 256), strings.Repeat("ü", 256), false},
		{"longer than the schema allows", strings.Repeat("x", 257), "", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseGeneration(c.raw)
			if got != c.want || (err != nil) != c.wantErr {
				t.Errorf("want %q (error %t), got %q (%v)", c.want, c.wantErr, got, err)
			}
		})
	}
}
