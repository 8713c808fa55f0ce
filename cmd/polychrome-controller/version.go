package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// release is the version that a release build writes here with
// -ldflags '-X main.release=v1.2.3'.
var release string

// version is the release, else the module version that go install knows,
// else the commit, else "unknown".
func version() string {
	if release != "" {
		return release
	}
	info, known := debug.ReadBuildInfo()
	if !known {
		return "unknown"
	}
	return buildVersion(info)
}

func buildVersion(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit != "" && settings["vcs.modified"] == "true" {
		commit += "-modified"
	}
	return cmp.Or(commit, "unknown")
}

func printVersion(out io.Writer) error {
	_, err := fmt.Fprintf(out, "polychrome-controller %s (%s %s/%s)\n",
		version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
