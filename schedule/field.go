package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// field is the values of one of the five.
type field struct {
	// values has a bit for each.
	values uint64
	// star says that it begins with a *, step that it has a step.
	star, step bool
}

func (f field) has(value int) bool { return f.values>>value&1 == 1 }

// from is the first value that is not below another.
func (f field) from(value int) (int, bool) {
	left := f.values >> value << value
	return bits.TrailingZeros64(left), left != 0
}

// span is what may stand in a field.
type span struct {
	name      string
	low, high int
	// most is the highest number that may be written; 7 is Sunday once more.
	most int
	// names stand for the values from low on.
	names []string
}

// ranges are those of the five fields, in their order.
var ranges = [...]span{
	{name: "minute", low: 0, high: 59, most: 59},
	{name: "hour", low: 0, high: 23, most: 23},
	{name: "day of the month", low: 1, high: 31, most: 31},
	{name: "month", low: 1, high: 12, most: 12, names: []string{
		"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
	}},
	{name: "day of the week", low: 0, high: 6, most: 7, names: []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
}

func (s span) parse(text string) (field, error) {
	f := field{star: text[0] == '*'}
	items := strings.Split(text, ",")
	for _, item := range items {
		switch {
		case item == "":
			return field{}, s.refuse(text, "has an empty item: write values with single commas between them")
		case item == "*" && len(items) > 1:
			return field{}, s.refuse(text, "has a * beside other items: write * alone, which has them all")
		}
		if err := s.add(&f, item); err != nil {
			return field{}, err
		}
	}
	return f, nil
}

func (s span) refuse(text, format string, args ...any) error {
	return refuse(partExpression, "the %s %s "+format, append([]any{s.name, quoted(text)}, args...)...)
}

// add puts the values of one item into a field.
func (s span) add(f *field, item string) error {
	body, stepText, stepped := strings.Cut(item, "/")
	low, high, err := s.bounds(item, body, stepped)
	if err != nil {
		return err
	}
	step := 1
	if stepped {
		f.step = true
		if step, err = s.stepOf(item, stepText, low, high); err != nil {
			return err
		}
	}
	for value := low; value <= high; value += step {
		f.values |= 1 << value
	}
	return nil
}

// bounds are the first and last value of an item without its step.
func (s span) bounds(item, body string, stepped bool) (low, high int, err error) {
	if body == "*" {
		return s.low, s.high, nil
	}
	from, to, ranged := strings.Cut(body, "-")
	if low, err = s.value(item, from); err != nil {
		return 0, 0, err
	}
	switch {
	case ranged:
		if high, err = s.value(item, to); err != nil {
			return 0, 0, err
		}
	case stepped:
		high = max(s.high, low)
	default:
		high = low
	}
	if high < low {
		return 0, 0, s.wrapped(item, low, high)
	}
	return low, high, nil
}

// wrapped refuses a range that goes over the end of the field.
func (s span) wrapped(item string, low, high int) error {
	switch {
	case low > s.high:
		return s.refuse(item, "ends before it begins: write %s, where %d is Sunday", between(s.low, high), s.low)
	case s.most > s.high && high == s.low:
		return s.refuse(item, "ends before it begins: write %d-%d, where %d is Sunday", low, s.most, s.most)
	}
	return s.refuse(item, "ends before it begins: write %s,%s", between(low, s.high), between(s.low, high))
}

func between(low, high int) string {
	if low >= high {
		return strconv.Itoa(high)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

func (s span) stepOf(item, text string, low, high int) (int, error) {
	step, ok := number(text)
	switch {
	case !ok:
		return 0, s.refuse(item, "has no number for its step: write one, such as */2")
	case step == 0:
		return 0, s.refuse(item, "has a step of 0: write 1 or more")
	case step > high-low:
		return 0, s.refuse(item, "has a step that is larger than its range, so only %d is left: write %d, or a smaller step", low, low)
	}
	return step, nil
}

// value is one number or name.
func (s span) value(item, text string) (int, error) {
	if value, ok := number(text); ok {
		if value < s.low || value > s.most {
			return 0, s.refuse(item, "is out of range: write numbers from %d to %d", s.low, s.most)
		}
		return value, nil
	}
	for i, name := range s.names {
		if strings.EqualFold(name, text) {
			return s.low + i, nil
		}
	}
	return 0, s.refuse(item, "cannot be read: %s", s.instead(text))
}

// instead says what to write for something that is neither number nor name.
func (s span) instead(text string) string {
	alternatives := fmt.Sprintf("numbers from %d to %d", s.low, s.most)
	if s.names != nil {
		alternatives += fmt.Sprintf(" or names from %s to %s", s.names[0], s.names[len(s.names)-1])
		for _, name := range s.names {
			if len(text) > len(name) && strings.EqualFold(text[:len(name)], name) {
				return "write " + name
			}
		}
	}
	switch {
	case text == "?":
		return "write *"
	case text != "" && strings.ContainsAny(text, "LW#lw") && strings.Trim(text, "0123456789LW#lw") == "":
		return "the last, nearest and nth days are not understood; write " + alternatives
	}
	return "write " + alternatives
}

// number reads a few digits and nothing else.
func number(text string) (int, bool) {
	if len(text) == 0 || len(text) > 4 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	value, err := strconv.Atoi(text)
	return value, err == nil
}
