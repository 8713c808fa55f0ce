package framework

import (
	"fmt"
	"io"
	"log/slog"

	"k8s.io/klog/v2"
)

// NewLogger makes the program's logger. format is "json" or "text", level a
// slog level such as "info" or "debug".
func NewLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("reading the log level: %w", err)
	}
	options := &slog.HandlerOptions{Level: least}
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	}
	return nil, fmt.Errorf(`reading the log format: %q is neither "json" nor "text"`, format)
}

// RouteKlog sends what client-go says through klog to log, so that the
// process speaks with one voice.
func RouteKlog(log *slog.Logger) { klog.SetSlogLogger(log.With("from", "client-go")) }
