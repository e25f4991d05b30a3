package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"charm.land/log/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

func silent() *log.Logger { return log.New(io.Discard) }

// savedAs is a feed that says yes, and keeps the files that were asked for.
type savedAs struct {
	files []string
	saved []event.SavedEvent
}

func (f *savedAs) Wait(context.Context) (feed.Delta, error) {
	return feed.Delta{Saved: f.saved, Status: event.Status{Epoch: 7}}, nil
}

func (f *savedAs) Do(_ context.Context, c event.Command) error {
	if s, ok := c.(event.Save); ok {
		f.files = append(f.files, s.File)
	}
	return nil
}

func (f *savedAs) Close() {}

// hostile are names of files that must not be taken.
var hostile = []string{
	"", ".", "..", "../x.onnx", "/etc/passwd", "a/b.onnx", `a\b.onnx`, "..onnx", "a..onnx", ".hidden.onnx", "-rf.onnx", "x\x00.onnx", "x\n.onnx",
	"\x1b[31m.onnx", "x\u202e.onnx", "\xff.onnx", strings.Repeat("x", 195) + ".onnx", "link.onnx", "dir.onnx", "dangling.onnx",
}

// savesDir is a directory with things in it that must not be written to.
func savesDir(t testing.TB) string {
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "there.onnx"), nil, 0o600), os.Mkdir(filepath.Join(dir, "dir.onnx"), 0o700),
		os.Symlink(filepath.Join(dir, "there.onnx"), filepath.Join(dir, "link.onnx")), os.Symlink("/nowhere/x", filepath.Join(dir, "dangling.onnx")),
	} {
		if err != nil {
			t.Skip("this file system has no symbolic links: ", err)
		}
	}
	return dir
}

func TestSavePlace(t *testing.T) {
	dir := savesDir(t)
	for _, name := range hostile {
		file, err := savePath(dir, name)
		var refused *event.CommandError
		if !errors.As(err, &refused) || strings.ContainsAny(err.Error(), "\n\x1b\x00") {
			t.Errorf("%q is taken as %q, %v", name, file, err)
		}
	}
	for _, name := range []string{"a.onnx", "there.onnx", "letters-e20.safetensors", "Modell ü.onnx", strings.Repeat("x", 194) + ".onnx"} {
		if file, err := savePath(dir, name); err != nil || file != filepath.Join(dir, name) {
			t.Errorf("%q: %q, %v", name, file, err)
		}
	}
	if _, err := savePath("", "a.onnx"); err == nil || !strings.Contains(err.Error(), "--saves") {
		t.Errorf("without a directory: %v", err)
	}
}

// FuzzSaveName: whatever is taken lies in the directory, under the name that was asked for.
func FuzzSaveName(f *testing.F) {
	for _, name := range append(hostile, "a.onnx", "letters-e20.safetensors") {
		f.Add(name)
	}
	dir := savesDir(f)
	f.Fuzz(func(t *testing.T, name string) {
		file, err := savePath(dir, name)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Errorf("%q: %q", name, err)
			}
			return
		}
		if filepath.Dir(file) != dir || filepath.Base(file) != name {
			t.Errorf("%q is taken as %q", name, file)
		}
		if there, err := os.Lstat(file); err == nil && !there.Mode().IsRegular() {
			t.Errorf("%q is no file", name)
		}
	})
}

// TestSteering: who may do what, what is noted of it, and what is logged.
func TestSteering(t *testing.T) {
	dir := savesDir(t)
	commands := []event.Command{
		event.Pause{On: true}, event.StepEpoch{}, event.StepInner{}, event.Switch{Optimizer: "adam\nx"}, event.Set{Key: "rate", Value: "1"},
		event.Scale{Factor: 2}, event.Spectrum{}, event.Slice{}, event.ShowWeights{}, event.ShowErrors{}, event.Rewind{Epoch: 1},
		event.Race{Racers: []event.Racer{{Optimizer: "adam"}}}, event.Pick{Racer: -1}, event.Save{File: "a.onnx"}, event.Save{File: "../a.onnx"},
		event.Seek{Epoch: 1}, event.Speed{Factor: 2}, event.Stop{},
	}
	for _, control := range []bool{false, true} {
		var text bytes.Buffer
		run, under := &told{}, &savedAs{saved: []event.SavedEvent{{File: filepath.Join(dir, "a.onnx")}, {File: "/elsewhere/b.onnx"}}}
		r := newRoom(run)
		f := &steered{Feed: named{under, dir}, viewer: event.Viewer{Name: "ann", Key: "SHA256:x", Control: control}, room: r, saves: dir, log: log.New(&text)}
		d, err := f.Wait(t.Context())
		if err != nil || d.Saved[0].File != "a.onnx" || d.Saved[1].File != "/elsewhere/b.onnx" || under.saved[0].File == "a.onnx" {
			t.Errorf("%+v, %v", d.Saved, err)
		}
		for _, c := range commands {
			if err := f.Do(t.Context(), c); (err == feed.ErrReadOnly) == control {
				t.Errorf("control %v, %#v: %v", control, c, err)
			}
		}
		r.close()
		deeds := run.last().Actions
		lines := strings.Count(text.String(), "\n")
		if !control {
			if len(deeds) != 0 || lines != 0 || len(under.files) != 0 {
				t.Errorf("a viewer did %v", deeds)
			}
			continue
		}
		if len(deeds) != len(commands)-3 || lines != len(deeds) || strings.Count(text.String(), "SHA256:x") != lines {
			t.Errorf("%d deeds and %d lines of %d commands:\n%s", len(deeds), lines, len(commands), &text)
		}
		if d := deeds[3]; d.What != "switch to adam x" || d.By != "ann" || d.Epoch != 7 || d.Refused != "" {
			t.Errorf("%+v", d)
		}
		if len(under.files) != 1 || under.files[0] != filepath.Join(dir, "a.onnx") {
			t.Errorf("saved %q", under.files)
		}
	}
}

// late answers when nobody waits any more.
type late struct{ savedAs }

func (late) Do(ctx context.Context, _ event.Command) error {
	<-ctx.Done()
	return ctx.Err()
}

// Whoever gives a command and is gone before the answer has given it all the same.
func TestCommandAndGone(t *testing.T) {
	var text bytes.Buffer
	run := &told{}
	r := newRoom(run)
	f := &steered{Feed: &late{}, viewer: event.Viewer{Name: "ann", Key: "SHA256:x", Control: true}, room: r, log: log.New(&text)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Do(ctx, event.Stop{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.close()
	if deeds := run.last().Actions; len(deeds) != 1 || deeds[0].What != "stop the run" || deeds[0].Refused == "" || !strings.Contains(text.String(), "SHA256:x") {
		t.Errorf("%+v\n%s", deeds, &text)
	}
}
