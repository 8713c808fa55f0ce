package frameworktest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Command is one command of a story.
type Command struct {
	// Name is its first word.
	Name string
	// Args are the words behind it that are no options.
	Args []string
	// Options are the words of the form name=value; a value with blanks
	// stands in double quotes.
	Options map[string]string
	// Input are the lines between the command and its separator.
	Input string
}

// separator stands between a command and what it prints.
const separator = "----"

// section is a piece of a story's file: lines that are passed over, or a
// command with what it shall print.
type section struct {
	// plain are comments and blank lines. Nil for a command.
	plain []string
	line  int
	// text are the lines of the command before its separator.
	text    []string
	command Command
	want    string
}

func readScript(path string) ([]section, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a story: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	var sections []section
	for i := 0; i < len(lines); {
		next, s, err := readSection(lines, i)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		sections, i = append(sections, s), next
	}
	return sections, nil
}

// readSection reads the section that begins in a line, and returns the line
// behind it. What a command prints ends with a blank line.
func readSection(lines []string, start int) (int, section, error) {
	if passedOver(lines[start]) {
		return start + 1, section{plain: lines[start : start+1], line: start + 1}, nil
	}
	end := start
	for end < len(lines) && lines[end] != separator && lines[end] != "" {
		end++
	}
	s := section{line: start + 1, text: lines[start:end]}
	command, err := parseCommand(lines[start])
	if err != nil {
		return 0, s, err
	}
	command.Input = strings.Join(lines[start+1:end], "\n")
	s.command = command
	if end == len(lines) || lines[end] != separator {
		// It has not been recorded yet.
		return end, s, nil
	}
	from := end + 1
	for end = from; end < len(lines) && lines[end] != ""; {
		end++
	}
	s.want = strings.Join(lines[from:end], "\n")
	return end, s, nil
}

func passedOver(line string) bool {
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")
}

func parseCommand(line string) (Command, error) {
	words, err := splitWords(line)
	if err != nil {
		return Command{}, err
	}
	command := Command{Name: words[0], Options: map[string]string{}}
	for _, word := range words[1:] {
		name, value, option := strings.Cut(word, "=")
		if !option {
			command.Args = append(command.Args, word)
			continue
		}
		if strings.HasPrefix(value, `"`) {
			if value, err = strconv.Unquote(value); err != nil {
				return Command{}, fmt.Errorf("reading the option %s: %w", word, err)
			}
		}
		command.Options[name] = value
	}
	return command, nil
}

// splitWords splits at blanks outside of double quotes.
func splitWords(line string) ([]string, error) {
	quoted, escaped := false, false
	words := strings.FieldsFunc(line, func(r rune) bool {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t')
	})
	if quoted {
		return nil, fmt.Errorf("a quote is not closed in %q", line)
	}
	return words, nil
}

// render is the section as it stands in a file, with what was printed.
func (s section) render(printed string) string {
	if s.plain != nil {
		return strings.Join(s.plain, "\n") + "\n"
	}
	text := strings.Join(s.text, "\n") + "\n" + separator + "\n"
	if printed != "" {
		text += printed + "\n"
	}
	return text
}
