package dashboard

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"newtop/trainer"
	"newtop/tui/screen"
)

// BenchmarkKey trains the letters on all processors behind a screen of 120 × 40 and types ? as often as a hand would.
// It reports in milliseconds how long after a key the terminal has all of the frame that shows it.
func BenchmarkKey(b *testing.B) {
	for _, method := range []string{"tr-newton", "adam"} {
		b.Run(method, func(b *testing.B) {
			var waits []float64
			for range b.N {
				waits = append(waits, keysToFrames(b, trainer.Config{Optimizer: method, SpectrumEvery: 5, SpectrumShare: 0.01}, 150)...)
			}
			slices.Sort(waits)
			for name, q := range map[string]float64{"p50-ms": 0.5, "p90-ms": 0.9, "p99-ms": 0.99, "max-ms": 1} {
				b.ReportMetric(waits[int(math.Ceil(q*float64(len(waits))))-1], name)
			}
		})
	}
}

// tape keeps what is written, and when.
type tape struct {
	mu     sync.Mutex
	pieces []piece
}

type piece struct {
	at   time.Time
	text string
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pieces = append(t.pieces, piece{time.Now(), string(p)})
	return len(p), nil
}

// keysToFrames returns how many milliseconds after each key the screen showed what it does.
func keysToFrames(b *testing.B, c trainer.Config, keys int) (waits []float64) {
	const w, h = 120, 40
	s, err := trainer.New(c)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	in, typed := io.Pipe()
	f, out := s.Feed(), &tape{}
	o := screen.Options{Input: in, Output: out, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8", "COLORTERM=truecolor"}}
	a := New(f, o)
	a.Throttle()
	ended := make(chan error, 2)
	go func() { ended <- s.Run(ctx) }()
	go func() {
		ended <- a.Base.Run(ctx, a, o, tea.WithWindowSize(w, h), tea.WithColorProfile(colorprofile.TrueColor))
	}()
	defer func() {
		cancel()
		<-ended
		<-ended
		f.Close()
		typed.Close()
		a.Close()
	}()
	time.Sleep(2 * time.Second)
	var at []time.Time
	for k := range keys { // ? and the same key again, which closes it
		at = append(at, time.Now())
		if _, err := io.WriteString(typed, "?"); err != nil {
			b.Fatal(err)
		}
		time.Sleep(time.Duration(90+k*37%60) * time.Millisecond)
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	e := vt.NewEmulator(w, h)
	go io.Copy(io.Discard, e)
	next := 0
	for i, k := range at {
		want := i%2 == 0
		for ; next < len(out.pieces) && out.pieces[next].at.Before(k); next++ {
			e.Write([]byte(out.pieces[next].text))
		}
		shown := false
		for ; next < len(out.pieces) && !shown; next++ {
			e.Write([]byte(out.pieces[next].text))
			if shown = strings.Contains(ansi.Strip(e.Render()), "esc closes") == want; shown {
				waits = append(waits, out.pieces[next].at.Sub(k).Seconds()*1e3)
			}
		}
		if !shown {
			b.Fatalf("key %d never shows", i)
		}
	}
	return waits
}
