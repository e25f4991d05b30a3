package stream

import (
	"fmt"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/logs/files"
)

// handle carries out a viewer's command.
func (p *Player) handle(c event.Command) error {
	switch c := c.(type) {
	case event.Speed:
		if !(c.Factor >= MinSpeed && c.Factor <= MaxSpeed) {
			return refuse("a speed of %g: expected 1/64 to 4096", c.Factor)
		}
		p.speed, p.due = c.Factor, time.Now()
		p.pace()
	case event.ShowImage: // is in what the status tells
	case event.Pause, event.StepEpoch, event.Seek:
		if p.loading {
			return refuse("the run is still being read")
		}
		if err := p.move(c); err != nil {
			return err
		}
	default:
		return feed.ErrReadOnly
	}
	p.relay.Update(p.status)
	return nil
}

func refuse(format string, args ...any) error {
	return &event.CommandError{Reason: fmt.Sprintf(format, args...)}
}

// move carries out a command that changes the position or what it does.
func (p *Player) move(c event.Command) error {
	switch c := c.(type) {
	case event.Pause:
		p.step = false
		switch {
		case c.On && p.finished() && p.mode == following:
			return feed.ErrEnded
		case c.On:
			p.mode = holding
		default:
			p.resume()
		}
	case event.StepEpoch:
		if n := p.epochEnd(p.at); n > 0 {
			p.show(n)
			p.mode, p.step = holding, false
		} else if p.finished() {
			return refuse("the recorded run ends here")
		} else {
			p.show(len(p.events))
			p.mode, p.step = following, true
		}
	case event.Seek:
		p.step = false
		p.jump(p.end(c.Epoch))
		if p.mode == holding {
			break
		}
		switch {
		case p.at == len(p.events):
			p.mode = following
		case p.mode == following && p.finished():
			p.mode = holding
		default:
			p.play()
		}
	}
	return nil
}

// resume lets the run resume from where it is shown, or replays one that is over.
func (p *Player) resume() {
	switch {
	case p.at < len(p.events):
		p.play()
	case p.finished() && len(p.events) > p.opening():
		p.jump(p.opening())
		p.play()
	default:
		p.mode = following
	}
}

func (p *Player) play() {
	p.mode, p.due = playing, time.Now()
	p.pace()
}

// finished reports whether nothing more is expected to come.
func (p *Player) finished() bool { return p.done || p.complete || p.over != nil || p.stale != "" }

// jump shows the first n events and nothing else.
func (p *Player) jump(n int) {
	if n >= p.at && p.given && p.at > 0 {
		p.show(n)
		return
	}
	p.at, p.segment, p.moved, p.behind, p.given = n, 0, time.Now(), false, true
	p.epoch, p.seconds = p.position(n)
	p.relay.Restart(p.events[:n], p.status)
}

// show shows events up to the first n.
func (p *Player) show(n int) {
	if n <= p.at {
		return
	}
	from := p.at
	for p.at < n {
		p.advance()
	}
	p.moved, p.behind, p.given = time.Now(), false, true
	p.relay.Show(p.events[from:n], p.status)
}

// advance moves the position past the next event, but shows nothing.
func (p *Player) advance() {
	switch e := p.events[p.at].(type) {
	case event.EpochEvent:
		p.epoch, p.seconds = e.Epoch, after(&e, p.seconds)
	case event.RewindEvent:
		p.epoch = e.To
	}
	p.at++
}

// gap returns how many seconds of training lie before the next event: what is left of its epoch, shared evenly among
// what is left of the epoch's events.
func (p *Player) gap() float64 {
	if p.segment <= p.at {
		p.segment = p.epochEnd(p.at)
		if p.segment > 0 {
			e := p.events[p.segment-1].(event.EpochEvent)
			p.target = after(&e, p.seconds)
		}
	}
	if p.segment < 0 { // after the last whole epoch
		return 0
	}
	return max(0, p.target-p.seconds) / float64(p.segment-p.at)
}

// pace sets when the next event is due, after the one that was due last.
func (p *Player) pace() {
	if p.at < len(p.events) {
		p.due = p.due.Add(time.Duration(min(p.gap()/p.speed, longestGap) * float64(time.Second)))
	}
}

// tick shows what is due.
func (p *Player) tick(now time.Time) {
	soon := now.Sub(p.moved) < frame
	switch {
	case p.loading:
	case p.mode == following && !soon && p.at < len(p.events):
		p.follow()
	case p.mode == playing && !soon:
		p.catchUp(now)
	}
	if p.behind && now.Sub(p.moved) >= glance {
		p.moved, p.behind = now, false
		p.relay.Update(p.status)
	}
}

// follow shows the newest events, or those up to the end of the epoch if it is to hold there.
func (p *Player) follow() {
	n := len(p.events)
	if p.step {
		if end := p.epochEnd(p.at); end > 0 {
			n, p.mode, p.step = end, holding, false
		}
	}
	p.show(n)
}

// catchUp shows the events whose time has come.
func (p *Player) catchUp(now time.Time) {
	if now.Sub(p.due) > time.Second { // the program stood still
		p.due = now
	}
	from := p.at
	for p.at < len(p.events) && !p.due.After(now) {
		seconds := p.seconds + p.gap()
		p.advance()
		p.seconds = seconds
		p.pace()
	}
	if p.at == len(p.events) {
		p.mode = following
	}
	if p.at > from {
		p.moved, p.behind, p.given = now, false, true
		p.relay.Show(p.events[from:p.at], p.status)
	}
}

// wake returns when there is something to do without being asked, or the zero time.
func (p *Player) wake() (at time.Time) {
	soonest := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if p.behind {
		soonest(p.moved.Add(glance))
	}
	if p.loading {
		return at
	}
	switch {
	case p.mode == playing:
		soonest(files.Later(p.due, p.moved.Add(frame)))
	case p.mode == following && p.at < len(p.events):
		soonest(p.moved.Add(frame))
	}
	return at
}

// status makes the status that of the position.
func (p *Player) status(s *event.Status) {
	s.Phase = p.phase()
	r := &event.Replay{
		Source:   p.name,
		Live:     p.mode == following && !p.loading && !p.finished(),
		Seekable: !p.loading && p.count[anEpoch] > 0,
		Epoch:    p.epoch,
		Last:     p.lastEpoch,
		Speed:    p.speed,
		Thinned:  p.dropped,
		Quiet:    p.quiet,
		Stale:    p.stale,
		Warning:  p.warning,
	}
	if list := p.images.Load(); list != nil {
		r.Images, _ = list.Now()
	}
	if p.loading {
		r.Loading = min(p.read, 0.999)
	} else {
		r.Loading = 1
	}
	if p.timed {
		r.At, r.Length = p.seconds, p.length
	}
	s.Replay = r
}

func (p *Player) phase() event.Phase {
	switch {
	case p.loading || len(p.events) == 0:
		return event.Preparing
	case p.mode == holding:
		return event.Paused
	case p.mode == following && p.finished():
		return event.Ended
	}
	return event.Running
}
