// Package trainer runs training sessions: it binds a network, its data and a method, owns the weights
// while they change, takes commands and publishes events.
//
//	            Command (Do)                    Event                    Delta (Wait)
//	viewer ───────────────────► Session.Run ─────► Broadcaster ─► Mailbox ─────────────► viewer
//	        answered between      owns the      never waits          one a viewer,
//	        two inner units       weights             │              bounded
//	                                 │                ▼
//	                                 └─────► recording queue ─► Recorder (loses nothing)
//	                             Checkpoint                      a Keeper keeps checkpoints, from which
//	                                                             Resume goes on to the same bits
//
// In a Team the session runs in process 0, as ever; what is asked of rows is asked of a Linearization, in which all
// processes join, and nothing else knows how many there are.
//
// Who ends what, in this order: the context or a Stop command ends the outer iteration in progress; Run
// publishes Done; the workers of the passes are stopped; the recorders' queues are closed and Run waits until
// each has recorded its last event, once the context is cancelled for a short while only; the computation of
// the fingerprint is stopped, if it is still in progress; the status is published for the last time, with the last
// word of the record; ended is closed, after which Do answers ErrEnded; Run returns. Mailboxes outlive the run, so
// that a viewer can look at it for as long as it likes, and are closed by their viewers.
package trainer

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync/atomic"
	"time"

	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/optim"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// Session is one run. Its methods may be called from any goroutine; Run once.
type Session struct {
	config      config.Config
	info        *optim.Info
	settings    *optim.Settings
	recorders   []checkpoint.Recorder
	reporter    checkpoint.Reporter // the first of the recorders that is one; nil: none
	broadcaster feed.Broadcaster
	team        workplace.Team // nil: this process has all rows
	// What a session resumes from that Resume made.
	resumed    bool
	checkpoint *checkpoint.Checkpoint // nil: the run's start
	id         string                 // the run's; empty before it has one
	startTime  time.Time
	started    atomic.Bool
	waitsAtEnd bool // at its end, for commands that continue
	// requests is unbuffered: Do sends, Run's goroutine receives between two inner units. Nobody
	// closes it; ended tells senders that nobody receives any more. Run closes ended last.
	requests chan request
	ended    chan struct{}
	result   *trajectory.Result // set before ended is closed; nil if the run never began
	// waiting counts the calls of Do that wait for a receiver: none is what nearly every batch finds.
	waiting   atomic.Int32
	fieldName func(field string) string // nil: their own names
}

type request struct {
	command event.Command
	answer  chan error // room for one
}

// New returns a session that will train what c says, settled, and record its events in the given recorders. It
// returns the errors of Config.Check, and a *ConfigError for a patience without validation rows.
func New(c config.Config, recorders ...checkpoint.Recorder) (*Session, error) {
	c.ResolveDefaults()
	return newSession(c, recorders)
}

func newSession(c config.Config, recorders []checkpoint.Recorder) (*Session, error) {
	if err := cmp.Or(c.Check(), c.CheckResolved()); err != nil {
		return nil, err
	}
	info, settings, err := c.Method()
	if err != nil {
		return nil, err
	}
	s := &Session{
		config:    c,
		info:      info,
		settings:  settings,
		recorders: recorders,
		requests:  make(chan request),
		ended:     make(chan struct{}),
	}
	for _, r := range recorders {
		if reporter, ok := r.(checkpoint.Reporter); ok && s.reporter == nil {
			s.reporter = reporter
		}
	}
	return s, nil
}

// JoinTeam has the session train in a team. It is called before Run. A team of one is none.
//
// The metrics, decisions and checkpoints of a run are then what they are in one process, to the bit if the team adds up
// in the order of reduce.Tree, and any number of processes can resume from a checkpoint. What was spent is too, as long
// as Config.Memory, which each process may use, is enough to keep all passes, or too little for any. Batches of some of
// the rows, methods that solve for layers, committees and mixtures are refused.
func (s *Session) JoinTeam(t workplace.Team) {
	if t.Size() > 1 {
		s.team = t
	}
}

// WaitAtEnd has a run that has come to its end by itself wait for commands, by which it can continue, until its context
// ends or a Stop comes. Run returns then what it would have returned at that end. WaitAtEnd is called before Run.
func (s *Session) WaitAtEnd() { s.waitsAtEnd = true }

// PrepareError wraps what went wrong before a run began: files, data, or flags that do not fit them.
type PrepareError struct{ Err error }

func (e *PrepareError) Error() string { return e.Err.Error() }
func (e *PrepareError) Unwrap() error { return e.Err }

// Do asks for a command and returns when it was taken or refused, and with Save when the file is there. It waits for
// the inner unit in progress and no longer. After the run's end there is Save alone.
func (s *Session) Do(ctx context.Context, c event.Command) error {
	q := request{command: c, answer: make(chan error, 1)}
	if err := s.send(ctx, q); err != nil {
		if save, ok := c.(event.Save); ok && err == feed.ErrEnded {
			return s.saveLate(save.File)
		}
		return err
	}
	select {
	case err := <-q.answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ended:
	}
	select {
	case err := <-q.answer:
		return err
	default: // the run broke before it could answer
		return feed.ErrEnded
	}
}

// send waits until the run takes a request.
func (s *Session) send(ctx context.Context, q request) error {
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	select {
	case s.requests <- q:
		return nil
	case <-s.ended:
		return feed.ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Subscribe returns a mailbox that holds the history so far and gets everything from now on. The caller
// closes it.
func (s *Session) Subscribe() *feed.Mailbox { return s.broadcaster.Subscribe() }

// Feed returns the session as a viewer sees and steers it.
func (s *Session) Feed() feed.Feed { return &liveFeed{session: s, Mailbox: s.Subscribe()} }

// SetAudience tells every viewer who looks at the run, from now on and also after its end.
func (s *Session) SetAudience(a *event.Audience) { s.broadcaster.SetAudience(a) }

// NewID returns a name for a run that sorts by time and is unique enough for one user's runs.
func NewID(now time.Time) string {
	var tail [3]byte
	rand.Read(tail[:])
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString(tail[:])
}

// liveFeed is the Feed of a running session.
type liveFeed struct {
	session *Session
	*feed.Mailbox
}

func (f *liveFeed) Do(ctx context.Context, c event.Command) error { return f.session.Do(ctx, c) }

// NameFields has the session call fields by other names in what it says of errors. It is called before Run.
func (s *Session) NameFields(name func(field string) string) { s.fieldName = name }

// errorText returns what the session says of an error.
func (s *Session) errorText(err error) string {
	if s.fieldName == nil {
		return err.Error()
	}
	return config.ErrorText(err, s.fieldName)
}
