package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit ends a test that waits for what does not come.
func limit(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// all takes events until there are none, and returns them with what came then.
func all(t *testing.T, s Source) (events []event.Event, err error) {
	t.Helper()
	for {
		e, err := s.Next(t.Context())
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

// take waits until the source has an event.
func take(t *testing.T, s Source) event.Event {
	t.Helper()
	ctx := limit(t)
	for {
		e, err := s.Next(ctx)
		if errors.Is(err, ErrNone) {
			err = s.Wait(ctx)
		} else if err == nil {
			return e
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func epochs(events []event.Event) (numbers []int) {
	for _, e := range events {
		if e, ok := e.(event.EpochEvent); ok {
			numbers = append(numbers, e.Epoch)
		}
	}
	return numbers
}

func lineOf(epoch int) string {
	return fmt.Sprintf(`{"type":"epoch","epoch":%d,"loss":%g}`, epoch, 1/float64(1+epoch))
}

func untilEOF(t *testing.T, text string) (Source, []event.Event, error) {
	t.Helper()
	s := Lines(strings.NewReader(text), "x.jsonl")
	t.Cleanup(func() { s.Close() })
	var out []event.Event
	for {
		events, err := all(t, s)
		out = append(out, events...)
		if !errors.Is(err, ErrNone) {
			return s, out, err
		}
		if err := s.Wait(limit(t)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLinesOfEvents(t *testing.T) {
	for _, c := range []struct {
		name, text string
		epochs     int
		err        string // other than EOF
		warning    string
	}{
		{name: "plain", text: lineOf(1) + "\n" + lineOf(2) + "\n", epochs: 2},
		{name: "no end of the last line", text: lineOf(1) + "\n" + lineOf(2), epochs: 2},
		{name: "Windows", text: "\xef\xbb\xbf" + lineOf(1) + "\r\n\r\n" + lineOf(2) + "\r\n", epochs: 2},
		{name: "unknown types", text: `{"type":"weather"}` + "\n" + lineOf(1), epochs: 1},
		{name: "prints between", text: "Using cuda\n" + lineOf(1) + "\n 12 %\n" + lineOf(2) + "\n", epochs: 2},
		{name: "half a line", text: lineOf(1) + "\n" + lineOf(2)[:20], epochs: 1,
			warning: `x.jsonl:2: "{\"type\":\"epoch\",\"epo" (expected a JSON object with a type: unexpected end of JSON input: expected an event)`},
		{name: "wrong field", text: lineOf(1) + "\n" + `{"type":"epoch","epoch":"two"}`, epochs: 1,
			warning: `x.jsonl:2: "{\"type\":\"epoch\",\"epoch\":\"two\"}" (wrong epoch: string: expected an event)`},
		{name: "rows", text: `{"step":1,"loss":0.5}` + "\n" + `{"step":2,"loss":0.25}`, epochs: 2},
		{name: "rows and events", text: lineOf(1) + "\n" + `{"step":2,"loss":0.25,"lr":1}` + "\n" + lineOf(3), epochs: 3},
		{name: "a table", text: "a,b\n1,2\n", epochs: 1},
		{name: "text", text: "hello\nstep 1 loss 0.5\nstep 2 loss 0.25\n", epochs: 2},
		{name: "nothing", text: "\n\n", err: "x.jsonl:1: nothing: expected events or numbers"},
		{name: "a picture", text: "\x89PNG\x00\n" + lineOf(1) + "\n", err: `x.jsonl:1: "\x89PNG\x00" is not text: expected events or numbers`},
		{name: "prose", text: strings.Repeat("word\n", maxStrange) + lineOf(1), err: `x.jsonl:1: no metric in 131072 lines, the first is "word": expected`},
		{name: "a long line", text: strings.Repeat("ä", 100) + "\n", err: `x.jsonl:1: no metric in "ääääääääääääääääääää"…: expected`},
	} {
		s, events, err := untilEOF(t, c.text)
		if n := len(epochs(events)); n != c.epochs {
			t.Errorf("%s: %d epochs, expected %d", c.name, n, c.epochs)
		}
		if c.err == "" && err != io.EOF || c.err != "" && !strings.HasPrefix(fmt.Sprint(err), c.err) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.err)
		}
		if got := s.(warner).Warning(); c.err == "" && got != c.warning {
			t.Errorf("%s: warns %s\nexpected %s", c.name, got, c.warning)
		}
	}
}

// A run that newtop.py begins keeps its time when its rows tell that they count steps.
func TestRunKeepsItsTime(t *testing.T) {
	_, events, err := untilEOF(t, `{"type":"run","version":1,"id":"a","time":"2026-11-28T12:00:00Z","data":{"name":"a"}}`+"\n"+
		`{"step":1,"elapsed":0.1,"loss":3}`+"\n"+`{"step":2,"elapsed":0.2,"loss":2}`+"\n")
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	runs := 0
	for _, e := range events {
		if run, is := e.(event.RunEvent); is {
			if runs++; run.Time.Hour() != 12 {
				t.Errorf("run %d began at %v", runs, run.Time)
			}
		}
	}
	if runs != 2 {
		t.Errorf("%d runs: %v", runs, events)
	}
}

// A pipe whose writer is slow gives what has come, half lines included once they are whole.
func TestPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := Lines(r, "-")
	for i := range 5 {
		line := lineOf(i)
		fmt.Fprint(w, line[:10])
		if i == 3 {
			time.Sleep(3 * time.Millisecond)
		}
		if _, err := s.Next(t.Context()); !errors.Is(err, ErrNone) {
			t.Fatalf("half a line gave %v", err)
		}
		fmt.Fprint(w, line[10:])
		if e := take(t, s); e.(event.EpochEvent).Epoch != i {
			t.Fatalf("expected epoch %d, got %+v", i, e)
		}
		fmt.Fprintln(w)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	for ctx.Err() == nil { // the line ends are still on their way
		if err := s.Wait(ctx); err == nil {
			if _, err := s.Next(ctx); err == nil {
				t.Fatal("an event from nowhere")
			}
		}
	}
	// A reader that waits for the writer ends with the source.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	w.Close()
}

func TestFileThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	write := func(flag int, text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(0, lineOf(1)+"\n"+lineOf(2)[:9])
	s, err := File(files.Here(path))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if e := take(t, s); e.(event.EpochEvent).Epoch != 1 {
		t.Errorf("got %+v", e)
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, ErrNone) {
		t.Errorf("half a line gave %v", err)
	}
	if read := s.Read(); read != 1 {
		t.Errorf("%v of the file is said to have been read", read)
	}
	for i := 2; i < 50; i++ {
		write(os.O_APPEND, lineOf(i)[9:]+"\n"+lineOf(i + 1)[:9])
		if e := take(t, s); e.(event.EpochEvent).Epoch != i {
			t.Fatalf("epoch %d: got %+v", i, e)
		}
	}
	restart := func(what string) {
		t.Helper()
		ctx := limit(t)
		for {
			_, err := s.Next(ctx)
			if errors.Is(err, ErrRestart) {
				break
			}
			if !errors.Is(err, ErrNone) {
				t.Fatalf("%s: %v", what, err)
			}
			if err := s.Wait(ctx); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	write(os.O_TRUNC, lineOf(7)+"\n")
	restart("cut short")
	if e := take(t, s); e.(event.EpochEvent).Epoch != 7 {
		t.Errorf("after the file was cut short: %+v", e)
	}
	all(t, s)
	write(os.O_TRUNC, "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"+lineOf(8)+"\n"+lineOf(9)+"\n")
	restart("written over with more")
	if e := take(t, s); e.(event.EpochEvent).Epoch != 8 {
		t.Errorf("after the file was written over: %+v", e)
	}
	take(t, s)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	all(t, s)
	all(t, s)
	if why := s.(waiter).Waiting(); why != "" { // another may be put in its place
		t.Errorf("a file that is gone for a moment: %q", why)
	}
	s.(*file).missingSince = time.Now().Add(-patience - time.Second)
	all(t, s)
	if why := s.(waiter).Waiting(); why != path+": the file is gone, waiting" {
		t.Errorf("a file that is gone: %q", why)
	}
	write(0, lineOf(3)+"\n")
	restart("replaced")
	if e := take(t, s); e.(event.EpochEvent).Epoch != 3 {
		t.Errorf("after the file was replaced: %+v", e)
	}
}

// The last line of a file that is no longer written needs no end. Where it goes on after all, everything is read again,
// once.
func TestLastLineWithoutAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	write := func(text string) {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Minute)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	s, err := func() (Source, error) {
		write("step,loss\n1,2\n2,1")
		return File(files.Here(path))
	}()
	if err != nil {
		t.Fatal(err)
	}
	read := func(want ...float64) {
		t.Helper()
		if got := losses(t, s); !slices.Equal(got, want) {
			t.Errorf("losses %v, expected %v", got, want)
		}
	}
	read(2, 1)
	write("\n3,8\n4,9")
	read(8, 9)
	write("5\n5,1\n6,")
	if _, err := all(t, s); !errors.Is(err, ErrRestart) {
		t.Errorf("a line that goes on gave %v", err)
	}
	read(2, 1, 8, 95, 1)
}

// What a crash left in a file is passed over.
func TestHoleInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	text := "{\"step\":1,\"loss\":2}\n\x00\x00\x00{\"step\":2,\"loss\":1}\n\x00\x00\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(files.Here(path), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := losses(t, s); !slices.Equal(got, []float64{2, 1}) || s.(warner).Warning() != "" {
		t.Errorf("losses %v, %s", got, s.(warner).Warning())
	}
}

func TestFileThatIsNone(t *testing.T) {
	if _, err := File(files.Here(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file gave %v", err)
	}
	path := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(path, []byte("two\nwords"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := File(files.Here(path))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := all(t, s); !errors.Is(err, ErrNone) { // it may still become one
		t.Errorf("a new file without events gave %v", err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := all(t, s); !errors.Is(err, ErrNone) {
		t.Errorf("a file without events yet gave %v", err)
	}
	if why := s.(waiter).Waiting(); why != path+`: no metric yet, the first line is "two"` {
		t.Errorf("a file without events waits as %q", why)
	}
	Final(s)
	var bad *LineError
	if _, err := all(t, s); !errors.As(err, &bad) || bad.Line != 1 {
		t.Errorf("an old file without events gave %v", err)
	}
	if _, err := File(files.Here(t.TempDir())); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory gave %v", err)
	}
}

func TestOldFilesAreStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(lineOf(1)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)); err != nil {
		t.Fatal(err)
	}
	s, err := File(files.Here(path))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all(t, s)
	if got := s.(staler).Stale(); got != "not written since 2026-03-01 12:00" {
		t.Errorf("an old file is %q", got)
	}
}

// Where the system does not tell of changes they are found by looking.
func TestWatcherWithoutHelp(t *testing.T) {
	w := newWatcher(files.Here(t.TempDir()))
	w.close()
	w.begin()
	w.notify.Close()
	w.notify, w.poll = nil, time.Millisecond
	if err := w.wait(limit(t), 0); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.poll = time.Hour
	if err := w.wait(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait gave %v", err)
	}
}

func TestLinesThatAreTooLong(t *testing.T) {
	l := newLines("x")
	l.feed([]byte(lineOf(1) + "\n"))
	if e, _ := l.next(); e == nil {
		t.Fatal("no event")
	}
	part := []byte(strings.Repeat(" ", 1<<20))
	for range maxLine/len(part) + 2 {
		l.feed(part)
		if e, err := l.next(); e != nil || err != nil {
			t.Fatal(e, err)
		}
		if cap(l.buf) > 2*maxLine {
			t.Fatalf("%d bytes are kept", cap(l.buf))
		}
	}
	l.feed([]byte("\n" + lineOf(2) + "\n"))
	if e, err := l.next(); err != nil || e == nil || e.(event.EpochEvent).Epoch != 2 {
		t.Errorf("after a long line: %v, %v", e, err)
	}
	if got := l.Warning(); got != "x:2: more than 64 MB: expected a shorter line" {
		t.Errorf("warns %q", got)
	}
}

// A bar that is whole needs no more text: the dict before it stands at its step.
func TestBarBehindDict(t *testing.T) {
	l := newLines("x")
	l.feed([]byte("\r 49%|# | 7/99 [00:01<00:09, 9.0it/s]\r   \r{'loss': '0.5', 'epoch': '0.5'}\n" +
		"\r 10%|# | 10/99 [00:01<00:09, 9.0it/s]"))
	l.next()
	l.tail(false)
	l.decoder.idle(true)
	for e := l.decoder.next(); e != nil; e = l.decoder.next() {
		if e, ok := e.(event.EpochEvent); ok && e.Epoch == 10 {
			return
		}
	}
	t.Error("the dict is not at step 10")
}

// A table's row that comes behind the states of a bar, on its line, is read as it is written.
func TestRowBehindBars(t *testing.T) {
	l := newLines("x")
	for _, part := range []string{"epoch  train_loss  valid_loss\r\n", "█\r\rEpoch 1/6 : |--| 0.00% [0/8 00:00<?]",
		"\rEpoch 1/6 : |██| 50.00% [4/8 00:00<?]\r         \r0      0.75        0.5  \r", "\n"} {
		l.feed([]byte(part))
		l.next()
		l.tail(false)
		l.decoder.idle(true)
	}
	for e := l.decoder.next(); e != nil; e = l.decoder.next() {
		if e, ok := e.(event.EpochEvent); ok && e.Epoch == 0 && e.Loss == 0.75 {
			return
		}
	}
	t.Error("no row of epoch 0")
}

// However the text is cut, the same events come out, and with every line read on its own.
func FuzzLines(f *testing.F) {
	f.Add([]byte(lineOf(1)+"\nno\n"+lineOf(2)), uint16(3))
	f.Add([]byte(`{"type":"run","id":"a"}`+"\n"+`{"type":"inner","epoch":1}`+"\r\n\x00\n"), uint16(1))
	f.Add([]byte(lineOf(1)+" \n"+lineOf(1)+"x\n}{\n"), uint16(30))
	f.Fuzz(func(t *testing.T, text []byte, step uint16) {
		var want []event.Event
		whole := newLines("x")
		whole.feed(text)
		collect := func(l *lines, out *[]event.Event) error {
			for {
				e, err := l.next()
				if err != nil || e == nil {
					return err
				}
				*out = append(*out, e)
			}
		}
		last := func(l *lines, out *[]event.Event) {
			for e, _ := l.tail(true); e != nil; e, _ = l.tail(true) {
				*out = append(*out, e)
			}
		}
		failed := collect(&whole, &want)
		if failed == nil {
			last(&whole, &want)
		}
		var got []event.Event
		parts := newLines("x")
		n := max(1, int(step))
		var err error
		for rest := text; len(rest) > 0 && err == nil; rest = rest[min(n, len(rest)):] {
			parts.feed(rest[:min(n, len(rest))])
			err = collect(&parts, &got)
			if cap(parts.buf) > 2*len(text)+readSize {
				t.Fatalf("%d bytes for a text of %d", cap(parts.buf), len(text))
			}
		}
		if err == nil {
			last(&parts, &got)
		}
		early := newLines("x") // what comes after a whole object on its line makes no event of it
		early.feed(text[:min(n, len(text))])
		collect(&early, new([]event.Event))
		early.tail(false)
		if failed == nil && fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Fatalf("at once\n%#v\nin parts of %d\n%#v", want, n, got)
		}
	})
}
