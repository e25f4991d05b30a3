package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/plain"
)

// Lines returns a source of the lines of a pipe, or of a file that is read once to its end: newtop's events as one JSON
// object a line, JSON objects with numbers, a CSV, or text with names and numbers in it. A line that can't be read is
// passed over, which Warning then reports; a stream without any number ends with a *LineError. Close closes r if it is
// an io.Closer. A Read that can't be interrupted, as of a terminal, continues in the background until it returns.
func Lines(r io.Reader, name string) Source {
	p := &pipe{r: r, plain: plain.Reader(r), chunks: make(chan chunk), free: make(chan []byte, 3),
		stop: make(chan struct{}), live: comes(r)}
	p.lines = newLines(name)
	p.timed()
	return p
}

// pipe reads what may block. The goroutines that the first Next starts are the only ones that read; they send what came
// to chunks until the end, an error or stop. A chunk's text goes back by free when it has been used.
type pipe struct {
	lines
	r       io.Reader
	plain   io.Reader   // of what r gives, unpacked
	sides   []*sideways // what is written beside that, in the program and about it
	chunks  chan chunk
	free    chan []byte
	stop    chan struct{}
	once    sync.Once
	started bool
	live    bool   // what comes was not there before
	waiting *chunk // received by Wait
	ended   error  // after the last chunk
}

// comes reports whether what a reader gives is written as it is read: a pipe's is, a file's need not be.
func comes(r io.Reader) bool {
	if _, is := r.(*named); is {
		return true
	}
	f, ok := r.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0
}

// sideways is another reader whose lines are decoded with those of the first.
type sideways struct {
	lines
	r    io.ReadCloser
	ends bool // it has an end, which has not come: the whole ends with it and the first
}

type chunk struct {
	text []byte
	err  error     // after the text
	side *sideways // whose it is; nil: the first reader's
}

func (p *pipe) start() {
	if p.started {
		return
	}
	p.started = true
	for range cap(p.free) {
		p.free <- make([]byte, readSize)
	}
	routine.Go(func() { p.read(p.plain, nil) })
	for _, s := range p.sides {
		routine.Go(func() { p.read(s.r, s) })
	}
}

func (p *pipe) read(r io.Reader, side *sideways) {
	for {
		var buf []byte
		select {
		case buf = <-p.free:
		case <-p.stop:
			return
		}
		n, err := r.Read(buf)
		select {
		case p.chunks <- chunk{buf[:n], err, side}:
		case <-p.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *pipe) Next(ctx context.Context) (event.Event, error) {
	p.start()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e, err := p.ready(); e != nil || err != nil {
			return e, err
		}
		if p.drained() {
			return p.end()
		}
		if p.waiting == nil {
			// A moment, for what is on its way: a chunk takes longer to come than to be used.
			select {
			case c := <-p.chunks:
				p.waiting = &c
			case <-time.After(time.Millisecond):
				return p.unfinished()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		p.accept()
	}
}

// drained reports whether nothing more comes.
func (p *pipe) drained() bool {
	return p.ended != nil && !slices.ContainsFunc(p.sides, func(s *sideways) bool { return s.ends })
}

// ready returns the next event of what has come.
func (p *pipe) ready() (event.Event, error) {
	e, err := p.next()
	for _, s := range p.sides {
		if e != nil || err != nil {
			break
		}
		e, err = s.next()
	}
	return e, err
}

// unfinished returns the event of a last line whose end has not come, or of what was held back, or ErrNone.
func (p *pipe) unfinished() (event.Event, error) {
	if e, _ := p.tail(false); e != nil {
		return e, nil
	}
	if e := p.idle(); e != nil {
		return e, nil
	}
	return nil, ErrNone
}

func (p *pipe) accept() {
	c := p.waiting
	p.waiting = nil
	switch {
	case c.side != nil:
		c.side.feed(c.text)
		p.fed = c.side.fed
		c.side.ends = c.side.ends && c.err == nil
	default:
		p.feed(c.text)
		p.ended = c.err
	}
	if c.err == nil {
		p.free <- c.text[:cap(c.text)]
	}
}

func (p *pipe) end() (event.Event, error) {
	if e := p.decoder.next(); e != nil {
		return e, nil
	}
	if e, err := p.tail(true); e != nil || err != nil {
		return e, err
	}
	if errors.Is(p.ended, plain.ErrDamaged) {
		p.failed(p.ended)
		p.ended = io.EOF
	}
	if errors.Is(p.ended, io.EOF) {
		if p.finish(); p.decoder.waiting() > 0 {
			return p.decoder.next(), nil
		}
		return nil, p.over()
	}
	return nil, fmt.Errorf("%s:%d: %w", p.name, p.number+1, p.ended)
}

// finish ends a run with its pipe. A program that is run here has an exit status, and newtop's own events tell their
// end.
func (p *pipe) finish() {
	if p.live && !p.lenient && p.decoder.rows.any && !p.decoder.own {
		p.decoder.End(logs.Finished, "what wrote it has no known exit status")
	}
}

// Live reports whether nothing that comes was there before.
func (p *pipe) Live() bool { return p.live }

func (p *pipe) Wait(ctx context.Context) error {
	p.start()
	if p.waiting != nil || p.drained() {
		return ctx.Err()
	}
	var due <-chan time.Time
	if d := p.due(); d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case c := <-p.chunks:
		p.waiting = &c
		return nil
	case <-due:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read returns 0: nobody knows how much there is.
func (p *pipe) Read() float64 { return 0 }

func (p *pipe) Name() string { return p.name }

func (p *pipe) Close() error {
	p.once.Do(func() { close(p.stop) })
	for _, s := range p.sides {
		s.r.Close()
	}
	if f, ok := p.r.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = f.SetReadDeadline(time.Unix(1, 0)) // wakes a Read of a pipe; what can't be woken says so
	}
	if c, ok := p.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// named is a named pipe that is opened by its first Read, for that waits for a writer. Close may be called meanwhile.
type named struct {
	path   files.Path
	f      files.File // of the goroutine that reads; it and Close meet at mu
	mu     sync.Mutex
	closed bool
}

func (n *named) Read(b []byte) (int, error) {
	if n.f == nil {
		f, err := n.path.Open()
		if err != nil {
			return 0, err
		}
		n.mu.Lock()
		n.f = f
		closed := n.closed
		n.mu.Unlock()
		if closed {
			f.Close()
		}
	}
	return n.f.Read(b)
}

func (n *named) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	if n.f == nil {
		return nil
	}
	return n.f.Close()
}
