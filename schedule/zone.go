package schedule

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the database
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

// UTC is the name of the zone that never changes its clocks.
const UTC = "UTC"

// database is lib/time/zoneinfo.zip of the Go toolchain, which time/tzdata
// embeds too. That package does not give it away: time.LoadLocation would ask
// ZONEINFO and the system first.
//
//go:embed zoneinfo.zip
var database []byte

// zones has the database's files by name, and each name by itself in lower
// case.
var zones = sync.OnceValues(func() (files map[string]*zip.File, spellings map[string]string) {
	archive, err := zip.NewReader(bytes.NewReader(database), int64(len(database)))
	if err != nil {
		panic(fmt.Sprintf("schedule: the embedded zone database: %v", err))
	}
	files, spellings = map[string]*zip.File{}, map[string]string{}
	for _, file := range archive.File {
		if !file.FileInfo().IsDir() {
			files[file.Name] = file
			spellings[strings.ToLower(file.Name)] = file.Name
		}
	}
	return files, spellings
})

// loaded has each zone that was asked for. The database bounds it.
var loaded sync.Map // string -> *time.Location

// Zone is the zone of an IANA name, from the embedded database and nowhere
// else. The name must be spelt as there.
func Zone(name string) (*time.Location, error) {
	if known, ok := loaded.Load(name); ok {
		return known.(*time.Location), nil
	}
	files, spellings := zones()
	file, ok := files[name]
	if !ok {
		return nil, refuse(partZone, "%s", remedy(name, spellings))
	}
	zone, err := load(file)
	if err != nil {
		return nil, refuse(partZone, "the zone %s cannot be read from the embedded database: %v", name, err)
	}
	loaded.Store(name, zone)
	return zone, nil
}

func load(file *zip.File) (*time.Location, error) {
	content, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(file.Name, data)
}

const example = "write an IANA name such as Europe/London, or UTC"

// offset is what people write for a fixed distance from UTC.
var offset = regexp.MustCompile(`^(?i:UTC|GMT|Z)?([+-])0?(\d{1,2})(:?00)?$|^(?i:UTC|GMT|Z)?[+-]\d`)

// remedy says what to write instead of a name that is none.
func remedy(name string, spellings map[string]string) string {
	bare := name
	for _, folder := range []string{"posix/", "right/"} {
		bare = strings.TrimPrefix(bare, folder)
	}
	switch spelt, known := spellings[strings.ToLower(bare)]; {
	case name == "":
		return "no zone is named: " + example
	case name == "Local":
		return "Local is whatever a machine is set to: " + example
	case known:
		return fmt.Sprintf("there is no zone %s: write %s", quoted(name), spelt)
	}
	if parts := offset.FindStringSubmatch(name); parts != nil {
		text := fmt.Sprintf("%s is a distance from UTC and no zone: %s", quoted(name), example)
		other := map[string]string{"+": "-", "-": "+"}[parts[1]]
		if fixed, known := spellings["etc/gmt"+other+parts[2]]; known {
			text += fmt.Sprintf("; with clocks that are never changed it is %s, whose sign is the other way round", fixed)
		}
		return text
	}
	return fmt.Sprintf("there is no zone %s: %s", quoted(name), example)
}

// quoted shows what somebody wrote, as far as people read.
func quoted(text string) string {
	const most = 64
	if len(text) > most {
		return fmt.Sprintf("%.*q…", most, text)
	}
	return fmt.Sprintf("%q", text)
}
