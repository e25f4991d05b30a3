package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"newtop/internal/nightly"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/render"
	"newtop/tui/screen"
)

// openFeed is a feed that counts those of it that are open.
type openFeed struct {
	feed.Feed
	open *atomic.Int64
}

func (f openFeed) Close() { f.open.Add(-1); f.Feed.Close() }

// commonOf is what is common to the viewers of a relay, with a count of its open feeds.
func commonOf(r *feed.Relay) (c *desk.Common, open *atomic.Int64) {
	open = &atomic.Int64{}
	return desk.NewCommon(func() feed.Feed { open.Add(1); return openFeed{r.Feed(), open} }, &render.Budget{}), open
}

// silent is a feed that brings nothing.
type silent struct{ tuitest.Feed }

func (*silent) Wait(ctx context.Context) (feed.Delta, error) {
	<-ctx.Done()
	return feed.Delta{}, ctx.Err()
}

// TestCommonScreens does random things to screens that share what they draw, and the same to screens that draw for
// themselves. They look alike all the time.
func TestCommonScreens(t *testing.T) {
	rounds := nightly.Of(120, 40)
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 9))
		c := desk.NewCommon(func() feed.Feed { return &silent{} }, nil)
		f := c.Feed()
		type pair struct{ shared, alone *desk.App }
		var pairs []pair
		for _, v := range []screen.Viewer{{Name: "lou"}, {Name: "liz"}, {Name: "ann", Control: true}, {Name: "bob", Control: true}} {
			p := pair{newCommonTest(v), newCommonTest(v)}
			p.shared.Join(c)
			p.alone.H = p.shared.H
			pairs = append(pairs, p)
		}
		h := pairs[0].alone.H
		for _, d := range tuitest.NewRun(tuitest.Script{Epochs: 8, Spectra: true}) {
			c.Apply(h, &d, nil)
		}
		for round := range rounds {
			if r.IntN(3) == 0 {
				e := tuitest.Epoch(h.Latest.Epoch+1, 4, r)
				s := h.Status
				s.Epoch, s.Audience = e.Epoch, crowd(r.IntN(3))
				c.Apply(h, &feed.Delta{Status: s, Epochs: []event.EpochEvent{e}}, nil)
			}
			for i, p := range pairs {
				alike(t, p.shared, p.alone, fmt.Sprintf("seed %d, round %d, screen %d", seed, round, i))
				for range r.IntN(3) {
					msg := anyMessage(r)
					update(p.shared, msg)
					update(p.alone, msg)
					if r.IntN(3) == 0 {
						p.shared.Dialog, p.alone.Dialog = nil, nil
					}
					alike(t, p.shared, p.alone, fmt.Sprintf("seed %d, round %d, screen %d, %v", seed, round, i, msg))
				}
			}
		}
		f.Close()
	}
}

// alike fails if a screen that shares what it draws differs from one that does not.
func alike(t *testing.T, shared, alone *desk.App, where string) {
	t.Helper()
	got, want := desk.Frame(shared).Rows, desk.Frame(alone).Rows
	for y := range want {
		if len(got) != len(want) || got[y] != want[y] {
			t.Fatalf("%s, pane %d, zoomed %v, dialog %T, row %d:\n%s\nexpected\n%s", where, shared.Focus, shared.Zoomed, shared.Dialog, y, got[min(y, len(got)-1)], want[y])
		}
	}
}

func newCommonTest(v screen.Viewer) *desk.App {
	a := newApp(&tuitest.Feed{}, screen.Options{Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}, Viewer: &v}, tuitest.Methods())
	a.Clock = func() time.Time { return time.Unix(0, 0) }
	a.Close()
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return a
}

func anyMessage(r *rand.Rand) tea.Msg {
	switch r.IntN(8) {
	case 0:
		sizes := [][2]int{{80, 24}, {120, 40}, {60, 16}, {40, 10}, {170, 50}}
		s := sizes[r.IntN(len(sizes))]
		return tea.WindowSizeMsg{Width: s[0], Height: s[1]}
	case 1:
		m := tea.Mouse{X: r.IntN(100), Y: r.IntN(30), Button: tea.MouseButton(r.IntN(6))}
		return []tea.Msg{tea.MouseClickMsg(m), tea.MouseReleaseMsg(m), tea.MouseMotionMsg(m), tea.MouseWheelMsg(m)}[r.IntN(4)]
	case 2:
		return screentest.Typed([]string{"tab", "z", "esc", "y", "T", "m", "left", "down"}[r.IntN(8)])
	case 3:
		return desk.ReplyMsg{Err: []error{nil, feed.ErrReadOnly, errors.New("no")}[r.IntN(3)]}
	}
	return screentest.Typed(fuzzKeys[r.IntN(len(fuzzKeys))])
}

