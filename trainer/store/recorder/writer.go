package recorder

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// Writer writes what a Recorder has gathered. Its own goroutine alone uses it.
type Writer struct {
	connection
	recorder *Recorder
	owner    sqlfile.Owner
	Bounds   Bounds
	parts    partWriter

	from         int64 // of a run that is resumed: its events after this one are forgotten
	name         string
	damaged      bool // the row of a run that is resumed, which stays marked as such
	at           position
	lastWrite    time.Time // of the last transaction
	failingSince time.Time // since when nothing succeeds; zero: all is well
	flaw         string    // what is wrong with the last checkpoint
}

// position is what the writer knows of the run after its last transaction.
type position struct {
	run     int64 // the row; 0: none yet
	measure event.Measure
	best    *event.EpochEvent
	stretch rowcode.Stretch
	started bool // this recorder has written an event
	thinning
}

// work is one transaction's.
type work struct {
	Events []Item
	size   int   // their bytes in the queue
	next   int64 // number of the first event that still waits behind them
	part   bool  // write the next part of the queued checkpoint
	lost   int   // events that could not be written as JSON
}

// errRunLost says that the run belongs to somebody else now, or is no more.
var errRunLost = errors.New("the run was removed, or another process has taken it over")

// Write runs until the recorder is flushed.
func (w *Writer) Write(ctx context.Context) {
	defer close(w.recorder.Ended)
	defer w.disconnect()
	wait := firstRetry
	for {
		job, more := w.next(ctx)
		if !more {
			break
		}
		err := w.do(ctx, job)
		switch {
		case err == nil:
			wait = firstRetry
			w.failingSince = time.Time{}
			w.recorder.warn(w.flaw)
			continue
		case errors.Is(err, errRunLost), sqlfile.Permanent(err):
			w.recorder.drop(w.complaint(err))
			return
		case sqlfile.Is[*sqlfile.BusyError](err), errors.Is(err, ErrClaimed):
			w.recorder.refuse(w.store.Wrap(ctx, err))
			return
		}
		w.recorder.restore(job.Events)
		if w.failingSince.IsZero() {
			w.failingSince = time.Now()
		}
		if !sqlfile.Busy(err) {
			w.disconnect()
		}
		if !sqlfile.Busy(err) || time.Since(w.failingSince) >= lockGrace {
			w.recorder.warn(w.complaint(err))
		}
		if w.hopeless(sqlfile.Busy(err)) {
			w.recorder.drop(w.complaint(err))
			return
		}
		w.pause(wait)
		wait = min(2*wait, lastRetry)
	}
	w.release()
}

// hopeless reports whether a recorder that is flushed has waited long enough, which is less long for what has failed
// since long before, and longer for others that record into a busy file: on a busy machine a turn may take seconds.
func (w *Writer) hopeless(busy bool) bool {
	flushed, ending := w.recorder.ending()
	grace := w.recorder.Grace
	if busy {
		grace *= 6
	}
	if flushed.Sub(w.failingSince) > grace {
		grace /= 5
	}
	if w.failingSince.After(flushed) {
		flushed = w.failingSince
	}
	return ending && time.Since(flushed) >= grace
}

// complaint is the warning of an error.
func (w *Writer) complaint(err error) string {
	cause := w.store.Wrap(context.Background(), err).Error()
	w.recorder.setCause(cause)
	return "the run is not being recorded: " + cause
}

// pause waits before the next attempt, less long when the recorder is flushed.
func (w *Writer) pause(wait time.Duration) {
	if _, ending := w.recorder.ending(); ending {
		wait = min(wait, 100*time.Millisecond)
	}
	time.Sleep(wait)
}

// next waits for something to do: events, a part of a checkpoint, or a sign of life. It returns false when all is
// written and the recorder is flushed.
func (w *Writer) next(ctx context.Context) (work, bool) {
	r := w.recorder
	for {
		w.throttle()
		w.parts.encode()
		job, closing := r.dequeue()
		// The row of a checkpoint must not come before the events that it stands behind.
		job.part = w.parts.queued != nil && (w.at.started || len(job.Events) > 0) &&
			(!w.parts.queued.last() || job.next > w.parts.queued.Seq)
		switch {
		case len(job.Events) > 0 || job.part:
			return job, true
		case closing && w.parts.encoding == nil:
			return work{}, false
		}
		select {
		case <-r.wake:
		case e := <-w.parts.encoding:
			w.parts.receive(e)
		case <-time.After(time.Until(w.lastWrite.Add(sqlfile.Heartbeat))):
			return work{}, true
		}
	}
}

// throttle waits until the next transaction may begin: events are gathered for a while, and where there are many, or a
// checkpoint is written in parts, other processes get at the file in between.
func (w *Writer) throttle() {
	r := w.recorder
	r.Mu.Lock()
	ending, behind := r.closing, len(r.Queue.Items) >= maxEvents
	r.Mu.Unlock()
	if ending || !w.failingSince.IsZero() {
		return
	}
	wait := pace
	if w.parts.queued != nil || behind {
		wait = pace / 8
	}
	time.Sleep(time.Until(w.lastWrite.Add(wait)))
}

