package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"newtop/trainer/event"
)

// writer writes what a Recorder has gathered. Its own goroutine alone uses it.
type writer struct {
	recorder *Recorder
	store    *Store
	owner    owner

	db         *sql.DB // nil while closed
	conn       *sql.Conn
	prepared   map[string]*sql.Stmt
	insertions map[string]insertion
	bounds     bounds

	from     int64 // of a run that is gone on with: its events after this one are forgotten
	name     string
	damaged  bool // the row of a run that is gone on with, which stays marked as such
	at       place
	queued   *encoded      // a checkpoint to write
	encoding chan *encoded // where the one being encoded comes from; nil: none is
	beaten   time.Time     // of the last transaction
	failing  time.Time     // since when nothing succeeds; zero: all is well
	flaw     string        // what is wrong with the last checkpoint
}

// place is what the writer knows of the run after its last transaction.
type place struct {
	run     int64 // the row; 0: none yet
	measure event.Measure
	best    *event.EpochEvent
	stretch stretch
	begun   bool // this recorder has written an event
	thinning
}

// work is one transaction's.
type work struct {
	events []item
	size   int   // their bytes in the queue
	next   int64 // number of the first event that still waits behind them
	part   bool  // write the next part of the queued checkpoint
	lost   int   // events that could not be written as JSON
}

// errTaken says that the run belongs to somebody else now, or is no more.
var errTaken = errors.New("the run was removed, or another process has taken it over")

// write runs until the recorder is flushed.
func (w *writer) write(ctx context.Context) {
	defer close(w.recorder.ended)
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
			w.failing = time.Time{}
			w.recorder.warn(w.flaw)
			continue
		case errors.Is(err, errTaken), permanent(err):
			w.recorder.abandon(w.complaint(err))
			return
		case is[*BusyError](err), errors.Is(err, errClaimed):
			w.recorder.refuse(w.store.wrap(ctx, err))
			return
		}
		w.recorder.restore(job.events)
		if w.failing.IsZero() {
			w.failing = time.Now()
		}
		if !busy(err) {
			w.disconnect()
		}
		if !busy(err) || time.Since(w.failing) >= lockGrace {
			w.recorder.warn(w.complaint(err))
		}
		if w.hopeless() {
			w.recorder.abandon(w.complaint(err))
			return
		}
		w.pause(wait)
		wait = min(2*wait, lastRetry)
	}
	w.release()
}

// hopeless reports whether a recorder that is flushed has waited long enough, which is less long for what has failed
// since long before.
func (w *writer) hopeless() bool {
	flushed, ending := w.recorder.ending()
	grace := w.recorder.grace
	if flushed.Sub(w.failing) > grace {
		grace /= 5
	}
	if w.failing.After(flushed) {
		flushed = w.failing
	}
	return ending && time.Since(flushed) >= grace
}

// complaint is the warning of an error.
func (w *writer) complaint(err error) string {
	cause := w.store.wrap(context.Background(), err).Error()
	w.recorder.blame(cause)
	return "the run is not being recorded: " + cause
}

// pause waits before the next attempt, less long when the recorder is flushed.
func (w *writer) pause(wait time.Duration) {
	if _, ending := w.recorder.ending(); ending {
		wait = min(wait, 100*time.Millisecond)
	}
	time.Sleep(wait)
}

// next waits for something to do: events, a part of a checkpoint, or a sign of life. It returns false when all is
// written and the recorder is flushed.
func (w *writer) next(ctx context.Context) (work, bool) {
	r := w.recorder
	for {
		w.breathe()
		w.encode()
		job, closing := r.take()
		// The row of a checkpoint must not come before the events that it stands behind.
		job.part = w.queued != nil && (w.at.begun || len(job.events) > 0) &&
			(!w.queued.last() || job.next > w.queued.seq)
		switch {
		case len(job.events) > 0 || job.part:
			return job, true
		case closing && w.encoding == nil:
			return work{}, false
		}
		select {
		case <-r.wake:
		case e := <-w.encoding:
			w.encoding, w.queued = nil, e
		case <-time.After(time.Until(w.beaten.Add(beat))):
			return work{}, true
		}
	}
}

