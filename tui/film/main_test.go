package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A film shows what the session showed, each row for as long as it stood, and nothing from behind the screen.
func TestFilm(t *testing.T) {
	dir := t.TempDir()
	cast, svg := filepath.Join(dir, "a.cast"), filepath.Join(dir, "a.svg")
	text := `{"version":2,"width":12,"height":2}
[0.1,"o","\u001b[?1049hsame\r\nfirst"]
[1.9,"o","\u001b[2;1Hsecond"]
[3.5,"o","\u001b[?1049l"]
[3.6,"o","left behind"]
`
	if err := os.WriteFile(cast, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{cast, svg, "9"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for word, times := range map[string]int{">same<": 1, ">first<": 1, ">second<": 1, "left": 0, "<set ": 2} {
		if n := bytes.Count(got, []byte(word)); n != times {
			t.Errorf("%q %d times, expected %d", word, n, times)
		}
	}
	for _, args := range [][]string{{}, {cast, svg, "0"}, {svg, svg, "1"}, {"/no/such", svg, "1"}} {
		if err := run(args); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
