package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/sqlfile"
	"newtop/trainer/stream"
)

// blob is a checkpoint of so many bytes, all made of its epoch.
func blob(epoch, size int) *recorder.Pending {
	return &recorder.Pending{Epoch: epoch, Fingerprint: "f", Encode: func() ([]byte, error) {
		return bytes.Repeat([]byte{byte(epoch)}, size), nil
	}}
}

// kept returns the bytes of the newest checkpoint.
func kept(t *testing.T, s *store.Store, id string) (seq int64, text []byte) {
	t.Helper()
	err := s.View(t.Context(), func(tx *sql.Tx) error {
		h, err := store.NewRunReader(t.Context(), tx, id)
		if err != nil {
			return err
		}
		seqs, err := h.Checkpoints(t.Context())
		if err != nil || len(seqs) == 0 {
			return err
		}
		seq = seqs[0]
		text, err = h.CheckpointBytes(t.Context(), seq)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seq, text
}

func find(t *testing.T, s *store.Store, id string) *store.Run {
	t.Helper()
	run, err := s.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// wait returns when all that was recorded is on the disk.
func wait(r *recorder.Recorder) {
	for {
		r.Mu.Lock()
		done := len(r.Queue.Items) == 0 && r.Queue.Writing == 0 && !r.Checkpoint.Busy
		r.Mu.Unlock()
		if done {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// eventually waits for what other goroutines bring about.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

func TestContinue(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{Name: "x", Config: trainer.Config{Epochs: 4}})
	first := opening("a")
	record(t, r, first, epoch(0, 3))
	r.EnqueueCheckpoint(blob(0, 10))
	record(t, r, inner(1, 0, 1), inner(1, 0, 2), epoch(1, 2))
	wait(r)
	r.EnqueueCheckpoint(blob(1, 20))
	wait(r)
	record(t, r, inner(2, 0, 1), epoch(2, 1), event.SwitchEvent{Epoch: 2, To: "adam"})
	var busy *sqlfile.BusyError
	if _, err := recorder.Continue(t.Context(), s, "a"); !errors.As(err, &busy) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", os.Getpid())) {
		t.Fatalf("a run that is recorded was taken over: %v", err)
	}
	if err := s.Remove(t.Context(), "a"); !errors.As(err, &busy) {
		t.Fatalf("a run that is recorded was removed: %v", err)
	}
	if run := find(t, s, "a"); run.State != store.Running {
		t.Errorf("state %s", run.State)
	}
	record(t, r, event.DoneEvent{Reason: event.ReasonStopped, Epochs: 2})
	flush(t, r)
	before := events(t, s, "a")

	// Nothing came: all is as it was.
	again, err := recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	if run := find(t, s, "a"); run.State != store.Running || run.Done == nil {
		t.Errorf("claimed: %s", run.State)
	}
	record(t, again, event.DoneEvent{Reason: event.ReasonFailed})
	flush(t, again)
	if run := find(t, s, "a"); run.State != "stopped" {
		t.Errorf("state %s", run.State)
	}
	equal(t, events(t, s, "a"), before)

	again, err = recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recorder.Continue(t.Context(), s, "a"); !errors.As(err, &busy) {
		t.Fatalf("taken over twice: %v", err)
	}
	other := first
	other.ID, other.Threads = "other", 3
	resume := event.ResumeEvent{Epoch: 1, Time: time.Unix(5, 0).UTC()}
	again.Configure(trainer.Config{Epochs: 9})
	if run := find(t, s, "a"); run.Config.Epochs != 4 {
		t.Errorf("%+v", run.Config)
	}
	record(t, again, other, resume, epoch(2, 0.5))
	wait(again)
	if run := find(t, s, "a"); run.Config.Epochs != 9 {
		t.Errorf("%+v", run.Config)
	}
	if run := find(t, s, "a"); run.State != store.Running || run.Epochs != 3 || run.Inner != 2 || run.Last.Loss != 0.5 || run.Best.Loss != 0.5 || run.First.Loss != 3 || run.Name != "x" {
		t.Errorf("resumed: %+v", run)
	}
	if again.Recording().Run != "x" {
		t.Errorf("%+v", again.Recording())
	}
	flush(t, again)
	first.Threads = 3
	equal(t, events(t, s, "a"), []event.Event{first, epoch(0, 3), inner(1, 0, 1), inner(1, 0, 2), epoch(1, 2), resume, epoch(2, 0.5)})
	if run := find(t, s, "a"); run.State != store.Interrupted || run.Checkpoint != 1 || run.Fingerprint != "f" {
		t.Errorf("%+v", run)
	}
	if _, text := kept(t, s, "a"); string(text) != strings.Repeat("\x01", 20) {
		t.Errorf("checkpoint %q", text)
	}
}

// Without a checkpoint a run begins anew, under its ID.
func TestContinueWithoutCheckpoint(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{}, opening("a"), epoch(0, 3), inner(1, 0, 1), epoch(1, 2))
	if c, _, err := s.Checkpoint(t.Context(), "a"); c != nil || err != nil {
		t.Error(c, err)
	}
	r, err := recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := recorder.Resumable(t.Context(), r)
	if err != nil || rest.From != nil || rest.Skipped != nil || rest.Config.Epochs != 0 {
		t.Fatal(rest, err)
	}
	equal(t, rest.History, []event.Event{opening("a")})
	record(t, r, opening("b"), epoch(0, 7))
	flush(t, r)
	equal(t, events(t, s, "a"), []event.Event{opening("a"), epoch(0, 7)})
	if _, err := recorder.Continue(t.Context(), s, "b"); err == nil {
		t.Error("there is a run b")
	}
}

func TestCheckpoints(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	if !r.Due(false) || !r.Due(true) {
		t.Error("the first checkpoint is not due")
	}
	record(t, r, opening("a"), epoch(0, 3))
	r.EnqueueCheckpoint(blob(0, 3*recorder.PartSize+1))
	if r.Due(false) || !r.Due(true) {
		t.Error("a second one is due at once, or none at the end")
	}
	wait(r)
	if seq, text := kept(t, s, "a"); seq != 2 || len(text) != 3*recorder.PartSize+1 {
		t.Errorf("%d bytes after event %d", len(text), seq)
	}
	for e := 1; e <= 4; e++ {
		record(t, r, epoch(e, 1))
		r.EnqueueCheckpoint(blob(e, recorder.PartSize))
		wait(r)
	}
	r.EnqueueCheckpoint(blob(9, recorder.PartSize/2)) // after the same event
	flush(t, r)
	if seq, text := kept(t, s, "a"); seq != 6 || len(text) != recorder.PartSize/2 || text[0] != 9 {
		t.Errorf("%d bytes of %d after event %d", len(text), text[0], seq)
	}
	var n, parts int
	if err := s.DB.QueryRow("SELECT (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM parts)").Scan(&n, &parts); err != nil || n != 2 || parts != 2 {
		t.Errorf("%d checkpoints in %d parts: %v", n, parts, err)
	}
	if run := find(t, s, "a"); run.Checkpoint != 9 || run.Bytes < 3*recorder.PartSize/2 {
		t.Errorf("%+v", run)
	}
}

// A checkpoint that can't be encoded is a warning; the run is recorded all the same, and the next one makes it good.
func TestCheckpointFails(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"), epoch(0, 3))
	for _, encode := range []func() ([]byte, error){
		func() ([]byte, error) { return nil, errors.New("a reason") },
		func() ([]byte, error) { panic("a reason") },
	} {
		r.EnqueueCheckpoint(&recorder.Pending{Epoch: 4, Encode: encode})
		record(t, r, epoch(1, 3))
		eventually(t, "a warning", func() bool {
			return strings.HasPrefix(r.Recording().Warning, "the run can't be resumed from epoch 4: ")
		})
		wait(r)
	}
	r.EnqueueCheckpoint(blob(5, 5))
	eventually(t, "no warning", func() bool { return r.Recording().Warning == "" })
	flush(t, r)
	if got := events(t, s, "a"); len(got) != 4 {
		t.Errorf("%d events", len(got))
	}
}

// Events get through while a large checkpoint is written.
func TestLargeCheckpoint(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"))
	r.EnqueueCheckpoint(blob(0, 32<<20))
	for e := range 20 {
		record(t, r, epoch(e, 1))
		eventually(t, "the epoch", func() bool {
			r.Mu.Lock()
			defer r.Mu.Unlock()
			return len(r.Queue.Items) == 0 && r.Queue.Writing == 0
		})
	}
	wait(r)
	flush(t, r)
	if _, text := kept(t, s, "a"); len(text) != 32<<20 {
		t.Errorf("%d bytes", len(text))
	}
}

// warnings gathers what a recorder tells.
type warnings struct {
	mu   sync.Mutex
	told []string
}

func (w *warnings) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, text)
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.told...)
}

