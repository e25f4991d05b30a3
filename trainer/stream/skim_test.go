package stream

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/logs/files"
)

// skimmed waits for the next Delta.
func skimmed(t *testing.T, f feed.Feed) feed.Delta {
	t.Helper()
	d, err := f.Wait(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSkim(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened := 0
	f, closed := Skim(func() (Source, error) { opened++; return File(files.Here(path)) })
	if opened > 0 {
		t.Error("opened before anybody waits")
	}
	var lines strings.Builder
	for i := range 10_000 {
		lines.WriteString(lineOf(i) + "\n")
	}
	text := lines.String()
	write(text)
	n := 0
	for done := false; !done; {
		d := skimmed(t, f)
		if n == 0 && (d.Run == nil || d.Run.Data.Name != "log.jsonl") {
			t.Errorf("the run is %+v", d.Run)
		}
		for _, e := range d.Epochs {
			if e.Epoch != n {
				t.Fatalf("epoch %d, expected %d", e.Epoch, n)
			}
			n++
		}
		done = d.Status.Replay.Loading == 1
		if !done && d.Status.Phase != event.Preparing || done && d.Status.Phase != event.Running {
			t.Errorf("%v at %v", d.Status.Phase, d.Status.Replay.Loading)
		}
	}
	if n != 10_000 {
		t.Errorf("%d epochs", n)
	}
	write(text + lineOf(n) + "\n" + `{"type":"done","reason":"epochs","epochs":10000}` + "\n")
	for d := skimmed(t, f); ; d = skimmed(t, f) { // what is written over begins anew
		if k := len(d.Epochs); d.Done != nil && k > 0 && d.Epochs[k-1].Epoch == n && d.Status.Phase == event.Ended {
			break
		}
	}
	write(`{"type":"run","id":"b"}` + "\n" + lineOf(1) + "\n")
	d := skimmed(t, f)
	for len(d.Epochs) == 0 {
		d = skimmed(t, f)
	}
	if !d.Restart || d.Run == nil || d.Run.ID != "b" || len(d.Epochs) != 1 {
		t.Errorf("%+v", d)
	}
	ended := make(chan error)
	go func() { _, err := f.Wait(context.Background()); ended <- err }()
	time.Sleep(10 * time.Millisecond)
	if err := closed(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != io.EOF {
		t.Error(err)
	}
	if _, err := f.Wait(context.Background()); err != io.EOF || opened > 1 {
		t.Errorf("%v, opened %d times", err, opened)
	}
}

func TestSkimWhatCannotBeRead(t *testing.T) {
	broken := errors.New("broken")
	f, closed := Skim(func() (Source, error) { return nil, broken })
	for range 2 {
		if _, err := f.Wait(limit(t)); err != broken {
			t.Error(err)
		}
	}
	if err := closed(); !errors.Is(err, broken) {
		t.Error(err)
	}
}
