package dashboard

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// wellFormed reads XML to its end and returns the text in it.
func wellFormed(t *testing.T, text []byte) string {
	t.Helper()
	var b strings.Builder
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok {
			b.Write(c)
		}
	}
}

// take runs a picture's command and returns the file.
func take(t *testing.T, a *desk.App, cmd tea.Cmd) (path string, text []byte) {
	t.Helper()
	msg, ok := cmd().(screen.PictureMsg)
	if !ok || msg.Err != nil {
		t.Fatalf("%+v", msg)
	}
	a.Update(msg)
	if !strings.Contains(a.Notice.Text, msg.Path) {
		t.Errorf("the note %q does not say %s", a.Notice.Text, msg.Path)
	}
	text, err := os.ReadFile(msg.Path)
	if err != nil {
		t.Fatal(err)
	}
	return msg.Path, text
}

// TestChartPictures takes every pane, of several runs, of one in every format.
func TestChartPictures(t *testing.T) {
	for i, s := range []tuitest.Script{{Epochs: 9, Spectra: true}, {Epochs: 9, Regression: true}, {Epochs: 9, SwitchAt: 4}, {Epochs: 9, Fate: "nan"}, {Epochs: 1}} {
		formats := []string{"svg"}
		if i == 0 {
			formats = []string{"svg", "png", "pdf"}
		}
		dir := t.TempDir()
		a := newTest(s, screen.Options{Pictures: dir}, 120, 40)
		for id := range layout.Panes {
			a.Focus = id
			if focusedFigure(a) == nil {
				if id == layout.Loss || id == layout.Accuracy {
					t.Errorf("%+v: pane %d has no picture", s, id)
				}
				continue
			}
			if id != layout.Loss { // figure tests the formats
				formats = formats[:1]
			}
			for _, format := range formats {
				path, text := take(t, a, chartPicture(a, format))
				if !strings.HasSuffix(path, fmt.Sprintf("-%d.%s", a.H.Status.Epoch, format)) {
					t.Errorf("called %s", path)
				}
				switch format {
				case "svg":
					if got := wellFormed(t, text); !strings.Contains(got, "epoch") {
						t.Errorf("%s has no axis: %q", path, got)
					}
				case "png":
					if _, err := png.Decode(bytes.NewReader(text)); err != nil {
						t.Errorf("%s: %v", path, err)
					}
				default:
					if !bytes.HasPrefix(text, []byte("%PDF-")) {
						t.Errorf("%s is no PDF", path)
					}
				}
			}
		}
	}
}

// TestPicturesOfNothing: what has no data says so and writes nothing.
func TestPicturesOfNothing(t *testing.T) {
	dir := t.TempDir()
	a := newTest(tuitest.Script{Epochs: -1}, screen.Options{Pictures: dir}, 120, 40)
	for id := range layout.Panes {
		a.Focus = id
		if f := focusedFigure(a); f != nil {
			if err := f.Draw(io.Discard, "svg"); err == nil && id != layout.Loss && id != layout.Accuracy && id != layout.Region {
				t.Errorf("pane %d draws nothing", id)
			}
		}
	}
	a.Focus = layout.Log
	if chartPicture(a, "svg"); !strings.Contains(a.Notice.Text, "log has nothing to draw") {
		t.Errorf("says %q", a.Notice.Text)
	}
	a.Pictures = ""
	if screenPicture(a); !strings.Contains(a.Notice.Text, "can't be written from here") {
		t.Errorf("says %q", a.Notice.Text)
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("wrote %v", files)
	}
}

