//go:build unix

package stream

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"newtop/trainer/event"
)

// runProgram runs a program to its end and returns what it told.
func runProgram(t *testing.T, beside Beside, args ...string) (out []event.Event) {
	t.Helper()
	p, err := Start(args, beside)
	if err != nil {
		t.Fatal(err)
	}
	return toldBy(t, p)
}

func toldBy(t *testing.T, p *Program) (out []event.Event) {
	t.Helper()
	defer p.Close()
	for {
		e, err := p.Next(t.Context())
		switch {
		case errors.Is(err, io.EOF):
			return out
		case errors.Is(err, ErrNone):
			err = p.Wait(t.Context())
		case err == nil:
			out = append(out, e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What a program writes into its log right before its end is read.
func TestLastNumbers(t *testing.T) {
	for range 20 {
		var text bytes.Buffer
		dir := t.TempDir()
		loss := event.Absent
		for _, e := range runProgram(t, Beside{Dir: dir, Console: &text}, "sh", "-c",
			`pwd; echo '{"step":1,"loss":0.5}' > $NEWTOP_LOG`) {
			if e, is := e.(event.EpochEvent); is {
				loss = e.Loss
			}
		}
		if loss != 0.5 || strings.TrimSpace(text.String()) != dir {
			t.Fatalf("loss %v, console %q, in %s", loss, &text, dir)
		}
	}
}

// What a program printed is read, however late, also where a child of it holds its terminal.
func TestReadLate(t *testing.T) {
	for _, child := range []string{"", "sleep 9 & "} {
		p, err := Start([]string{"sh", "-c", child + "echo step 1 loss 0.5; echo step 2 loss 0.25"}, Beside{})
		if err != nil {
			t.Fatal(err)
		}
		<-p.ended
		time.Sleep(2 * drainPatience)
		steps := 0
		for _, e := range toldBy(t, p) {
			if _, is := e.(event.EpochEvent); is {
				steps++
			}
		}
		if steps != 2 {
			t.Errorf("after %q: %d steps", child, steps)
		}
	}
}

// written passes on what is written to it.
type written chan string

func (w written) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// End leaves nothing of a program that does not end by itself, its children included.
func TestEnd(t *testing.T) {
	said := make(written, 100)
	p, err := Start([]string{"sh", "-c", `(trap "" TERM HUP; sleep 60) & echo $!; wait`}, Beside{Console: said})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Wait(t.Context()); err != nil { // which begins to read
		t.Fatal(err)
	}
	text := ""
	for !strings.Contains(text, "\n") {
		text += <-said
	}
	child, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	p.End()
	for syscall.Kill(child, 0) == nil { // until its new parent has taken note
		if state, _ := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat"); bytes.Contains(state, []byte(") Z")) {
			break
		}
	}
}
