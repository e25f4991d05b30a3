//go:build mpi && unix

package mpi

import (
	"syscall"
	"testing"
	"time"
)

// TestIdle: a process that waits for process 0, which pauses or computes alone, leaves the processor to others.
func TestIdle(t *testing.T) {
	c := together(t)
	if c.Size() == 1 {
		t.Skip("one process waits for nobody")
	}
	const settling, idle = 700 * time.Millisecond, time.Second
	w, err := newComm(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Rank() == 0 {
		time.Sleep(settling + idle + settling)
		if err := w.end(0); err != nil {
			t.Error(err)
		}
		return
	}
	used, ended := make(chan time.Duration), make(chan struct{})
	go func() {
		time.Sleep(settling)
		before := spent(t)
		time.Sleep(idle)
		used <- spent(t) - before
	}()
	go func() {
		if _, err := w.work(t.Context()); err != nil {
			t.Error(err)
		}
		close(ended)
	}()
	share := float64(<-used) / float64(idle)
	t.Logf("%.2f %% of a core", 100*share)
	if share > 0.05 {
		t.Errorf("took %.1f %% of a core, expected less than 5 %%", 100*share)
	}
	<-ended
}

// spent returns the processor time of this process.
func spent(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Error(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