// breathe waits until the next transaction may begin: events are gathered for a while, and where there are many, or a
// checkpoint is written in parts, other processes get at the file in between.
func (w *writer) breathe() {
	r := w.recorder
	r.mu.Lock()
	ending, behind := r.closing, len(r.queue.items) >= maxEvents
	r.mu.Unlock()
	if ending || !w.failing.IsZero() {
		return
	}
	wait := pace
	if w.queued != nil || behind {
		wait = pace / 8
	}
	time.Sleep(time.Until(w.beaten.Add(wait)))
}

// encode takes a checkpoint that is encoded, and begins to encode one that waits, beside the writer, as a large one
// takes a while.
func (w *writer) encode() {
	select {
	case e := <-w.encoding:
		w.encoding, w.queued = nil, e
	default:
	}
	if w.encoding != nil || w.queued != nil {
		return
	}
	r := w.recorder
	r.mu.Lock()
	p := r.checkpoint.pending
	r.checkpoint.pending = nil
	r.mu.Unlock()
	if p == nil {
		return
	}
	done := make(chan *encoded, 1)
	w.encoding = done
	go func() { done <- p.run() }()
}

// do carries one transaction out.
func (w *writer) do(ctx context.Context, job work) error {
	if err := w.connect(ctx); err != nil {
		return err
	}
	if w.at.run == 0 && len(job.events) == 0 {
		w.beaten = time.Now()
		return nil
	}
	if w.queued != nil && w.queued.err != nil && job.part {
		// Not the disk's fault, so that trying again is of no use.
		w.flaw = fmt.Sprintf("the run can't be resumed from epoch %d: %v", w.queued.epoch, w.queued.err)
		w.endCheckpoint()
		job.part = false
	}
	after := w.at
	begin := time.Now()
	write := func() error {
		return transact(ctx, w.conn, func(ctx context.Context,
			conn *sql.Conn) error {
			return w.fill(ctx, &after, &job)
		})
	}
	var err error
	if job.part && w.queued.last() {
		err = lastingly(ctx, w.conn, write)
	} else {
		err = write()
	}
	if err != nil {
		return err
	}
	w.at = after
	w.beaten = time.Now()
	w.recorder.written(job)
	if job.part {
		w.wrotePart(w.beaten.Sub(begin))
	}
	return nil
}

// fill does the work of a transaction. What it learns goes to at.
func (w *writer) fill(ctx context.Context, at *place, job *work) error {
	events := job.events
	if len(events) > 0 && !at.begun {
		opening, ok := events[0].event.(event.RunEvent)
		if !ok {
			panic("store: the first event is no RunEvent")
		}
		if err := w.begin(ctx, at, &opening); err != nil {
			return err
		}
		events = events[1:]
	}
	sum, err := w.insertEvents(ctx, at, events)
	if err != nil {
		return err
	}
	if err := w.thin(ctx, at, &sum); err != nil {
		return err
	}
	job.lost = sum.lost
	if job.part {
		if err := w.insertPart(ctx, at.run); err != nil {
			return err
		}
	}
	now := formatTime(time.Now())
	changed := sql.NullString{String: now, Valid: len(job.events) > 0 || job.part}
	res, err := w.exec(ctx, `UPDATE runs SET events = max(events, ?), epochs = epochs + ?, inner = inner + ?,
		bytes = bytes + ?, sums = sums + ?, thinned = thinned + ?, whole = max(whole, ?), first = coalesce(first, ?), last = coalesce(?, last), best = coalesce(?, best),
		done = iif(?, ?, done), heartbeat = ?, changed = coalesce(?, changed) WHERE run = ? AND owner = ?`,
		sum.events, sum.epochs, sum.inner, sum.bytes, sum.sums, sum.thinned, sum.whole, sum.first, sum.last, sum.best,
		sum.ended, sum.done,
		now, changed, at.run, w.owner.token)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, errTaken)
	}
	if w.damaged {
		return nil
	}
	return seal(ctx, w.conn, "runs", "run = ?", at.run)
}

