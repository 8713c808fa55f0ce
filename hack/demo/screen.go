package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"
)

// screen shows rows: on a terminal as a table that is drawn anew, elsewhere
// as one line per change.
type screen struct {
	out      io.Writer
	terminal bool
	// width is that of the terminal: a line that wrapped could not be drawn
	// over.
	width   func() int
	started time.Time
	// drawn is how many lines the table takes now.
	drawn int
	shown map[string]row
}

func newScreen(out *os.File) *screen {
	return &screen{
		out:      out,
		terminal: term.IsTerminal(int(out.Fd())),
		width:    func() int { return widthOf(out) },
		started:  time.Now(),
		shown:    map[string]row{},
	}
}

// widthOf is the width of a terminal; some do not know theirs.
func widthOf(terminal *os.File) int {
	if width, _, err := term.GetSize(int(terminal.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// show brings the screen up to date.
func (s *screen) show(rows []row, now time.Time) {
	if s.terminal {
		s.draw(rows)
	} else {
		s.changes(rows, now)
	}
	for _, r := range rows {
		s.shown[r.id] = r
	}
}

// draw puts the table where the last one was.
func (s *screen) draw(rows []row) {
	lines := table(rows)
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", s.drawn)
	}
	for _, line := range lines {
		if width := s.width(); len(line) > width {
			line = line[:width]
		}
		b.WriteString(line + "\n")
	}
	s.drawn = len(lines)
	_, _ = io.WriteString(s.out, b.String())
}

// changes writes a line for each row that is not what it was.
func (s *screen) changes(rows []row, now time.Time) {
	for _, r := range rows {
		if old, known := s.shown[r.id]; known && old.same(r) {
			continue
		}
		cells := r.cells()
		fmt.Fprintf(s.out, "%7.1fs  %-29s %-15s %-6s %-24s %s\n", now.Sub(s.started).Seconds(), cells[0], cells[1], cells[2], cells[3], cells[4])
	}
}

// below leaves the table as it is and goes on with lines underneath.
func (s *screen) below() { s.terminal, s.drawn = false, 0 }

// table lays out the rows under their headings.
func table(rows []row) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, strings.Join(columns, "\t"))
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r.cells(), "\t"))
	}
	_ = w.Flush()
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
