package conversation

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Defaults of the configuration.
const (
	// DefaultTemplate is the SandboxTemplate that units are claimed from.
	DefaultTemplate = "polychrome-harness-default"
	// DefaultRollConcurrency is how many conversations may roll at once.
	DefaultRollConcurrency = 5
	// DefaultRetentionSeconds is how long a closed conversation is kept.
	DefaultRetentionSeconds = 86_400
)

// maxGeneration is how many characters the schema allows a generation.
const maxGeneration = 256

// ParseGeneration reads POLYCHROME_HARNESS_IMAGE_GENERATION. A blank value
// switches rolling off; any other is used as it stands, spaces included. One
// that no status could hold is an error.
func ParseGeneration(raw string) (string, error) {
	if strings.TrimSpace(raw) == "" {
		return "", nil
	}
	if n := utf8.RuneCountInString(raw); n > maxGeneration {
		return "", fmt.Errorf("the harness image generation has %d characters; use at most %d", n, maxGeneration)
	}
	return raw, nil
}

// ParseRollConcurrency reads POLYCHROME_HARNESS_ROLL_CONCURRENCY: blank, 0
// and anything that is no number mean the default. The warning is empty
// unless a value was set and not used.
func ParseRollConcurrency(raw string) (limit int, warning string) {
	n, err := strconv.Atoi(raw)
	switch {
	case err == nil && n > 0:
		return n, ""
	case strings.TrimSpace(raw) == "" || (err == nil && n == 0):
		return DefaultRollConcurrency, ""
	}
	return DefaultRollConcurrency, fmt.Sprintf("the roll concurrency %q is no positive number; using %d", raw, DefaultRollConcurrency)
}

// ParseRetention reads POLYCHROME_CLOSED_CONVERSATION_RETENTION_SECONDS. Not
// set means the default; blank and 0 mean off, which is 0. A negative or
// malformed value is off too, with a warning: what it gates cannot be undone,
// so a slip of the pen keeps.
func ParseRetention(raw string, set bool) (seconds int64, warning string) {
	if !set {
		return DefaultRetentionSeconds, ""
	}
	trimmed := strings.TrimSpace(raw)
	if trimmed == "" {
		return 0, ""
	}
	n, err := strconv.ParseInt(trimmed, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Sprintf("the retention %q is no number of seconds; closed conversations are kept for ever", raw)
	}
	return n, ""
}
