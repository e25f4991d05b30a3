package stream

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

// listed is a source of given events, which is asked for more where one is nil.
type listed []event.Event

func (l *listed) Next(context.Context) (event.Event, error) {
	if len(*l) == 0 {
		return nil, io.EOF
	}
	e := (*l)[0]
	*l = (*l)[1:]
	if e == nil {
		return nil, ErrNone
	}
	return e, nil
}
func (*listed) Wait(context.Context) error { return nil }
func (*listed) Read() float64              { return 0 }
func (*listed) Name() string               { return "listed" }
func (*listed) Close() error               { return nil }

// Lines of a console come as they are printed, all of them before the run's end; of a line that is written over, the
// last; of one under way, nothing before it ends.
func TestWithConsole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "console.log")
	s := WithConsole(&listed{event.EpochEvent{Epoch: 1}, nil, nil, nil, nil, nil, event.EpochEvent{Epoch: 2},
		event.DoneEvent{}}, files.Here(path))
	writes := []string{"", "a\r\n 10%\r100%\r\nb", "c\nno end"}
	var got []string
	for {
		e, err := s.Next(t.Context())
		switch e := e.(type) {
		case event.ConsoleEvent:
			got = append(got, e.Text)
		case event.EpochEvent, event.DoneEvent:
			got = append(got, e.EventType())
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, ErrNone) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(writes[0])
			writes = writes[1:]
			f.Close()
			got = append(got, "-")
		}
	}
	want := []string{"epoch", "-", "-", "a", "100%", "-", "epoch", "bc", "no end", "done"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
