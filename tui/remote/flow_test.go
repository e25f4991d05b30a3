package remote

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

func TestOutputMapsLineEnds(t *testing.T) {
	for _, mapped := range []bool{true, false} {
		var b bytes.Buffer
		o := &output{ch: &b, stall: time.Minute, hangUp: func(string) {}, mapped: mapped}
		for _, s := range []string{"a\nb\r", "\nc\r\n", "", "\n", strings.Repeat("x", 3*outputChunk), "\n"} {
			if n, err := io.WriteString(o, s); n != len(s) || err != nil {
				t.Errorf("%d of %d, %v", n, len(s), err)
			}
		}
		want := "a\nb\r\nc\r\n\n" + strings.Repeat("x", 3*outputChunk) + "\n"
		if mapped {
			want = "a\r\nb\r\nc\r\n\r\n" + strings.Repeat("x", 3*outputChunk) + "\r\n"
		}
		if b.String() != want {
			t.Errorf("mapped %v: %.40q", mapped, b.String())
		}
	}
}

// A writer that takes some now and then is slow; one that takes nothing is hung up.
func TestOutputStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		hung := 0
		o := &output{ch: w, stall: time.Minute, hangUp: func(string) { hung++; w.Close(); r.Close() }}
		go func() {
			for range 8 {
				time.Sleep(59 * time.Second)
				io.ReadFull(r, make([]byte, outputChunk))
			}
		}()
		if _, err := o.Write(make([]byte, 8*outputChunk)); err != nil || hung != 0 {
			t.Errorf("slow for longer than a stall: %v, hung up %d times", err, hung)
		}
		if _, err := o.Write([]byte("x")); err == nil || hung != 1 {
			t.Errorf("stalled: %v, hung up %d times", err, hung)
		}
	})
}

func TestInput(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	in := newInput(ctx, r, 0, cancel)
	defer in.stop()
	go func() {
		io.WriteString(w, "abc")
		w.Close()
	}()
	if text, err := io.ReadAll(in); string(text) != "abc" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	cancel(nil)
}

// A screen that has ended does not wait for a key.
func TestInputEndsWithSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer w.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		in := newInput(ctx, r, 0, cancel)
		defer in.stop()
		time.AfterFunc(time.Second, func() { cancel(nil) })
		if n, err := in.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestInputIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer w.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		in := newInput(ctx, r, 3*time.Second, cancel)
		defer in.stop()
		go io.Copy(io.Discard, in)
		start := time.Now()
		for range 4 {
			time.Sleep(time.Second)
			w.Write([]byte("x"))
		}
		<-ctx.Done()
		if after := time.Since(start); after != 7*time.Second || context.Cause(ctx).Error() != "idle for 3s" {
			t.Errorf("ended after %v: %v", after, context.Cause(ctx))
		}
	})
}

// Whoever sends without end is read at a steady rate, and what is not read is not kept.
func TestInputRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		flood := &endless{}
		in := newInput(ctx, flood, 0, cancel)
		defer in.stop()
		time.AfterFunc(10*time.Second, func() { cancel(nil) })
		n, _ := io.Copy(io.Discard, in)
		synctest.Wait() // for the pump's end
		if most := int64(inputBurst + 10*inputRate); n < most-1024 || flood.sent > most+1024 {
			t.Errorf("%d bytes taken, %d read: expected %d", n, flood.sent, most)
		}
	})
}

// So is a connection, whatever comes on it.
func TestClientRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		c := &client{Conn: near, bytes: rate.NewLimiter(clientRate, clientBurst), stage: admitted}
		go func() {
			far.Write(make([]byte, clientBurst+3*clientRate))
			far.Close()
		}()
		start := time.Now()
		// As large a piece as a packet may be is read at once.
		if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{c}, make([]byte, 1<<18)); err != nil {
			t.Error(err)
		}
		if took := time.Since(start).Round(time.Millisecond); took != 3*time.Second {
			t.Errorf("read in %v", took)
		}
	})
}

type endless struct{ sent int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.sent += int64(len(p))
	return len(p), nil
}
