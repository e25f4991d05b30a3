package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"newtop/internal/kernel"
	"newtop/tui/screen"
)

// unpacked returns what a packed file of testdata holds.
func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// writtenIn is the folder in which the older program ran.
const writtenIn = "/tmp/newtop-3c82883"

// What an older newtop wrote is read for good: each command says of its record, its searches and its saved models what
// the older program said (testdata/3c82883/make.py), and resumes its runs to the same digits.
func TestOlderRecord(t *testing.T) {
	old, err := filepath.Abs(filepath.Join("testdata", "3c82883"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	files, err := os.ReadDir(old)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, packed := strings.CutSuffix(f.Name(), ".gz")
		var data []byte
		if packed {
			data = unpacked(t, filepath.Join(old, f.Name()))
		} else if data, err = os.ReadFile(filepath.Join(old, name)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// The tables lie here now; runs that this changes lose their checksum.
	inSQL(t, "runs.db", "UPDATE runs SET config = replace(config, ?1, ?2), crc = NULL WHERE instr(config, ?1)", writtenIn, here)
	text, err := os.ReadFile("expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var expected []struct{ Command, Says string }
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	for _, c := range expected {
		args := strings.Fields(c.Command)
		if !strings.Contains(c.Command, "predict") || !strings.Contains(args[1], ".") {
			args = append(args, "--record", "runs.db")
		}
		computed := args[0] == "predict" || args[0] == "resume"
		got := succeed(t, args...)
		if computed && !kernel.SameDigits(kernel.Selected().String(), kernel.AVX2.String()) {
			continue
		}
		if g, w := lasting(strings.ReplaceAll(got, here, writtenIn), args[0]), lasting(c.Says, args[0]); !slices.Equal(g, w) {
			t.Errorf("newtop %s says\n%s", c.Command, difference(g, w))
		}
	}
	mouse := false
	want := screen.Preferences{Theme: "dark", Glyphs: "braille", Mouse: &mouse, RunSort: "name"}
	if got, err := screen.ReadPreferences("ui.toml"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("preferences %+v, %v", got, err)
	}
}

// lasting returns the lines of an answer that don't depend on when and where it is asked for: without clocks, without
// the program's own command lines, whose flags may be others by now, nor the wording of a sentence. Of predictions the
// first twenty count.
func lasting(text, command string) (out []string) {
	if v := decoded(text); v != nil && command != "resume" {
		indented, _ := json.MarshalIndent(v, "", " ")
		return strings.Split(string(indented), "\n")
	}
	for line := range strings.Lines(text) {
		v := decoded(line)
		fields, _ := v.(map[string]any)
		switch {
		case command == "resume" && fields["type"] != "epoch", strings.HasPrefix(line, "newtop "):
			continue
		case command == "predict" && len(out) == 21:
			return out
		case v != nil:
			compact, _ := json.Marshal(v)
			line = string(compact)
		}
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\n"), ", by which nothing was chosen")
		line, _, _ = strings.Cut(line, ", which was not used to choose")
		out = append(out, line)
	}
	return out
}

// decoded returns a JSON value without the keys that may change, nil if it is none.
func decoded(text string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil
	}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range []string{"command", "repeat", "config", "seconds", "elapsed", "begun"} {
				delete(v, key)
			}
			for _, e := range v {
				visit(e)
			}
		case []any:
			for _, e := range v {
				visit(e)
			}
		}
	}
	visit(v)
	run, _ := v.(map[string]any)
	if _, shown := run["rewinds"]; shown { // what runs show tells by now is more
		if _, renamed := run["changes"]; !renamed {
			run["changes"] = run["settings"]
		}
		for _, key := range []string{"settings", "console", "exit_code", "limit", "metrics", "summary", "unit"} {
			delete(run, key)
		}
	}
	return v
}

// difference returns the first lines in which two answers differ.
func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return "nothing; expected\n" + want[i]
		case i >= len(want):
			return got[i] + "\nexpected nothing"
		case got[i] != want[i]:
			return got[i] + "\nexpected\n" + want[i]
		}
	}
	return ""
}
