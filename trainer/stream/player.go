package stream

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/logs/images"
)

// Options say how a source is shown. The zero value opens it at its newest event and follows it.
type Options struct {
	Replay bool    // begin at the first epoch and replay it
	Speed  float64 // times as fast as it ran, MinSpeed to MaxSpeed; 0: 1
	// Writer finds the process that has a log open for writing; nil: nobody knows.
	Writer func(path string) (pid int, ok bool)
}

// The speeds of a replay.
const (
	MinSpeed = 1.0 / 64
	MaxSpeed = 4096
)

const (
	// longestGap is how long a replay shows nothing new at most, in seconds on the screen; longer ones are cut.
	longestGap = 2.0
	// frame is how often new events are shown at most, glance how often the status alone is, and pulse how often a
	// source that grows is read.
	frame  = 20 * time.Millisecond
	glance = 100 * time.Millisecond
	pulse  = 50 * time.Millisecond
)

// Player shows a source. Run reads it; the feeds of viewers come from Feed.
//
// While it loads what is there, viewers get the status alone. Then it shows the newest event and follows the run. Its
// viewers can pause, and continue later, behind the run until they have caught up with it or seek its end; step to the
// end of the next epoch; go to any epoch; and set the speed. A replay takes as long as the training took, by the
// epochs' elapsed seconds, with the inner iterations spread evenly between; gaps of more than two seconds on the screen
// are cut to that, and an epoch that tells no time takes a tenth of a second. Letting the run continue at the end of
// one that is over replays it from the first epoch. What is kept of a long run is bounded; it is shown and replayed
// downsampled.
type Player struct {
	source   Source
	options  Options
	relay    *feed.Relay
	started  atomic.Bool
	requests chan request  // unbuffered; Do sends, Run receives, nobody closes it
	ended    chan struct{} // closed by Run last
	images   atomic.Pointer[images.List]
	state
}

type request struct {
	command event.Command
	answer  chan error // room for one
}

// mode is what the position does.
type mode uint8

const (
	following mode = iota // stands at the newest event
	playing               // moves towards it
	holding               // stays
)

// state belongs to Run's goroutine.
type state struct {
	history
	mode    mode
	at      int     // how many of the events are shown
	epoch   int     // the newest one shown
	seconds float64 // training seconds shown, between epochs too
	segment int     // up to which event the epoch under way goes; −1: it has no end yet; not more than at: unknown
	target  float64 // training seconds at that end
	step    bool    // hold after the next epoch
	speed   float64

	loading  bool
	given    bool // whether viewers have seen events
	back     int  // after a restart: the epoch to hold or continue at; −1: the newest
	name     string
	read     float64
	stale    string
	quiet    time.Time
	warning  string
	over     error // why no more will come
	complete bool  // quiet at the end of the length that the log names

	pictures int // images that the log has

	due    time.Time // when the next event is shown while playing
	moved  time.Time // when viewers were last given something
	behind bool      // whether the status is not the newest
}

// NewPlayer returns a player of s, which its Run closes.
func NewPlayer(s Source, o Options) *Player {
	p := &Player{source: s, options: o, requests: make(chan request), ended: make(chan struct{})}
	p.relay = feed.NewRelay(p.do)
	p.state = state{name: s.Name(), speed: o.Speed, loading: true, back: -1}
	if o.Speed == 0 {
		p.speed = 1
	}
	p.speed = min(max(p.speed, MinSpeed), MaxSpeed)
	return p
}

// Feed returns a feed for one viewer. It answers Pause, StepEpoch, Seek and Speed, every other command with
// trainer.ErrReadOnly, and when Run has returned with trainer.ErrEnded.
func (p *Player) Feed() feed.Feed { return p.relay.Feed() }

// SetAudience says who looks at the run.
func (p *Player) SetAudience(a *event.Audience) {
	p.relay.Update(func(s *event.Status) { s.Audience = a })
}

// Run reads and plays until the context ends. It returns the context's error, or the source's: at once if that comes
// before any event, else when the context has ended.
func (p *Player) Run(ctx context.Context) error {
	if !p.started.CompareAndSwap(false, true) {
		panic("stream: Player.Run called twice")
	}
	defer close(p.ended)
	defer p.source.Close()
	ctx, cancel := context.WithCancel(ctx)
	batches := make(chan batch, 2)
	routine.Go(func() { p.fetch(ctx, batches) })
	defer func() {
		cancel()
		for range batches {
		}
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	p.relay.Update(p.status)
	coming := (<-chan batch)(batches)
	for {
		if wake := p.wake(); wake.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(time.Until(wake))
		}
		select {
		case b, open := <-coming:
			if !open {
				coming = nil
				break
			}
			p.accept(&b)
			if p.failed() && len(p.events) == 0 {
				return p.over
			}
		case q := <-p.requests:
			q.answer <- p.handle(q.command)
		case now := <-timer.C:
			p.tick(now)
		case <-ctx.Done():
			if p.failed() {
				return p.over
			}
			return ctx.Err()
		}
	}
}

// failed reports whether the source ended with an error.
func (p *Player) failed() bool { return p.over != nil && !errors.Is(p.over, io.EOF) }

