package schedule

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestZonesOfTheDatabase(t *testing.T) {
	for _, name := range []string{UTC, "Europe/London", "America/Argentina/Buenos_Aires", "CET", "EST", "Etc/GMT-8", "Asia/Calcutta"} {
		if z := zone(t, name); z.String() != name {
			t.Errorf("the zone %s calls itself %s", name, z)
		}
	}
	names := zoneNames()
	if len(names) < 550 {
		t.Errorf("the database has only %d zones", len(names))
	}
	for _, name := range names {
		if _, err := Zone(name); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsNoZone(t *testing.T) {
	for name, instead := range map[string]string{
		"":                       "write an IANA name",
		"Local":                  "write an IANA name",
		"local":                  "write an IANA name",
		"utc":                    "write UTC",
		"Utc":                    "write UTC",
		"europe/london":          "write Europe/London",
		"EUROPE/LONDON":          "write Europe/London",
		"cet":                    "write CET",
		"posix/Europe/London":    "write Europe/London",
		"right/Europe/London":    "write Europe/London",
		"posix/Nowhere":          "write an IANA name",
		"GMT+8":                  "it is Etc/GMT-8",
		"UTC-05":                 "it is Etc/GMT+5",
		"+08:00":                 "it is Etc/GMT-8",
		"+05:30":                 "write an IANA name",
		"GMT+99":                 "write an IANA name",
		"../etc/passwd":          "write an IANA name",
		"../../etc/passwd":       "write an IANA name",
		"/etc/localtime":         "write an IANA name",
		"Europe/../UTC":          "write an IANA name",
		"Europe":                 "write an IANA name",
		"Europe/":                "write an IANA name",
		" UTC":                   "write an IANA name",
		"UTC\x00":                "write an IANA name",
		"Europe\\London":         "write an IANA name",
		"Pacific Standard Time":  "write an IANA name",
		"zone.tab":               "write an IANA name",
		"\xff\xfe":               "write an IANA name",
		strings.Repeat("A", 300): "write an IANA name",
	} {
		_, err := Zone(name)
		if err == nil {
			t.Errorf("%q is taken for a zone", name)
			continue
		}
		if !IsInvalidZone(err) || !strings.Contains(err.Error(), instead) || len(err.Error()) > 400 {
			t.Errorf("%q: want a refusal that says %q, got %v", name, instead, err)
		}
		if _, err := Cron("* * * * *", name); !IsInvalidZone(err) {
			t.Errorf("an expression in %q: want a refusal of the zone, got %v", name, err)
		}
	}
}

const lyingEnv = "SCHEDULE_TEST_LYING_DATABASE"

// A system database says that New York is where Tokyo is. This process has it
// in ZONEINFO, which time.LoadLocation asks before all others.
func TestTheSystemsDatabaseDoesNotDecide(t *testing.T) {
	if os.Getenv(lyingEnv) != "" {
		told(t)
		return
	}
	dir := t.TempDir()
	lie := fileOf(t, database, "Asia/Tokyo")
	for _, name := range []string{"America/New_York", "Local", "utc", "Invented/Zone", "posix/Europe/London"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, lie, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheSystemsDatabaseDoesNotDecide$", "-test.v")
	cmd.Env = append(os.Environ(), lyingEnv+"=1", "ZONEINFO="+dir, "TZ=America/New_York")
	if output, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(output, []byte("PASS")) {
		t.Errorf("with another database in the system: %v\n%s", err, output)
	}
}

func told(t *testing.T) {
	lied, err := time.LoadLocation("America/New_York")
	if err != nil || offsetOf(lied, 0) != 9*3600 {
		t.Fatalf("the lie is not believed by anybody: %v, %v", lied, err)
	}
	if got := upcoming(cron(t, "30 2 * * *", "America/New_York"), at(t, "2026-03-07T12:00:00Z"), 1); got[0] != "2026-03-08T07:00:00Z" {
		t.Errorf("the system's database decides: %s", got)
	}
	for _, name := range []string{"Local", "utc", "Invented/Zone", "posix/Europe/London"} {
		if _, err := Zone(name); err == nil {
			t.Errorf("%s is taken from the system's database", name)
		}
	}
}

func TestZonesNeedNoFiles(t *testing.T) {
	const bareEnv = "SCHEDULE_TEST_BARE"
	if os.Getenv(bareEnv) != "" {
		for _, name := range zoneNames() {
			if _, err := Zone(name); err != nil {
				t.Error(err)
			}
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestZonesNeedNoFiles$", "-test.v")
	cmd.Env = []string{bareEnv + "=1", "ZONEINFO=" + filepath.Join(t.TempDir(), "nowhere"), "GOROOT=/nowhere"}
	if output, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(output, []byte("PASS")) {
		t.Errorf("without files: %v\n%s", err, output)
	}
}

// The copy is renewed when the toolchain has a newer one:
//
//	cp "$(go env GOROOT)/lib/time/zoneinfo.zip" schedule/zoneinfo.zip
//
// Whoever builds with another toolchain is not told by an ordinary run.
func TestTheDatabaseIsThatOfTheToolchain(t *testing.T) {
	if os.Getenv(longEnv) == "" {
		t.Skip("asked for with " + longEnv)
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(theirs, database) {
		t.Errorf("schedule/zoneinfo.zip is not the database of %s: copy it anew", runtime.Version())
	}
}

func fileOf(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	file, err := reader.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var content bytes.Buffer
	if _, err := content.ReadFrom(file); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}
