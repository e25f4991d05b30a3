package screen

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestCast(t *testing.T) {
	file := filepath.Join(t.TempDir(), "film.cast")
	c, err := newCast(file, 80, 24, []string{"TERM=xterm"})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(filmed{io.Discard, c}, "\x1b[1mλ \"quoted\"\r\n")
	c.note("r", "100x30")
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	var head struct{ Version, Width, Height int }
	if lines.Scan(); json.Unmarshal(lines.Bytes(), &head) != nil || head.Version != 2 || head.Width != 80 || head.Height != 24 {
		t.Errorf("the head %s", lines.Bytes())
	}
	for _, want := range [][2]string{{"o", "\x1b[1mλ \"quoted\"\r\n"}, {"r", "100x30"}} {
		var event [3]any
		if lines.Scan(); json.Unmarshal(lines.Bytes(), &event) != nil || event[1] != want[0] || event[2] != want[1] {
			t.Errorf("%s: expected %q", lines.Bytes(), want)
		}
		if at, ok := event[0].(float64); !ok || at < 0 {
			t.Errorf("at %v", event[0])
		}
	}
	if _, err := newCast(file, 80, 24, nil); err == nil {
		t.Error("a film that is there is overwritten")
	}
}