// do carries one transaction out.
func (w *Writer) do(ctx context.Context, job work) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	if w.at.run == 0 && len(job.Events) == 0 {
		w.lastWrite = time.Now()
		return nil
	}
	if w.parts.queued != nil && w.parts.queued.err != nil && job.part {
		// Not the disk's fault, so that trying again is of no use.
		w.flaw = fmt.Sprintf("the run can't be resumed from epoch %d: %v", w.parts.queued.Epoch, w.parts.queued.err)
		w.parts.end()
		job.part = false
	}
	after := w.at
	start := time.Now()
	write := func() error {
		return sqlfile.Transact(ctx, w.conn, func(ctx context.Context,
			conn *sql.Conn) error {
			return w.fill(ctx, &after, &job)
		})
	}
	var err error
	if job.part && w.parts.queued.last() {
		err = sqlfile.Durably(ctx, w.conn, write)
	} else {
		err = write()
	}
	if err != nil {
		return err
	}
	w.at = after
	w.lastWrite = time.Now()
	w.recorder.written(job)
	if job.part && w.parts.wrote(w.lastWrite.Sub(start)) {
		w.flaw = ""
	}
	return nil
}

// fill does the work of a transaction. What it learns goes to at.
func (w *Writer) fill(ctx context.Context, at *position, job *work) error {
	events := job.Events
	if len(events) > 0 && !at.started {
		opening, ok := events[0].Event.(event.RunEvent)
		if !ok {
			panic("store: the first event is no RunEvent")
		}
		if err := w.startRun(ctx, at, &opening); err != nil {
			return err
		}
		events = events[1:]
	}
	added := &addition{connection: &w.connection, at: at, flaw: w.flaw}
	if err := added.insertEvents(ctx, events); err != nil {
		return err
	}
	if err := (&thinner{added, w.Bounds}).thin(ctx); err != nil {
		return err
	}
	sum := &added.sum
	job.lost, w.flaw = sum.lost, added.flaw
	if job.part {
		if err := w.parts.insert(ctx, &w.connection, at.run); err != nil {
			return err
		}
	}
	now := sqlfile.FormatTime(time.Now())
	changed := sql.NullString{String: now, Valid: len(job.Events) > 0 || job.part}
	res, err := w.exec(ctx, `UPDATE runs SET events = max(events, ?), epochs = epochs + ?, inner = inner + ?,
		bytes = bytes + ?, sums = sums + ?, thinned = thinned + ?, whole = max(whole, ?), first = coalesce(first, ?),
		last = coalesce(?, last), best = coalesce(?, best),
		done = iif(?, ?, done), heartbeat = ?, changed = coalesce(?, changed) WHERE run = ? AND owner = ?`,
		sum.events, sum.epochs, sum.inner, sum.bytes, sum.sums, sum.thinned, sum.whole, sum.first, sum.last, sum.best,
		sum.ended, sum.done,
		now, changed, at.run, w.owner.Token)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errRunLost)
	}
	if w.damaged {
		return nil
	}
	return rowcode.WriteChecksums(ctx, w.conn, "runs", "run = ?", at.run)
}

// startRun makes the row of a new run, or forgets the rest of one that is resumed.
func (w *Writer) startRun(ctx context.Context, at *position, e *event.RunEvent) error {
	text, err := event.EncodeEvent(*e)
	if err != nil {
		return err
	}
	at.started, at.measure = true, e.Measure()
	a, config, err := w.recorder.described()
	if err != nil {
		return err
	}
	if at.run != 0 {
		return w.forget(ctx, at, text, config)
	}
	if a.Exclusive {
		if err := claimName(ctx, w.conn, a.Name); err != nil {
			return err
		}
	}
	name, err := sqlfile.FreeName(ctx, w.conn, "runs", a.Name)
	if err != nil {
		return err
	}
	res, err := w.conn.ExecContext(ctx, `INSERT INTO runs
		(id, name, begun, changed, opening, config, command, version, `+sqlfile.OwnerColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		w.owner.Args(e.ID, rowcode.TextOrNull(name), sqlfile.FormatTime(e.Time), sqlfile.FormatTime(time.Now()),
			string(text), config,
			a.Command, a.Version)...)
	if err != nil {
		return err
	}
	w.recorder.setName(name)
	at.run, err = res.LastInsertId()
	return err
}

// ErrClaimed says that a run has the name by now that was to be this one's.
var ErrClaimed = errors.New("another process has started a run of this name meanwhile: resume that")

// claimName returns a *BusyError or errClaimed where a run has a name.
func claimName(ctx context.Context, conn *sql.Conn, name string) error {
	var id string
	err := conn.QueryRowContext(ctx, "SELECT id FROM runs WHERE name = ?", name).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err == nil:
		_, err = store.IdleRun(ctx, conn, id)
	}
	return cmp.Or(err, ErrClaimed)
}

// release gives the run up, so that another process may continue with it at once.
func (w *Writer) release() {
	if w.at.run == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	for {
		err := w.connect(ctx)
		if err == nil {
			err = sqlfile.Durably(ctx, w.conn, func() error {
				_, err := w.conn.ExecContext(
					ctx, "UPDATE runs SET owner = NULL, claimed = 0 WHERE run = ? AND owner = ?", w.at.run,
					w.owner.Token)
				return err
			})
		}
		if !sqlfile.Busy(err) || ctx.Err() != nil {
			return // a process that is gone has given it up too
		}
	}
}
