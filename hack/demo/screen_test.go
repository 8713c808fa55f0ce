package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func screenFor(out *strings.Builder, terminal bool) *screen {
	return &screen{out: out, terminal: terminal, width: func() int { return 30 }, started: noon, shown: map[string]row{}}
}

func TestTerminalIsDrawnOver(t *testing.T) {
	var out strings.Builder
	s := screenFor(&out, true)
	s.show([]row{{id: "a", reason: "Pending"}}, noon)
	s.show([]row{{id: "a", reason: "Ready"}}, noon)
	want := "OBJECT   PHASE   READY   REASO\n" +
		"a        -       -       Pendi\n" +
		"\x1b[2A\x1b[J" +
		"OBJECT   PHASE   READY   REASO\n" +
		"a        -       -       Ready\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("drawn, cut at the width of 30 (-want +got):\n%s", diff)
	}
}

func TestElsewhereEachChangeIsALine(t *testing.T) {
	var out strings.Builder
	s := screenFor(&out, false)
	s.show([]row{{id: "a", reason: "Pending", age: "1s"}, {id: "b", reason: "Pending"}}, noon.Add(time.Second))
	s.show([]row{{id: "a", reason: "Pending", age: "2s"}, {id: "b", reason: "HarnessReady"}}, noon.Add(2*time.Second))
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"1.0s a - - Pending -", "1.0s b - - Pending -", "2.0s b - - HarnessReady -"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestBelowTheTable(t *testing.T) {
	var out strings.Builder
	s := screenFor(&out, true)
	s.show([]row{{id: "a", reason: "Pending"}}, noon)
	out.Reset()
	s.below()
	s.show([]row{{id: "a", reason: "Pending"}}, noon)
	s.show([]row{{id: "a", reason: "Closed"}}, noon)
	if got := strings.Count(out.String(), "\n"); got != 1 || strings.Contains(out.String(), "\x1b") {
		t.Errorf("after one change %q was written, want one plain line", out.String())
	}
}
