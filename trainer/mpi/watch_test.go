package mpi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/objective"
)

// ending is how a process ended.
type ending struct {
	text string
	code int
}

// broken is a communicator in which something breaks.
type broken struct {
	t     *testing.T
	fakes []*fake
	fatal chan ending // what Fatal was told, by any process
	ended chan int    // what Work returned
	zero  *Comm       // process 0's
}

// timeout goes by the clocks of bubbles, in which computing takes no time.
const timeout = time.Second

// commOf has size processes join, and all but process 0 work. wrap may put something between a process and its link.
func commOf(t *testing.T, size int, wrap func(f *fake) transport) *broken {
	if launched() != nil {
		t.Skip("needs no launcher, which has its own idea of processes that end")
	}
	b := &broken{t: t, fatal: make(chan ending, 10*size), ended: make(chan int, size)}
	zero := make(chan *Comm)
	t.Cleanup(func() { // after the ether's: a bubble waits for its goroutines
		b.zero.watch.stop()
		time.Sleep(timeout)
	})
	e := newEther(t, size)
	for rank := range size {
		f := e.end(rank)
		b.fakes = append(b.fakes, f)
		var link transport = f
		if wrap != nil {
			link = wrap(f)
		}
		o := Options{Timeout: timeout, Fatal: func(text string, code int) {
			b.fatal <- ending{text, code}
			runtime.Goexit()
		}}
		go func() {
			w, err := newComm(link, o)
			if err != nil {
				t.Error(err)
				return
			}
			if rank == 0 {
				zero <- w
				return
			}
			code, err := w.work(context.Background())
			if err != nil {
				t.Error(err)
			}
			b.ended <- code
		}()
	}
	b.zero = <-zero
	return b
}

// expect waits for the first process to end by Fatal.
func (b *broken) expect(code int, texts ...string) {
	b.t.Helper()
	select {
	case got := <-b.fatal:
		if b.isStopped(got.text) {
			b.expect(code, texts...)
			return
		}
		if got.code != code {
			b.t.Errorf("ended with %d, expected %d: %s", got.code, code, got.text)
		}
		for _, text := range texts {
			if !strings.Contains(got.text, text) {
				b.t.Errorf("ended with\n%s\nexpected %q in it", got.text, text)
			}
		}
	case <-time.After(30 * timeout):
		b.t.Error("nobody has ended")
	}
}

// isStopped reports whether a process that is stopped has said a text, which only a fake one can.
func (b *broken) isStopped(text string) bool {
	return slices.ContainsFunc(b.fakes, func(f *fake) bool {
		return f.stopped.Load() && strings.HasPrefix(text, fmt.Sprintf("rank %d on", f.rank))
	})
}

// fine expects that nobody has ended by Fatal, and ends the communicator in order.
func (b *broken) fine() {
	b.t.Helper()
	if err := b.zero.end(0); err != nil {
		b.t.Error(err)
	}
	for range len(b.fakes) - 1 {
		select {
		case got := <-b.fatal:
			b.t.Fatalf("ended with %d: %s", got.code, got.text)
		case <-b.ended:
		}
	}
}

// bind prepares and binds the training rows.
func (b *broken) bind(c trainer.Config) objective.Linearization {
	b.t.Helper()
	team := b.zero.Team()
	if _, err := team.Prepare(&c); err != nil {
		b.t.Fatal(err)
	}
	return team.Bind(objective.Rows{}, models.Options{})
}

func TestStoppedWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := commOf(t, 3, nil)
		l := b.bind(small("tr-gn"))
		w := make([]float64, l.Dim())
		l.Update(w)
		l.Update(w)
		b.fakes[2].stopped.Store(true)
		go l.Update(w)
		b.expect(ExitHung, "rank ", "within 1s", "has stopped")
	})
}

// TestStoppedIdle: a process is missed even if nothing is asked of it, and process 0 too.
func TestStoppedIdle(t *testing.T) {
	t.Parallel()
	for rank, text := range map[int]string{
		1: "rank 0 on host0: rank 1 on host0 has not answered for 1s",
		0: "rank 0 on host0 has not answered for 1s",
	} {
		synctest.Test(t, func(t *testing.T) {
			b := commOf(t, 3, nil)
			b.bind(small("tr-gn"))
			b.fakes[rank].stopped.Store(true)
			b.expect(ExitHung, text)
		})
	}
}

// TestPause: however long process 0 asks for nothing, the others wait.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := commOf(t, 3, nil)
		l := b.bind(small("tr-gn"))
		time.Sleep(timeout * 3 / 2)
		l.Update(make([]float64, l.Dim()))
		b.fine()
	})
}

// slow is a process that takes its time before it is ready for a sum, or for what it was told to prepare.
type slow struct {
	*fake
	sum, preparation time.Duration
}

func (s *slow) ready() error {
	time.Sleep(s.sum)
	return s.fake.ready()
}

func (s *slow) note(to int, n int64) error {
	if n == notePrepared {
		time.Sleep(s.preparation)
	}
	return s.fake.note(to, n)
}

// TestSlowWorker: one that computes for long is waited for.
func TestSlowWorker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rank int
		by   slow
	}{
		{0, slow{sum: timeout * 3 / 2}}, {2, slow{sum: timeout * 3 / 2}}, {1, slow{preparation: timeout * 3 / 2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := commOf(t, 3, func(f *fake) transport {
				if f.rank == c.rank {
					return &slow{fake: f, sum: c.by.sum, preparation: c.by.preparation}
				}
				return f
			})
			b.bind(small("tr-gn"))
			b.fine()
		})
	}
}

