package frameworktest

import "testing"

func TestLineDiffShowsWhatDiffersAndLittleElse(t *testing.T) {
	tests := map[string]struct{ want, got, wantDiff string }{
		"equal texts do not differ": {"a\nb\n", "a\nb\n", ""},
		"a changed line":            {"a\nb\nc\n", "a\nx\nc\n", "  a\n- b\n+ x\n  c\n"},
		"a line only wanted":        {"a\nb\n", "a\n", "  a\n- b\n"},
		"a line only got":           {"a\n", "b\na\n", "+ b\n  a\n"},
		"what is far is left out":   {"1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\nx\n", "  3\n  4\n  5\n- 6\n+ x\n"},
		"a gap is shown":            {"x\n1\n2\n3\n4\n5\n6\n7\n8\n", "y\n1\n2\n3\n4\n5\n6\n7\n8\n", "- x\n+ y\n  1\n  2\n  3\n  ...\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := lineDiff(test.want, test.got); got != test.wantDiff {
				t.Errorf("want\n%s\ngot\n%s", test.wantDiff, got)
			}
		})
	}
}
