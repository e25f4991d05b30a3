package recorder

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"newtop/internal/routine"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// About says how a run came about.
type About struct {
	Config    trainer.Config
	Command   string
	Name      string // with -2, -3 … behind it where another run has it
	Exclusive bool   // rather end the run than record it by another name
	Version   string
}

// Bounds of what waits for the disk, in bytes, and of one transaction.
const (
	maxQueue  = 64 << 20
	maxBatch  = 2 << 20
	maxEvents = 2048
	PartSize  = 2 << 20 // of a checkpoint
)

// Times of the writer.
const (
	pace       = 25 * time.Millisecond // least time between two transactions
	giveUp     = 5 * time.Second       // for Flush without any success
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Second
	lockGrace  = time.Second // of a file that is locked, before it is a warning
	minPause   = time.Second // between checkpoints
	pauseShare = 20          // and that many times what the last one took
)

// Recorder records one run. It never makes the trainer wait, and does not end a run: what goes wrong is its Warning.
// Only a run of a name that must be its alone, and is another's, ends.
//
// Record and Keep put into queue and checkpoint; one goroutine, the writer's, takes from there and writes. It begins
// with the first event, or with Continue, and ends in Flush. What it takes stays counted in the queue until
// the transaction is through.
type Recorder struct {
	store *store.Store
	about About
	Grace time.Duration // for Flush without any success

	Mu         sync.Mutex
	id         string
	name       string // as it was given in the end
	seq        int64  // the newest event's number
	Queue      queue
	commits    int // transactions so far
	answers    int // and those that failed with them
	warning    string
	cause      string // of the last warning
	refused    error  // why the run must end; nil: it must not
	onWarning  func(string)
	Checkpoint checkpointState
	Started    bool
	opened     bool // a RunEvent came
	resumed    bool // the run was begun by another recorder
	configured bool // about.Config takes the place of what is stored
	closing    bool
	closed     time.Time // since when

	wake   chan struct{} // room for one token
	Ended  chan struct{} // closed by the writer
	Cancel context.CancelFunc
	Writer *Writer // the writer's own
}

var (
	_ trainer.Keeper   = (*Recorder)(nil)
	_ trainer.Reporter = (*Recorder)(nil)
)

// checkpointState is what decides when the next checkpoint is due, and the one that waits.
type checkpointState struct {
	Pause   time.Duration // between two at least
	Share   int           // and that many times what the last one took
	Pending *Pending      // one that nobody has begun to write; a newer one takes its place
	last    time.Time     // when the newest was handed over; zero: none
	Busy    bool          // it is not on the disk yet
	took    time.Duration // to encode and write the last one
}

func newWriter(s *store.Store) *Writer {
	return &Writer{connection: connection{store: s}, owner: sqlfile.Self()}
}

func newFrom(s *store.Store, a About, w *Writer) *Recorder {
	r := &Recorder{
		store: s, about: a, Grace: giveUp, name: a.Name, Writer: w, Queue: queue{Room: maxQueue},
		Checkpoint: checkpointState{Pause: minPause, Share: pauseShare},
		wake:       make(chan struct{}, 1), Ended: make(chan struct{}),
	}
	w.recorder, w.parts.recorder, w.Bounds = r, r, Bounds{ExactEpochs / rowcode.PeakStretch, oldStretches}
	return r
}

// resumeFrom makes the run continue after an event that is not that of its newest checkpoint.
func (r *Recorder) resumeFrom(seq int64) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.opened {
		panic("store: Resumable after the first event")
	}
	r.seq, r.Writer.from = seq, seq
}

// Configure gives a run that is resumed another configuration, from its first new event on: other limits, say.
func (r *Recorder) Configure(c trainer.Config) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.about.Config, r.configured = c, true
}

// OnWarning has f called, from a goroutine of the recorder's, when writing fails and when it succeeds again (with "").
func (r *Recorder) OnWarning(f func(string)) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.onWarning = f
}

// Record implements trainer.Recorder. It returns at once, and nil unless the run was begun by the name of another one
// that must be resumed. A run that ends before its RunEvent leaves nothing.
func (r *Recorder) Record(e event.Event) error {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.closing {
		return r.refused
	}
	opening, opens := e.(event.RunEvent)
	// of which there may be any number, and the program keeps its own log
	if _, printed := e.(event.ConsoleEvent); printed {
		return nil
	}
	switch {
	case opens:
		r.open(&opening)
		e = opening
	case !r.opened:
		return nil
	}
	seq := int64(1) // of the opening, which takes the place of an older one
	if !opens {
		r.seq++
		seq = r.seq
	}
	r.Queue.append(Item{Seq: seq, Event: e, size: Weight(e)})
	r.wakeWriter()
	return nil
}

// open makes the run begin with its RunEvent. A run that is resumed keeps its ID.
func (r *Recorder) open(e *event.RunEvent) {
	if r.id != "" {
		e.ID = r.id
	}
	r.id = e.ID
	r.seq = max(r.seq, 1)
	r.opened = true
	if !r.Started {
		r.start()
	}
}

