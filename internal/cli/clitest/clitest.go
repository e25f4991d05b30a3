// Package clitest has what tests of several rooms of the command line need.
package clitest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var updateGoldens = flag.Bool("update-goldens", false, "write the files in testdata/reports anew")

// Golden holds text against a file in testdata/reports.
func Golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", "reports", name)
	if *updateGoldens {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s: got\n%s\nexpected\n%s", name, text, want)
	}
}

// Narrow wants no line wider than a terminal.
func Narrow(t *testing.T, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 || strings.TrimRight(line, " ") != line {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// Types counts the lines of each type, which must all be objects.
func Types(t *testing.T, out string) map[string]int {
	t.Helper()
	types := map[string]int{}
	for line := range strings.Lines(out) {
		var v struct{ Type string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		types[v.Type]++
	}
	return types
}
