package storetest

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"newtop/trainer/store"
	"newtop/trainer/store/sqlfile"
)

// A process comes to rest between two transactions, and where one does not end, all the same.
func TestAtRest(t *testing.T) {
	s := temporary(t)
	within, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 2)
	var over atomic.Bool
	go func() {
		ended <- s.Change(t.Context(), func(context.Context, *sql.Conn) error {
			close(within)
			<-end
			over.Store(true)
			return nil
		})
	}()
	<-within
	called := false
	sqlfile.QuiesceFor(time.Millisecond, func() { called = true })
	if !called || over.Load() {
		t.Fatalf("called: %v, with the transaction over: %v", called, over.Load())
	}
	time.AfterFunc(20*time.Millisecond, func() { close(end) })
	sqlfile.QuiesceFor(time.Hour, func() {
		if !over.Load() {
			t.Error("called within a transaction")
		}
		go func() {
			ended <- s.Change(t.Context(), func(context.Context, *sql.Conn) error { over.Store(false); return nil })
		}()
		time.Sleep(20 * time.Millisecond)
		if !over.Load() {
			t.Error("a transaction began meanwhile")
		}
	})
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A store opens while another process writes to it, or was stopped while it did.
func TestOpenWhileLocked(t *testing.T) {
	s := temporary(t)
	err := s.Change(t.Context(), func(context.Context, *sql.Conn) error {
		again, err := store.Open(s.Path(), sqlfile.Options{})
		if err != nil {
			return err
		}
		return again.Close()
	})
	if err != nil {
		t.Error(err)
	}
}