// do hands a viewer's command to Run.
func (p *Player) do(ctx context.Context, c event.Command) error {
	if show, is := c.(event.ShowImage); is {
		if list := p.images.Load(); list != nil {
			list.Show(show) // on the viewer's goroutine
		}
	}
	q := request{command: c, answer: make(chan error, 1)}
	select {
	case p.requests <- q:
		return <-q.answer // Run answers what it has received
	case <-p.ended:
		return feed.ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// batch is what the source gave at one go.
type batch struct {
	events         []event.Event
	err            error // after the events; nil: there is more at once
	name           string
	read           float64
	stale, warning string
	quiet          time.Time
	alive          bool // a process has the log open
	images         *images.List
}

const batchEvents = 4096

// fetch is the reader: the one goroutine that asks the source.
func (p *Player) fetch(ctx context.Context, out chan<- batch) {
	defer close(out)
	var failed error // of Wait
	w := witness{writer: p.options.Writer}
	for {
		due := time.After(pulse)
		b := gather(ctx, p.source)
		if errors.Is(b.err, ErrNone) {
			switch alive, gone := w.look(b.name, Written(p.source), time.Now()); {
			case gone:
				b.stale = writerGone
			case alive:
				b.stale, b.alive = "", true
			}
		}
		if failed != nil {
			b.err = failed
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case out <- b:
		case <-ctx.Done():
			return
		}
		switch {
		case b.err == nil || errors.Is(b.err, ErrRestart):
		case errors.Is(b.err, ErrNone):
			if err := p.source.Wait(ctx); err != nil && ctx.Err() == nil {
				failed = err
			}
			select {
			case <-due:
			case <-ctx.Done():
			}
		default:
			return
		}
	}
}

// gather takes events until none is there, there are enough, or some time has passed.
func gather(ctx context.Context, source Source) (b batch) {
	started := time.Now()
	for b.err == nil && len(b.events) < batchEvents {
		if len(b.events)%256 == 255 && time.Since(started) > frame {
			break
		}
		e, err := source.Next(ctx)
		if b.err = err; err == nil && e != nil {
			b.events = append(b.events, e)
		}
	}
	b.name, b.read = source.Name(), source.Read()
	if b.err != nil {
		b.stale, b.quiet, b.warning = Stale(source), quietSince(Written(source)), Warning(source)
		b.images = Images(source)
	}
	return b
}

// accept adds what came, and shows it where the newest is shown.
func (p *Player) accept(b *batch) {
	p.name, p.read = b.name, b.read
	for _, e := range b.events {
		p.receive(e)
	}
	if p.done { // nothing more is missed
		b.stale = ""
	}
	if b.err != nil {
		p.behind = p.behind || p.stale != b.stale || p.warning != b.warning || p.quiet != b.quiet
		p.stale, p.warning, p.quiet = b.stale, b.warning, b.quiet
		p.complete = !b.alive && complete(p.run, p.firstEpoch, p.lastEpoch, b.quiet)
	}
	if b.images != nil {
		p.images.Store(b.images)
		_, count := b.images.Now()
		p.behind = p.behind || count != p.pictures
		p.pictures = count
	}
	p.behind = p.behind || p.loading || len(b.events) > 0
	switch {
	case b.err == nil:
	case errors.Is(b.err, ErrRestart):
		p.forget()
	case errors.Is(b.err, ErrNone):
		p.loaded()
	default:
		p.finish(b.err)
		p.loaded()
	}
	p.tick(time.Now())
}

// finish notes that no more will come.
func (p *Player) finish(err error) {
	p.over, p.behind = err, true
	switch {
	case p.failed():
		p.stale = err.Error()
	case !p.done && p.stale == "":
		p.stale = unended
	}
}

// unended is why no more comes of a run that did not say its end.
const unended = "the stream has ended, without an end of the run"

// writerGone is why no more comes of a log that a process had open which has ended.
const writerGone = "its writer is gone"

// receive adds one event. A stream that does not say what it is gets a name; a second run takes the place of the first.
func (p *Player) receive(e event.Event) {
	run, is := e.(event.RunEvent)
	name := NameOf(p.name)
	switch {
	case !is && len(p.events) == 0:
		p.add(event.RunEvent{Version: 1, Data: event.DataInfo{Name: name}})
	case is && p.run != nil && p.run.ID != "" && p.run.ID != run.ID:
		p.forget()
	}
	if is && run.Data.Name == "" {
		run.Data.Name = name
		e = run
	}
	p.add(e)
	if p.full() {
		p.at, p.segment = p.downsample(p.at), 0
	}
}

// forget makes what came so far void. Viewers keep it until there is something else to show.
func (p *Player) forget() {
	if p.mode != following && !p.loading {
		p.back = p.epoch
	}
	p.history, p.at, p.segment, p.loading = history{}, 0, 0, true
}

// loaded shows what is there when it has been read for the first time.
func (p *Player) loaded() {
	if !p.loading {
		return
	}
	p.loading = false
	n := len(p.events)
	switch {
	case p.back >= 0:
		n = p.end(p.back)
	case p.options.Replay:
		p.options.Replay = false
		n, p.mode = p.opening(), playing
	}
	p.back = -1
	if p.given {
		p.jump(n)
	} else if n > 0 {
		p.show(n)
	}
	if p.mode == playing {
		p.play()
	}
}

// witness finds out whether the process is gone that wrote a log. It belongs to fetch.
type witness struct {
	writer func(path string) (pid int, ok bool) // nil: nobody knows
	asked  time.Time
	seen   bool // a process had the log open for writing
	gone   bool
}

// idle is for how long nothing has to be written before the witness asks, and between two questions.
const idle = 10 * time.Second

// look returns whether a log has a writer, or had one that is gone; neither where none was ever seen, as one may open
// it for each line.
func (w *witness) look(name string, written, now time.Time) (alive, gone bool) {
	if w.writer == nil || written.IsZero() {
		return false, false
	}
	quiet := now.Sub(written) >= idle
	if !quiet {
		w.gone = false
	}
	news := !w.seen && w.asked.Before(written) || w.seen && quiet && !w.gone
	if w.asked.IsZero() || news && now.Sub(w.asked) >= idle {
		_, open := w.writer(name)
		w.asked, w.seen = now, w.seen || open
		w.gone = quiet && w.seen && !open
	}
	return w.seen && !w.gone, w.gone
}
