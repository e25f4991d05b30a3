package stream

import (
	"errors"
	"strings"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs/files/filestest"
)

// host is one whose files wait while it is away.
type host struct {
	filestest.Memory
	changed chan struct{}
	back    chan struct{}
	away    string
}

func (h *host) Away() string             { return h.away }
func (h *host) Changed() <-chan struct{} { return h.changed }

func epochsOf(t *testing.T, s Source) (n int, err error) {
	t.Helper()
	for {
		e, err := s.Next(t.Context())
		if err != nil {
			return n, err
		}
		if _, is := e.(event.EpochEvent); is {
			n++
		}
	}
}

// TestAfar: nobody waits for a host that is away, which is said, and what it has comes in its order when it is back.
func TestAfar(t *testing.T) {
	h := &host{changed: make(chan struct{}), back: make(chan struct{}), away: "gpu1 is away"}
	h.Time = time.Unix(1.7e9, 0)
	h.Write("a.csv", "loss,acc\n"+strings.Repeat("1,0\n", 1000))
	s := Afar("gpu1:a.csv", h, func() (Source, error) {
		<-h.back
		return Open(h.Path("a.csv"), "")
	})
	Lend(s, func(*event.EpochEvent) { t.Error("an epoch came before the events that wait") })
	n, err := epochsOf(t, s)
	if n != 0 || !errors.Is(err, ErrNone) || Waiting(s) != "gpu1 is away" || Warning(s) != "gpu1 is away" {
		t.Fatalf("%d epochs, %v, %q", n, err, Waiting(s))
	}
	close(h.back)
	h.away = ""
	close(h.changed)
	h.changed = make(chan struct{})
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := epochsOf(t, s); n != 1000 || !errors.Is(err, ErrNone) || Waiting(s) != "" {
		t.Errorf("%d epochs, %v, %q", n, err, Waiting(s))
	}
	h.away = "gpu1 is away"
	Final(s)
	s.(*afar).flight = make(chan flown)
	if _, err := s.Next(t.Context()); err == nil || err.Error() != h.away {
		t.Errorf("%v: expected that what is final lacks its end", err)
	}
	s.(*afar).flight = nil
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestNameOf(t *testing.T) {
	for log, want := range map[string]string{
		"runs/train.log": "train.log", "/train.log": "train.log", "a b": "a b",
		"gpu1:~/train.log": "gpu1:train.log", "gpu1:~/a/b/c.csv": "gpu1:b/c.csv", "me@gpu1:/tmp/x/": "me@gpu1:tmp/x",
		"gpu1:/x": "gpu1:/x", "gpu1:~": "gpu1:~", "[::1]:runs/a": "[::1]:runs/a",
	} {
		if got := NameOf(log); got != want {
			t.Errorf("%s: %s, expected %s", log, got, want)
		}
	}
}