// TestSuspended: the time for which a process was stopped itself, as by Slurm all of a job are, is nobody's fault.
func TestSuspended(t *testing.T) {
	var h watch
	h.c, h.timeout, h.checked = &Comm{}, time.Minute, time.Now().Add(-time.Hour)
	h.call.Store(&inSum)
	h.checkCall()
	if got := time.Duration(h.awake.Load()); got < time.Second || got > h.timeout/5 {
		t.Errorf("%s of an hour between two looks counted", got)
	}
}

func TestBrokenMPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := commOf(t, 2, nil)
		l := b.bind(small("tr-gn"))
		b.fakes[1].broken.Store(true)
		go l.Update(make([]float64, l.Dim()))
		b.expect(ExitFailed, "rank 1 on host0: Bcast: broken")
	})
}

// TestWorkerPanics: a fault of the program ends it with what is needed to find it.
func TestWorkerPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := commOf(t, 2, nil)
		b.bind(small("tr-gn"))
		b.zero.send(message{indexOp: int64(opUpdate), indexID: 99})
		b.expect(ExitFailed, "rank 1 on host0: mpi: op", "linearization 99", "goroutine")
	})
}

// TestCloseAfterPanic: a sum that did not come back keeps nobody waiting.
func TestCloseAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := commOf(t, 2, nil)
		l := b.bind(small("tr-gn"))
		func() {
			defer func() { recover() }()
			l.HessianTo(nil, make([]float64, l.Dim())) // before Update
		}()
		if err := b.zero.Close(1); err == nil || !strings.Contains(err.Error(), "did not end cleanly") {
			t.Errorf("%v", err)
		}
	})
}

func TestCloseBeforeAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := commOf(t, 3, nil)
		if err := b.zero.end(2); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if code := <-b.ended; code != 2 {
				t.Errorf("ended with %d, expected 2", code)
			}
		}
	})
}

// misled is a process that gets another configuration.
type misled struct {
	*fake
	change func(c *trainer.Config)
}

func (m *misled) bcastBytes(text []byte) error {
	if err := m.fake.bcastBytes(text); err != nil || !strings.Contains(string(text), `"DataDir"`) {
		return err
	}
	var c trainer.Config
	if err := json.Unmarshal(text, &c); err != nil {
		return err
	}
	c.DataDir = "" // which leaves room for what changes
	m.change(&c)
	other, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if len(other) > len(text) {
		return fmt.Errorf("%d bytes do not fit into %d", len(other), len(text))
	}
	copy(text, append(other, bytes.Repeat([]byte{' '}, len(text)-len(other))...))
	return nil
}

// TestOneCannotPrepare: what one process finds, and where, is told by process 0; then the others can still be ended in order.
func TestOneCannotPrepare(t *testing.T) {
	for want, change := range map[string]func(c *trainer.Config){
		"rank 3 on host1: no file \"zz.csv\"":   func(c *trainer.Config) { c.Data = "zz.csv" },
		"rank 3 on host1 has found ":            func(c *trainer.Config) { c.Test = "0.4" },
		"weights, rank 0 on host0 22: expected": func(c *trainer.Config) { c.Hidden = []int{8} },
		"rank 3 on host1 has found another net": func(c *trainer.Config) { c.Act = "sigmoid" },
	} {
		synctest.Test(t, func(t *testing.T) {
			b := commOf(t, 4, func(f *fake) transport {
				if f.rank == 3 {
					return &misled{fake: f, change: change}
				}
				return f
			})
			c := small("tr-gn")
			c.DataDir = strings.Repeat("x", 20)
			if _, err := b.zero.Team().Prepare(&c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, expected %q in it", err, want)
			}
			b.fine()
		})
	}
}

// TestClose: what process 0 has closed the others drop, and only that.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := commOf(t, 2, nil)
		closed := b.bind(small("tr-gn"))
		l := b.zero.Team().Bind(objective.Rows{}, models.Options{})
		if err := closed.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
		l.Update(make([]float64, l.Dim()))
		go closed.Update(make([]float64, l.Dim()))
		b.expect(ExitFailed, "rank 1 on host0: mpi: op", "linearization 1")
	})
}

// TestOtherData: a file that has as many rows elsewhere, but other numbers, is found out.
func TestOtherData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, here, there := t.TempDir(), "x,y\n", "x,y\n"
		for i := range 400 {
			here += fmt.Sprintf("%d,%d\n", i, i%7)
			there += fmt.Sprintf("%d,%d\n", i+i/399, i%7)
		}
		for name, text := range map[string]string{"here/a.csv": here, "else/a.csv": there} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
		b := commOf(t, 3, func(f *fake) transport {
			if f.rank == 2 {
				return &misled{fake: f, change: func(c *trainer.Config) { c.Data = filepath.Join(dir, "else", "a.csv") }}
			}
			return f
		})
		c := small("tr-gn")
		c.Data, c.DataDir = filepath.Join(dir, "here", "a.csv"), "x"
		want := "rank 2 on host1 has found other names or numbers in the data than rank 0 on host0"
		if _, err := b.zero.Team().Prepare(&c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
		b.fine()
	})
}