// start starts the writer.
func (r *Recorder) start() {
	r.Started = true
	ctx, cancel := context.WithCancel(context.Background())
	r.Cancel = cancel
	routine.Go(func() { r.Writer.Write(ctx) })
}

// Due implements trainer.Keeper: the first at once, then one a second, less often where writing one takes more than a
// twentieth of the time, and none while the last one waits for the disk. One is always due at the end.
func (r *Recorder) Due(end bool) bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	c := &r.Checkpoint
	return end || !c.Busy && time.Since(c.last) >= max(c.Pause, time.Duration(c.Share)*c.took)
}

// Keep implements trainer.Keeper. A checkpoint that nobody has begun to write gives way to a newer one.
func (r *Recorder) Keep(c *trainer.Checkpoint) error {
	r.EnqueueCheckpoint(&Pending{Epoch: c.Epoch, Fingerprint: c.Fingerprint, behind: c.Behind, Encode: c.MarshalBinary})
	return nil
}

// EnqueueCheckpoint has a checkpoint written behind the events before it.
func (r *Recorder) EnqueueCheckpoint(p *Pending) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.closing || !r.opened {
		return
	}
	p.Seq = r.seq - int64(p.behind)
	c := &r.Checkpoint
	c.Pending, c.last, c.Busy = p, time.Now(), true
	r.wakeWriter()
}

// Recording implements trainer.Reporter.
func (r *Recorder) Recording() event.Recording {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	name := r.name
	if name == "" {
		name = r.id
	}
	return event.Recording{
		Run: name, Path: r.store.Path(), Backlog: r.Queue.waiting(), Lost: r.Queue.lost, Warning: r.warning,
	}
}

// Stored reports whether the run is in the store, so that it is found there by its ID.
func (r *Recorder) Stored() bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.resumed || r.commits > 0
}

// Flush implements trainer.Recorder. It returns what Record does, and waits until all is written, but no longer than a
// few seconds for a disk on which nothing succeeds: what is left then is lost, and the Warning says so. The run belongs
// to nobody afterwards.
func (r *Recorder) Flush() error {
	r.Mu.Lock()
	started, before := r.Started, r.closing
	r.closing, r.closed = true, time.Now()
	refused := r.refused
	r.wakeWriter()
	r.Mu.Unlock()
	if !started || before {
		return refused
	}
	defer r.Cancel()
	for answers := -1; ; {
		select {
		case <-r.Ended:
			r.Mu.Lock()
			defer r.Mu.Unlock()
			return r.refused
		case <-time.After(r.Grace + time.Second):
		}
		r.Mu.Lock()
		hangs := r.answers == answers
		answers = r.answers
		r.Mu.Unlock()
		if hangs { // in a call of the system's, which nothing ends
			r.drop("the run is not being recorded: " + r.store.Path() + ": the disk does not answer")
			return nil
		}
	}
}

// warn changes the warning and tells of it.
func (r *Recorder) warn(text string) {
	r.Mu.Lock()
	changed, report := r.warning != text, r.onWarning
	r.warning = text
	r.Mu.Unlock()
	if changed && report != nil {
		report(text)
	}
}

// setCause keeps the cause of a warning.
func (r *Recorder) setCause(cause string) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.cause = cause
}

// refuse has the run end with an error.
func (r *Recorder) refuse(err error) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.refused, r.closing = err, true
	r.Queue.abandon()
	r.Checkpoint.Pending = nil
}

// drop forgets what can't be written any more.
func (r *Recorder) drop(reason string) {
	r.Mu.Lock()
	n := r.Queue.abandon()
	r.Checkpoint.Pending = nil
	r.closing = true
	r.Mu.Unlock()
	if n > 0 {
		reason = fmt.Sprintf("%s: the last %d events are not recorded", reason, n)
	}
	r.warn(reason)
}

// wakeWriter tells the writer that there is something to do.
func (r *Recorder) wakeWriter() {
	select {
	case r.wake <- struct{}{}:
	default: // it has been reported
	}
}

// dequeue hands the oldest events to the writer and reports whether nothing will follow those that wait.
func (r *Recorder) dequeue() (job work, closing bool) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.Queue.dequeue(), r.closing && r.Checkpoint.Pending == nil
}

// restore puts back what could not be written.
func (r *Recorder) restore(events []Item) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Queue.restore(events)
	r.answers++
}

// written counts what the writer had taken as done.
func (r *Recorder) written(job work) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.Queue.written(job)
	r.commits++
	r.answers++
}

// ending reports whether the recorder is flushed, and since when.
func (r *Recorder) ending() (since time.Time, yes bool) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.closed, r.closing
}

// described returns how the run came about, and its configuration as JSON; null for one to be left as it is.
func (r *Recorder) described() (About, sql.NullString, error) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.resumed && !r.configured {
		return r.about, sql.NullString{}, nil
	}
	text, err := json.Marshal(&r.about.Config)
	return r.about, sql.NullString{String: string(text), Valid: true}, err
}

func (r *Recorder) setName(name string) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.name = name
}