// TestPicturesOverwriteNothing takes the same picture again and again.
func TestPicturesOverwriteNothing(t *testing.T) {
	dir := t.TempDir()
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{Pictures: dir}, 40, 10)
	for _, want := range []string{"newtop-letters-screen-3.svg", "newtop-letters-screen-3-2.svg", "newtop-letters-screen-3-3.svg"} {
		path, _ := take(t, a, screenPicture(a))
		if filepath.Base(path) != want || !strings.HasSuffix(a.Notice.Text, want+" and .png") {
			t.Errorf("wrote %s, not %s: %s", path, want, a.Notice.Text)
		}
		raster, err := os.ReadFile(strings.TrimSuffix(path, ".svg") + ".png")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(raster)); err != nil {
			t.Error(err)
		}
	}
	nothing := func(io.Writer) error { return nil }
	if err := os.WriteFile(filepath.Join(dir, "y.png"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := screen.WriteNew(filepath.Join(dir, "y"), screen.Drawing{Suffix: ".svg", Draw: nothing}, screen.Drawing{Suffix: ".png", Draw: nothing})
	if _, missing := os.Stat(filepath.Join(dir, "y-2.png")); filepath.Base(path) != "y-2.svg" || err != nil || missing != nil {
		t.Errorf("two files of one name: %s, %v, %v", path, err, missing)
	}
	if _, err := os.Stat(filepath.Join(dir, "y.svg")); err == nil {
		t.Error("one of two files was left")
	}
	failed := errors.New("no")
	if _, err := screen.WriteNew(filepath.Join(dir, "x"), screen.Drawing{Suffix: ".svg", Draw: func(io.Writer) error { return failed }}); err != failed {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x.svg")); err == nil {
		t.Error("a file of a picture that failed")
	}
	a.Pictures = filepath.Join(dir, "absent")
	a.Update(screenPicture(a)())
	if !strings.HasPrefix(a.Notice.Text, "no picture: ") {
		t.Errorf("says %q", a.Notice.Text)
	}
}

// TestScreenPicture compares the letters of the SVG with those of the screen, row by row.
func TestScreenPicture(t *testing.T) {
	for i, o := range []screen.Options{{}, {NoColor: true}, {Theme: style.ThemeLight}, {Glyphs: style.GlyphsBlock}, {Glyphs: style.GlyphsASCII}} {
		for k, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {20, 5}} {
			if k != []int{2, 0, 1, 1, 3}[i] && !nightly.On() {
				continue
			}
			o.Pictures = t.TempDir()
			a := newTest(tuitest.Script{Epochs: 33, Spectra: true, Fate: "done"}, o, size[0], size[1])
			want := letters(frameText(t, a))
			_, text := take(t, a, screenPicture(a))
			if got := letters(wellFormed(t, text)); got != want {
				t.Errorf("%+v at %v:\n%s\nwant\n%s", o, size, got, want)
			}
			if (o.NoColor || o.Theme == style.ThemeMono) && strings.Contains(string(text), "#87afd7") {
				t.Error("has a colour")
			}
		}
	}
}

// letters drops blanks and what is drawn as a shape.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r >= 0x2500 && r < 0x25a0 || r >= 0x2800 && r < 0x2900 {
			return -1
		}
		return r
	}, s)
}

// TestPictureWhileTraining takes pictures while epochs come in; under -race it finds what the two share.
func TestPictureWhileTraining(t *testing.T) {
	a := newTest(tuitest.Script{Epochs: 5, Spectra: true}, screen.Options{Pictures: t.TempDir()}, 60, 16)
	r := rand.New(rand.NewPCG(1, 1))
	epochs := nightly.Of(10, 2)
	done := make(chan tea.Msg, 100)
	for e := 6; e < 6+epochs; e++ {
		for _, cmd := range []tea.Cmd{screenPicture(a), chartPicture(a, "svg")} {
			go func() { done <- cmd() }()
		}
		a.Update(came(feed.Delta{Status: a.H.Status, Epochs: []event.EpochEvent{tuitest.Epoch(e, 1, r)}}))
		a.View()
	}
	for range 2 * epochs {
		if m := (<-done).(screen.PictureMsg); m.Err != nil {
			t.Error(m.Err)
		}
	}
}