// begin makes the row of a new run, or forgets the rest of one that is gone on with.
func (w *writer) begin(ctx context.Context, at *place, e *event.RunEvent) error {
	text, err := event.EncodeEvent(*e)
	if err != nil {
		return err
	}
	at.begun, at.measure = true, e.Measure()
	a, config, err := w.recorder.described()
	if err != nil {
		return err
	}
	if at.run != 0 {
		return w.forget(ctx, at, text, config)
	}
	if a.Sole {
		if err := claimName(ctx, w.conn, a.Name); err != nil {
			return err
		}
	}
	name, err := freeName(ctx, w.conn, "runs", a.Name)
	if err != nil {
		return err
	}
	res, err := w.conn.ExecContext(ctx, `INSERT INTO runs
		(id, name, begun, changed, opening, config, command, version, `+ownerColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		w.owner.args(e.ID, textOrNull(name), formatTime(e.Time), formatTime(time.Now()), string(text), config,
			a.Command, a.Version)...)
	if err != nil {
		return err
	}
	w.recorder.setName(name)
	at.run, err = res.LastInsertId()
	return err
}

// errClaimed says that a run has the name by now that was to be this one's.
var errClaimed = errors.New("another process has begun a run of this name meanwhile, which is to be gone on with")

// claimName returns a *BusyError or errClaimed where a run has a name.
func claimName(ctx context.Context, conn *sql.Conn, name string) error {
	var id string
	err := conn.QueryRowContext(ctx, "SELECT id FROM runs WHERE name = ?", name).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err == nil:
		_, err = idleRun(ctx, conn, id)
	}
	return cmp.Or(err, errClaimed)
}

// freeName returns the name, with a number behind it where a row of the table has it.
func freeName(ctx context.Context, conn *sql.Conn, table, name string) (string, error) {
	for i, try := 2, name; ; i++ {
		var taken bool
		err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM main."+table+" WHERE name = ?)", try).Scan(
			&taken)
		if err != nil || !taken {
			return try, err
		}
		try = fmt.Sprintf("%s-%d", name, i)
	}
}

// connect opens the database where it is not open, and makes sure that its file is where it was.
func (w *writer) connect(ctx context.Context) (err error) {
	if err := w.store.same(); err != nil || w.conn != nil {
		return err
	}
	if w.db == nil {
		if w.db, err = openDB(w.store.Path(), "rw", writePatience); err != nil {
			return err
		}
	}
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	w.conn, w.prepared = conn, map[string]*sql.Stmt{}
	return nil
}

// disconnect makes the next attempt begin with a fresh connection.
func (w *writer) disconnect() {
	for _, s := range w.prepared {
		s.Close()
	}
	w.prepared = nil
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
	if w.db != nil {
		w.db.Close()
		w.db = nil
	}
}

// statement returns a prepared statement.
func (w *writer) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if s := w.prepared[text]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(ctx, text)
	if err == nil {
		w.prepared[text] = s
	}
	return s, err
}

// release gives the run up, so that another process may go on with it at once.
func (w *writer) release() {
	if w.at.run == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), giveUp)
	defer cancel()
	for {
		err := w.connect(ctx)
		if err == nil {
			err = lastingly(ctx, w.conn, func() error {
				_, err := w.conn.ExecContext(
					ctx, "UPDATE runs SET owner = NULL, claimed = 0 WHERE run = ? AND owner = ?", w.at.run,
					w.owner.token)
				return err
			})
		}
		if !busy(err) || ctx.Err() != nil {
			return // a process that is gone has given it up too
		}
	}
}
