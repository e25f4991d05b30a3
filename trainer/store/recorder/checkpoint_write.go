package recorder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/store/rowcode"
)

// Pending is a checkpoint that waits to be encoded.
type Pending struct {
	Seq         int64 // the last event before it
	behind      int   // events that were handed over since then
	Epoch       int
	Fingerprint string
	Encode      func() ([]byte, error)
}

// encoded is a checkpoint as bytes.
type encoded struct {
	Pending
	text []byte
	err  error
	part int // how many parts are written
	took time.Duration
}

// run encodes. A panic is an error: a checkpoint is not worth a run.
func (p *Pending) run() (e *encoded) {
	e = &encoded{Pending: *p}
	defer func() {
		if v := recover(); v != nil {
			e.err = fmt.Errorf("internal error: %v", v)
		}
	}()
	start := time.Now()
	e.text, e.err = p.Encode()
	e.took = time.Since(start)
	if e.err == nil && len(e.text) == 0 {
		e.err = errors.New("an empty checkpoint")
	}
	return e
}

// bytes returns the next part.
func (e *encoded) bytes() []byte {
	return e.text[e.part*PartSize : min((e.part+1)*PartSize, len(e.text))]
}

func (e *encoded) last() bool { return (e.part+1)*PartSize >= len(e.text) }

// partWriter has the checkpoint that waits encoded, beside the writer as a large one takes a while, and writes it in
// parts.
type partWriter struct {
	recorder *Recorder
	queued   *encoded      // a checkpoint to write
	encoding chan *encoded // where the one being encoded comes from; nil: none is
}

// insert writes the next part of the queued checkpoint, and after the last one its row.
func (p *partWriter) insert(ctx context.Context, c *connection, run int64) error {
	e := p.queued
	if e.part == 0 {
		// Parts without a checkpoint are of a process that was killed while it wrote them, or of an attempt that
		// another has overtaken.
		_, err := c.conn.ExecContext(ctx, `DELETE FROM parts WHERE run = ?1 AND seq NOT IN
			(SELECT seq FROM checkpoints WHERE run = ?1)`, run)
		if err != nil {
			return err
		}
		// Of two checkpoints after one event the later one counts.
		for _, table := range []string{"parts", "checkpoints"} {
			if _, err := c.conn.ExecContext(ctx, "DELETE FROM "+table+" WHERE run = ? AND seq = ?", run,
				e.Seq); err != nil {
				return err
			}
		}
	}
	if _, err := c.exec(ctx, "INSERT INTO parts (run, seq, part, data) VALUES (?, ?, ?, ?)", run, e.Seq, e.part,
		e.bytes()); err != nil {
		return err
	}
	if !e.last() {
		return nil
	}
	if _, err := c.insert(ctx, "checkpoints", []any{run, e.Seq, e.Epoch, e.Fingerprint, len(e.text)}); err != nil {
		return err
	}
	for _, table := range []string{"parts", "checkpoints"} {
		_, err := c.conn.ExecContext(ctx, "DELETE FROM "+table+` WHERE run = ?1 AND seq <=
			(SELECT seq FROM checkpoints WHERE run = ?1
			ORDER BY seq DESC LIMIT 1 OFFSET ?2)`, run, rowcode.CheckpointsOfRun)
		if err != nil {
			return err
		}
	}
	return nil
}

// encode takes a checkpoint that is encoded, and begins to encode one that waits.
func (p *partWriter) encode() {
	select {
	case e := <-p.encoding:
		p.receive(e)
	default:
	}
	if p.encoding != nil || p.queued != nil {
		return
	}
	r := p.recorder
	r.Mu.Lock()
	next := r.Checkpoint.Pending
	r.Checkpoint.Pending = nil
	r.Mu.Unlock()
	if next == nil {
		return
	}
	done := make(chan *encoded, 1)
	p.encoding = done
	routine.Go(func() { done <- next.run() })
}

// receive takes a checkpoint that is encoded.
func (p *partWriter) receive(e *encoded) { p.encoding, p.queued = nil, e }

// wrote moves to the next part, and reports whether there is none.
func (p *partWriter) wrote(took time.Duration) (all bool) {
	e := p.queued
	e.took += took
	if e.part++; e.part*PartSize < len(e.text) {
		return false
	}
	p.end()
	return true
}

// end lets go of the queued checkpoint, and the next one become due.
func (p *partWriter) end() {
	r := p.recorder
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Checkpoint.took = p.queued.took
	r.Checkpoint.Busy = r.Checkpoint.Pending != nil
	p.queued = nil
}
