package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/time/rate"

	"newtop/internal/routine"
)

// output writes to a client who may be slow, but must take something within a time.
type output struct {
	ch     io.Writer
	stall  time.Duration
	hangUp func(reason string)
	mapped bool // line ends are made \r\n, as a terminal's driver does
	last   byte // that was written
}

func (o *output) Write(p []byte) (int, error) {
	late := time.AfterFunc(o.stall, routine.Guard(func() {
		o.hangUp("stalled: took no output for " + o.stall.String())
	}))
	defer late.Stop()
	for done := 0; done < len(p); {
		chunk := p[done:min(done+outputChunk, len(p))]
		late.Reset(o.stall)
		if _, err := o.ch.Write(o.lines(chunk)); err != nil {
			return done, err
		}
		done += len(chunk)
	}
	return len(p), nil
}

// lines puts \r before every \n that has none.
func (o *output) lines(p []byte) []byte {
	last := o.last
	o.last = p[len(p)-1]
	if !o.mapped || bytes.IndexByte(p, '\n') < 0 {
		return p
	}
	mapped := make([]byte, 0, len(p)+16)
	for _, b := range p {
		if b == '\n' && last != '\r' {
			mapped = append(mapped, '\r')
		}
		mapped = append(mapped, b)
		last = b
	}
	return mapped
}

// input reads what a client types, no faster than inputRate: the rest waits at the client once SSH's window is full. It
// ends with its context. One goroutine reads the channel; it ends when the channel does.
type input struct {
	ctx     context.Context
	pieces  chan []byte
	stopped chan struct{}
	rest    []byte
}

// newInput returns the input of a session. If nothing comes for idle, which may be 0 for ever, it ends the session.
func newInput(ctx context.Context, ch io.Reader, idle time.Duration, end context.CancelCauseFunc) *input {
	in := &input{ctx: ctx, pieces: make(chan []byte), stopped: make(chan struct{})}
	routine.Go(func() { in.pump(ch, idle, end) })
	return in
}

func (in *input) pump(ch io.Reader, idle time.Duration, end context.CancelCauseFunc) {
	defer close(in.pieces)
	defer func() {
		if v := recover(); v != nil {
			end(fmt.Errorf("the input broke: %v", v))
		}
	}()
	if idle > 0 {
		quiet := time.AfterFunc(idle, routine.Guard(func() { end(fmt.Errorf("idle for %s", idle)) }))
		defer quiet.Stop()
		ch = touching{ch, func() { quiet.Reset(idle) }}
	}
	allowed := rate.NewLimiter(inputRate, inputBurst)
	buffer := make([]byte, 1024)
	for {
		n, err := ch.Read(buffer)
		if n > 0 {
			if allowed.WaitN(in.ctx, n) != nil {
				return
			}
			select {
			case in.pieces <- bytes.Clone(buffer[:n]):
			case <-in.ctx.Done():
				return
			case <-in.stopped:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Read returns io.EOF when the client has ended its input or the session is over.
func (in *input) Read(p []byte) (int, error) {
	if len(in.rest) == 0 {
		select {
		case piece, ok := <-in.pieces:
			if !ok {
				return 0, io.EOF
			}
			in.rest = piece
		case <-in.ctx.Done():
			return 0, io.EOF
		}
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// stop lets the goroutine go.
func (in *input) stop() { close(in.stopped) }

// touching tells of every read.
type touching struct {
	io.Reader
	touched func()
}

func (t touching) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if n > 0 {
		t.touched()
	}
	return n, err
}