// A connection that is opened while another program has the file to itself waits for it.
func TestOpeningWaitsForTheLock(t *testing.T) {
	s := temporary(t)
	flush(t, recorder.New(s, recorder.About{}))
	s.Close()
	other, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"rwc", "rw", "ro"} {
		db, err := sqlfile.OpenDB(s.Path(), mode, sqlfile.WritePatience)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		begin := time.Now()
		_, err = db.ExecContext(t.Context(), "SELECT count(*) FROM runs")
		if waited := time.Since(begin); !sqlfile.Busy(err) || waited < sqlfile.WritePatience {
			t.Errorf("%s: %v after %s: expected it to wait for %s", mode, err, waited, sqlfile.WritePatience)
		}
	}
}

// A file that another program has locked is a warning after a while, and nothing is lost.
func TestLockedFile(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	var told warnings
	r.OnWarning(told.tell)
	record(t, r, opening("a"), epoch(0, 1))
	wait(r)
	other, err := sql.Open("sqlite", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	for e := 1; e <= 100; e++ {
		record(t, r, epoch(e, 1))
	}
	eventually(t, "a warning", func() bool { return r.Recording().Warning != "" })
	if now := r.Recording(); now.Backlog != 100 || !strings.Contains(now.Warning, s.Path()+": another program has locked the file") {
		t.Errorf("%+v", now)
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	record(t, r, epoch(101, 1))
	flush(t, r)
	if got := told.all(); len(got) != 2 || got[1] != "" {
		t.Errorf("told %q", got)
	}
	if got := events(t, s, "a"); len(got) != 103 {
		t.Errorf("%d events", len(got))
	}
}

// A file that is moved away is a warning, and a file that is put in its place is left alone; when it is back,
// recording goes on.
func TestMovedFile(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"), epoch(0, 1))
	wait(r)
	away := s.Path() + ".away"
	if err := os.Rename(s.Path(), away); err != nil {
		t.Skipf("an open file can't be moved here: %v", err)
	}
	record(t, r, epoch(1, 1))
	eventually(t, "a warning", func() bool { return strings.Contains(r.Recording().Warning, "the file is gone") })
	if err := os.WriteFile(s.Path(), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another warning", func() bool { return strings.Contains(r.Recording().Warning, "another file than when") })
	if text, err := os.ReadFile(s.Path()); string(text) != "mine" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	if err := os.Rename(away, s.Path()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no warning", func() bool { return r.Recording().Warning == "" })
	record(t, r, epoch(2, 1))
	flush(t, r)
	equal(t, events(t, s, "a"), []event.Event{opening("a"), epoch(0, 1), epoch(1, 1), epoch(2, 1)})
}

// A run whose file is gone for good ends with a warning that counts what is lost, and in time.
func TestFileGone(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	r.Grace = time.Second
	record(t, r, opening("a"))
	wait(r)
	if err := os.RemoveAll(filepath.Dir(s.Path())); err != nil {
		t.Skipf("an open file can't be removed here: %v", err)
	}
	record(t, r, epoch(0, 1), epoch(1, 1))
	eventually(t, "a warning", func() bool { return r.Recording().Warning != "" })
	begin := time.Now()
	if err := r.Flush(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > r.Grace+time.Minute {
		t.Errorf("gave up after %v", took)
	}
	if now := r.Recording(); now.Lost != 2 || now.Backlog != 0 || !strings.HasSuffix(now.Warning, "the last 2 events are not recorded") {
		t.Errorf("%+v", now)
	}
}

// Beyond the bound inner iterations are left out, then the oldest of the rest, and all that is left out is counted.
func TestQueueIsBounded(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	r.Started = true // without the writer, as if the disk hung
	r.Queue.Room = 1 << 20
	record(t, r, opening("a"), epoch(0, 1))
	n := r.Queue.Room/recorder.Weight(event.InnerEvent{}) + 1000
	for i := range n {
		record(t, r, inner(1, 0, i+1))
	}
	if now := r.Recording(); r.Queue.Bytes > r.Queue.Room || now.Lost == 0 || now.Backlog+now.Lost != n+2 {
		t.Errorf("%d bytes, %+v", r.Queue.Bytes, now)
	}
	if _, first := r.Queue.Items[0].Event.(event.RunEvent); !first || r.Queue.Items[1].Event.EventType() != "epoch" {
		t.Error("the beginning was left out")
	}
	wide := epoch(1, 1)
	wide.Blocks = make([]event.BlockNorms, 1000)
	for range r.Queue.Room/recorder.Weight(wide) + 10 {
		record(t, r, wide)
	}
	record(t, r, event.DoneEvent{})
	inners := 0
	for _, i := range r.Queue.Items {
		if _, ok := i.Event.(event.InnerEvent); ok {
			inners++
		}
	}
	if r.Queue.Bytes > r.Queue.Room || inners > 0 {
		t.Errorf("%d bytes, %d inner iterations", r.Queue.Bytes, inners)
	}
	if _, first := r.Queue.Items[0].Event.(event.RunEvent); !first {
		t.Error("the opening was left out")
	}
	// What is left, with numbers missing, is written and read.
	want := len(r.Queue.Items)
	go r.Writer.Write(t.Context())
	r.Cancel = func() {}
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := events(t, s, "a"); len(got) != want {
		t.Errorf("%d events, want %d", len(got), want)
	}
}

// Many runs are recorded at once into one database without losing anything.
func TestManyRecorders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	const runs, each = 4, 100
	var group sync.WaitGroup
	for i := range runs {
		group.Go(func() {
			s, err := store.Open(path, sqlfile.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			r := recorder.New(s, recorder.About{Name: "same"})
			record(t, r, opening(fmt.Sprint("run-", i)))
			for e := range each {
				record(t, r, inner(e, 0, 1), epoch(e, 1))
				if e%50 == 0 {
					r.EnqueueCheckpoint(blob(e, 3*recorder.PartSize/2))
					time.Sleep(10 * time.Millisecond)
				}
			}
			flush(t, r)
		})
	}
	group.Wait()
	s := open(t, path)
	for i := range runs {
		if got := events(t, s, fmt.Sprint("run-", i)); len(got) != 2*each+1 {
			t.Errorf("run %d: %d events", i, len(got))
		}
	}
}

// One who loses a run, by force, stops writing and says so.
func TestTakenOver(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"), epoch(0, 1))
	wait(r)
	if _, err := s.DB.Exec("UPDATE runs SET owner = 'another'"); err != nil {
		t.Fatal(err)
	}
	record(t, r, epoch(1, 1))
	eventually(t, "a warning", func() bool { return strings.Contains(r.Recording().Warning, "another process has taken it over") })
	if err := r.Flush(); err != nil {
		t.Error(err)
	}
	equal(t, events(t, s, "a"), []event.Event{opening("a"), epoch(0, 1)})
}

// An event that JSON has no form for is left out, and the rest is recorded.
func TestUnencodableEvent(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"), event.SettingEvent{Key: "rate", Value: math.Inf(1)}, epoch(0, 1))
	if err := r.Flush(); err != nil {
		t.Error(err)
	}
	if now := r.Recording(); now.Lost != 1 || now.Warning != "event 2 is not recorded: trainer: encoding a setting event: json: unsupported value: +Inf" {
		t.Errorf("%+v", now)
	}
	equal(t, events(t, s, "a"), []event.Event{opening("a"), epoch(0, 1)})
}

// A run whose last checkpoint could not be written is not recorded as a whole.
func TestMissingCheckpoint(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"), epoch(0, 1))
	r.EnqueueCheckpoint(held(0))
	wait(r)
	if _, err := s.DB.Exec("CREATE TRIGGER full BEFORE INSERT ON parts BEGIN SELECT RAISE(ABORT, 'no room'); END"); err != nil {
		t.Fatal(err)
	}
	record(t, r, epoch(1, 1))
	wait(r)
	r.EnqueueCheckpoint(held(1))
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	equal(t, events(t, s, "a"), []event.Event{opening("a"), epoch(0, 1), epoch(1, 1)})
	var missing *recorder.MissingError
	if err := r.Missing(t.Context()); !errors.As(err, &missing) || missing.Events != 0 || !strings.HasPrefix(err.Error(), "the last checkpoint is not recorded: ") || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
}

// A run that must not be recorded hears of it in the end, where no event has told it.
func TestRefusedAtTheEnd(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{Name: "mine"})
	record(t, r, opening("a"), epoch(0, 1))
	flush(t, r)
	r = recorder.New(s, recorder.About{Name: "mine", Exclusive: true})
	record(t, r, opening("b"))
	<-r.Ended
	if err := r.Flush(); !errors.Is(err, recorder.ErrClaimed) {
		t.Errorf("%v", err)
	}
}

// An ID that is there already is no reason to try again and again.
func TestSameIDTwice(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"))
	flush(t, r)
	r = recorder.New(s, recorder.About{})
	record(t, r, opening("a"), epoch(0, 1))
	if err := r.Flush(); err != nil {
		t.Error(err)
	}
	if now := r.Recording(); now.Lost != 2 || !strings.Contains(now.Warning, "UNIQUE") {
		t.Errorf("%+v", now)
	}
}

func follow(t *testing.T, s *store.Store, id string) stream.Source {
	t.Helper()
	w, err := s.Source(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// until reads a source until so many events have come, or an error.
func until(t *testing.T, w stream.Source, n int) (out []event.Event, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(out) < n {
		e, err := w.Next(ctx)
		switch {
		case errors.Is(err, stream.ErrNone):
			if err := w.Wait(ctx); err != nil {
				t.Fatalf("%d of %d events: %v", len(out), n, err)
			}
		case err != nil:
			return out, err
		default:
			out = append(out, e)
		}
	}
	return out, nil
}

func TestSourceFollows(t *testing.T) {
	s := temporary(t)
	r := recorder.New(s, recorder.About{})
	record(t, r, opening("a"), epoch(0, 1))
	r.EnqueueCheckpoint(blob(0, 10))
	wait(r)
	other := reading(t, s.Path())
	w := follow(t, other, "a")
	got, err := until(t, w, 2)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, []event.Event{opening("a"), epoch(0, 1)})
	stale := func() string {
		if _, err := w.Next(t.Context()); !errors.Is(err, stream.ErrNone) {
			t.Fatal(err)
		}
		return w.(interface{ Stale() string }).Stale()
	}
	if why := stale(); why != "" || w.Read() != 1 {
		t.Errorf("stale: %s; read %v", why, w.Read())
	}
	record(t, r, inner(1, 0, 1), inner(1, 0, 2))
	if got, err = until(t, w, 2); err != nil {
		t.Fatal(err)
	}
	equal(t, got, []event.Event{inner(1, 0, 1), inner(1, 0, 2)})
	record(t, r, inner(1, 0, 3), epoch(1, 1))
	if got, err = until(t, w, 2); err != nil {
		t.Fatal(err)
	}
	equal(t, got, []event.Event{inner(1, 0, 3), epoch(1, 1)})
	flush(t, r)
	if why := stale(); !strings.HasPrefix(why, "interrupted: process ") {
		t.Errorf("stale: %q", why)
	}

	r, err = recorder.Continue(t.Context(), s, "a")
	if err != nil {
		t.Fatal(err)
	}
	if why := stale(); why != "" {
		t.Errorf("stale: %s", why)
	}
	resume := event.ResumeEvent{}
	record(t, r, opening("a"), resume, epoch(1, 2))
	if _, err := until(t, w, 1); !errors.Is(err, stream.ErrRestart) {
		t.Fatal(err)
	}
	if got, err = until(t, w, 4); err != nil {
		t.Fatal(err)
	}
	equal(t, got, []event.Event{opening("a"), epoch(0, 1), resume, epoch(1, 2)})
	record(t, r, event.DoneEvent{Reason: event.ReasonEpochs})
	if _, err = until(t, w, 1); err != nil {
		t.Fatal(err)
	}
	if why := stale(); why != "" {
		t.Errorf("stale: %s", why)
	}
	flush(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// held is a checkpoint without anything in it, which can be read.
func held(epoch int) *recorder.Pending {
	c := &trainer.Checkpoint{Epoch: epoch, Fingerprint: "f"}
	return &recorder.Pending{Epoch: epoch, Fingerprint: "f", Encode: c.MarshalBinary}
}

// TestConsoleIsNotRecorded: lines of a program's console take no room and no number.
func TestConsoleIsNotRecorded(t *testing.T) {
	s := temporary(t)
	written(t, s, recorder.About{}, opening("a"), epoch(0, 1), event.ConsoleEvent{Text: "a line"}, epoch(1, 1))
	equal(t, events(t, s, "a"), []event.Event{opening("a"), epoch(0, 1), epoch(1, 1)})
}