// TestCommonHistory: many viewers have one feed of the run, which is closed behind the last one; each sees what was
// before.
func TestCommonHistory(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	r := feed.NewRelay(nil)
	for _, d := range tuitest.NewRun(tuitest.Script{Epochs: 4}) {
		r.Show(tuitest.EventsOf([]feed.Delta{d}), func(s *event.Status) { *s = d.Status })
	}
	c, open := commonOf(r)
	for range 2 {
		first, second := c.Feed(), c.Feed()
		for _, f := range []feed.Feed{first, second, second} {
			if f == second {
				r.Update(func(s *event.Status) { s.Elapsed++ })
			}
			if d, err := f.Wait(t.Context()); err != nil || d.Status.Epoch != 4 || len(d.Epochs) > 0 {
				t.Errorf("%+v, %v", d.Status, err)
			}
		}
		if n := open.Load(); n != 1 {
			t.Errorf("%d feeds are open for two viewers", n)
		}
		first.Close()
		first.Close()
		if _, err := first.Wait(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("a closed feed: %v", err)
		}
		second.Close()
		if n := open.Load(); n != 0 {
			t.Errorf("%d feeds are open for nobody", n)
		}
	}
}

// TestSavesAreTold to viewers who were there, each once.
func TestSavesAreTold(t *testing.T) {
	r := feed.NewRelay(nil)
	c, _ := commonOf(r)
	f := c.Feed()
	defer f.Close()
	r.Add(event.SavedEvent{File: "a.onnx"})
	var got []string
	for deadline := time.Now().Add(time.Minute); len(got) < 2 && time.Now().Before(deadline); {
		d, err := f.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Saved {
			got = append(got, s.File)
			r.Add(event.SavedEvent{File: "b.onnx"})
		}
	}
	late := c.Feed()
	defer late.Close()
	if d, err := late.Wait(t.Context()); err == nil && len(d.Saved) > 1 || strings.Join(got, " ") != "a.onnx b.onnx" {
		t.Errorf("told %v; one who came later %v", got, d.Saved)
	}
}

// TestViewersShareTheHistory has viewers of a long run, and holds what each takes of the heap to a bound that a history
// of their own would be beyond many times.
func TestViewersShareTheHistory(t *testing.T) {
	const viewers, most = 12, 400e3
	r, source := feed.NewRelay(nil), rand.New(rand.NewPCG(1, 1))
	for _, d := range tuitest.NewRun(tuitest.Script{Epochs: 8}) {
		r.Show(tuitest.EventsOf([]feed.Delta{d}), func(s *event.Status) { *s = d.Status })
	}
	events := make([]event.Event, feed.MaxEpochs)
	for i := range events {
		events[i] = tuitest.Epoch(9+i, 4, source)
	}
	r.Show(events, func(s *event.Status) { s.Epoch = 8 + len(events) })
	events = nil
	c, _ := commonOf(r)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, viewers+1)
	look := func() {
		f, out := c.Feed(), &guestTerminal{}
		in, keys := io.Pipe()
		t.Cleanup(func() { keys.Close() })
		go func() {
			defer f.Close()
			ended <- RunViewer(ctx, c, f, screen.Options{Input: in, Output: out, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"},
				Viewer: &screen.Viewer{Name: "lou"}, Size: screen.Size{Width: 80, Height: 24}})
		}()
		out.until(t, "epoch")
	}
	look()
	before := heap()
	for range viewers {
		look()
	}
	if each := (heap() - before) / viewers; each > most {
		t.Errorf("a viewer takes %.0f kB", each/1000)
	}
	cancel()
	for range viewers + 1 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// heap is how many bytes are in use.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// TestBrokenScreenOfAll: what breaks one screen leaves nothing half drawn to the others.
func TestBrokenScreenOfAll(t *testing.T) {
	c := desk.NewCommon(func() feed.Feed { return &silent{} }, nil)
	f := c.Feed()
	defer f.Close()
	a := newCommonTest(screen.Viewer{Name: "lou"})
	a.Join(c)
	for _, d := range tuitest.NewRun(tuitest.Script{Epochs: 8}) {
		c.Apply(a.H, &d, nil)
	}
	before := desk.Frame(a).Rows
	g := &viewerModel{App: a, renderer: render.NewRenderer(io.Discard, nil, nil)}
	a.Dialog = undrawable{}
	if g.Update(frameMsg{}); g.failure == nil {
		t.Fatal("nothing broke")
	}
	a.Dialog = nil
	if after := desk.Frame(a).Rows; &after[0] == &before[0] || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("later\n%s\nexpected\n%s, drawn again", after, before)
	}
}

// undrawable is a dialog that breaks.
type undrawable struct{ screen.Dialog[*desk.App] }

// TestBrokenFeedOfAll: a feed that breaks is told to every viewer, and breaks nothing else.
func TestBrokenFeedOfAll(t *testing.T) {
	c := desk.NewCommon(func() feed.Feed { return &panickyFeed{} }, nil)
	f := c.Feed()
	defer f.Close()
	var err error
	for range 2 {
		if _, err = f.Wait(t.Context()); err != nil {
			break
		}
	}
	if broke := (*render.PanicError)(nil); !errors.As(err, &broke) || broke.Value != "broken" {
		t.Errorf("%v", err)
	}
}
