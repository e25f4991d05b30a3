package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/history"
	"newtop/tui/internal/screentest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/render"
	"newtop/tui/screen"
)

// crowd is an audience of two who control and others who look.
func crowd(lookers int, actions ...event.Action) *event.Audience {
	at := time.Unix(0, 0)
	a := &event.Audience{Actions: actions, Viewers: []event.Viewer{
		{Name: "ann", Key: "SHA256:abcdefghijklmnop", Control: true, Since: at}, {Name: "bob the builder", Key: "SHA256:ponmlkjihgfedcba", Control: true, Since: at},
	}}
	for i := range lookers {
		a.Viewers = append(a.Viewers, event.Viewer{Name: fmt.Sprint("looker ", i+1), Key: "SHA256:0123456789abcdef", Since: at})
	}
	return a
}

// newGuest returns the screen of a guest with an audience.
func newGuest(g screen.Viewer, w, h int, all *event.Audience) *desk.App {
	a := newTest(tuitest.Script{Epochs: 20}, screen.Options{NoColor: true, Viewer: &g}, w, h)
	s := a.H.Status
	s.Audience, s.RewindEpochs = all, []int{1, 2, 3}
	a.Update(came(feed.Delta{Status: s}))
	return a
}

func TestViewerScreens(t *testing.T) {
	t.Setenv("TZ", "UTC")
	for _, c := range []struct {
		name     string
		guest    screen.Viewer
		keys     []string
		retained []string
	}{
		{"viewer", screen.Viewer{Name: "looker 1"}, []string{"s"}, []string{"80x24"}},
		{"viewer-help", screen.Viewer{Name: "looker 1"}, []string{"?"}, []string{"60x16", "120x40"}},
		{"control", screen.Viewer{Name: "ann", Control: true}, nil, nil},
		{"who", screen.Viewer{Name: "ann", Control: true}, []string{":", "w", "h", "o", " ", "i", "s", "enter"}, []string{"60x16", "80x24"}},
		{"stop", screen.Viewer{Name: "ann", Control: true}, []string{":", "s", "t", "o", "p", " ", "t", "h", "e", "enter"}, nil},
		{"save", screen.Viewer{Name: "ann", Control: true, Saves: "/srv/models"}, []string{"w"}, []string{"60x16", "80x24"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range screenSizes {
				a := newGuest(c.guest, size[0], size[1], crowd(3))
				press(a, c.keys...)
				addFrame(add, strings.ReplaceAll(frameText(t, a), time.Unix(0, 0).Local().Format("15:04:05"), "HH:MM:SS"), size, c.retained)
			}
		})
	}
}

// TestViewersSendNothing presses every key, over every pane and in every overlay that a viewer can open.
func TestViewersSendNothing(t *testing.T) {
	for pane := range layout.Panes {
		a := newGuest(screen.Viewer{Name: "lou"}, 120, 40, crowd(1))
		f := a.Feed.(*tuitest.Feed)
		a.Focus = pane
		for _, zoomed := range []bool{false, true} {
			a.Zoomed = zoomed
			for i := range a.Bindings {
				for _, k := range a.Bindings[i].Keys {
					if k == "q" || k == "ctrl+c" || k == ":" || k == "ctrl+p" {
						continue
					}
					drain(a, press(a, k))
					a.Dialog = nil
				}
			}
			for _, k := range []string{"v", "r", "w", "l", "n", "b", "enter"} {
				drain(a, press(a, k))
			}
			for _, e := range paletteEntries(a) {
				if e.Kind != "command" && e.Reason == "" {
					drain(a, e.Do(a))
					a.Dialog, a.Focus, a.Zoomed = nil, pane, zoomed
				}
			}
		}
		if len(f.Commands) > 0 {
			t.Errorf("pane %d: a viewer sent %#v", pane, f.Commands)
		}
	}
}

// drain runs a command and what it brings, but for what waits.
func drain(a *desk.App, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	got := make(chan tea.Msg, 1)
	go func() { got <- cmd() }()
	select {
	case msg := <-got:
		switch msg := msg.(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				drain(a, c)
			}
		case pane.AskMsg, desk.ReplyMsg:
			_, next := a.Update(msg)
			drain(a, next)
		}
	case <-time.After(2 * time.Millisecond): // a timer's
	}
}

// TestGuestsLeave: q leaves and stops nothing, whoever presses it; the palette stops the run, once that is confirmed.
func TestGuestsLeave(t *testing.T) {
	for _, control := range []bool{false, true} {
		a := newGuest(screen.Viewer{Name: "ann", Control: control}, 80, 24, crowd(1))
		if !screentest.Quits(press(a, "q")) || len(a.Feed.(*tuitest.Feed).Commands) > 0 {
			t.Errorf("control %v: q does not just leave", control)
		}
		if cmd := press(a, "ctrl+z"); cmd != nil {
			t.Errorf("control %v: ctrl+z does something", control)
		}
	}
	stop := []string{":", "s", "t", "o", "p", " ", "t", "h", "e", "enter"}
	a := newGuest(screen.Viewer{Name: "ann", Control: true}, 80, 24, crowd(1))
	if press(a, append(stop, "esc")...); len(a.Feed.(*tuitest.Feed).Commands) > 0 || a.Dialog != nil {
		t.Error("esc does not call it off")
	}
	press(a, append(stop, "enter")...)()
	if c := a.Feed.(*tuitest.Feed).Commands; len(c) != 1 || c[0] != (event.Stop{}) {
		t.Errorf("sent %#v", c)
	}
}

// TestSavesOfGuests have bare names.
func TestSavesOfGuests(t *testing.T) {
	a := newGuest(screen.Viewer{Name: "ann", Control: true, Saves: "/srv"}, 80, 24, crowd(0))
	press(a, "w")
	for name, ok := range map[string]bool{"a.onnx": true, "a-b_c.safetensors": true, "../a.onnx": false, "/a.onnx": false, `..\a.onnx`: false, ".a.onnx": false, "-a.onnx": false} {
		press(a, "ctrl+u")
		write(a, name)
		if text := frameText(t, a); strings.Contains(text, "× expected") == ok {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	a = newGuest(screen.Viewer{Name: "ann", Control: true}, 80, 24, crowd(0))
	if press(a, "w"); a.Dialog != nil || !strings.Contains(a.Notice.Text, "--saves") {
		t.Errorf("without a directory: %q", a.Notice.Text)
	}
}

// TestDeeds come into the log once, in order, after the epoch that was done last, however many lie between two Deltas.
func TestDeeds(t *testing.T) {
	action := func(n, epoch int, what, refused string) event.Action {
		return event.Action{Number: n, Epoch: epoch, By: "ann", What: what, Refused: refused}
	}
	first := []event.Action{action(1, 0, "pause", ""), action(2, 1, "set radius 2", ""), action(3, 1, "switch to x", "no such method")}
	more := append(append([]event.Action(nil), first[1:]...), action(4, 2, "go on", ""), action(5, 2, "pause", ""))
	epoch := func(n int) event.EpochEvent { return event.EpochEvent{Epoch: n} }
	all, h := crowd(0, first...), &history.History{}
	s := event.Status{Epoch: 2, Audience: all}
	h.Apply(&feed.Delta{Status: s, Run: &event.RunEvent{}, Epochs: []event.EpochEvent{epoch(0), epoch(1), epoch(2)}})
	h.Apply(&feed.Delta{Status: s})
	s.Audience = crowd(1, more...)
	h.Apply(&feed.Delta{Status: s, Epochs: []event.EpochEvent{epoch(3)}})
	h.Apply(&feed.Delta{Status: s})
	var got []string
	for _, e := range h.Log.Entries[1:] {
		text := e.Text
		if text == "" {
			text = fmt.Sprint("epoch ", e.Epoch)
		}
		got = append(got, text)
	}
	want := []string{"epoch 0", "ann: pause", "epoch 1", "ann: set radius 2", "ann: switch to x, refused: no such method", "epoch 2",
		"ann: go on", "ann: pause", "epoch 3"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the log has\n%s", strings.Join(got, "\n"))
	}
}

// guestTerminal is a guest's end of a program.
type guestTerminal struct {
	mu     sync.Mutex
	text   bytes.Buffer
	broken error
}

func (g *guestTerminal) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken != nil {
		return 0, g.broken
	}
	return g.text.Write(p)
}

func (g *guestTerminal) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// visit runs a guest's whole program until it ends.
func visit(t *testing.T, ctx context.Context, feed feed.Feed, out *guestTerminal, resizes <-chan screen.Size, act func(keys io.Writer)) error {
	t.Helper()
	in, keys := io.Pipe()
	defer keys.Close()
	go act(keys)
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, feed, screen.Options{Input: in, Output: out, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}, Viewer: &screen.Viewer{Name: "lou"},
			Size: screen.Size{Width: 80, Height: 24}, Resizes: resizes})
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("still running")
		return nil
	}
}

func (g *guestTerminal) until(t *testing.T, what string) {
	for deadline := time.Now().Add(time.Minute); !strings.Contains(g.String(), what); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("never wrote %q", what)
			return
		}
	}
}

// TestGuestRuns drives whole programs: each restores the terminal, and leaves nothing.
func TestGuestRuns(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	const restored = "\x1b[?1049l"
	feed := func() *tuitest.Feed { return &tuitest.Feed{Deltas: tuitest.NewRun(tuitest.Script{Epochs: 4})} }
	t.Run("quit", func(t *testing.T) {
		out := &guestTerminal{}
		err := visit(t, t.Context(), feed(), out, nil, func(keys io.Writer) { out.until(t, "letters"); io.WriteString(keys, "q") })
		if err != nil || !strings.HasSuffix(out.String(), restored) {
			t.Errorf("%v; the last it wrote: %q", err, out.String()[max(0, len(out.String())-80):])
		}
	})
	t.Run("context", func(t *testing.T) {
		out := &guestTerminal{}
		ctx, cancel := context.WithCancel(t.Context())
		err := visit(t, ctx, feed(), out, nil, func(io.Writer) { out.until(t, "letters"); cancel() })
		if !errors.Is(err, context.Canceled) || !strings.HasSuffix(out.String(), restored) {
			t.Errorf("%v", err)
		}
	})
	t.Run("a terminal that is gone", func(t *testing.T) {
		gone := errors.New("gone")
		out := &guestTerminal{broken: gone}
		if err := visit(t, t.Context(), feed(), out, nil, func(io.Writer) {}); !errors.Is(err, gone) {
			t.Errorf("%v", err)
		}
	})
	t.Run("sizes", func(t *testing.T) {
		out, sizes := &guestTerminal{}, make(chan screen.Size, 1)
		err := visit(t, t.Context(), feed(), out, sizes, func(keys io.Writer) {
			out.until(t, "letters")
			io.WriteString(keys, "\x1b[48;100000;100000;0;0t") // a size among the keys is not believed
			sizes <- screen.Size{Width: 40, Height: 10}
			out.until(t, "● running")
			io.WriteString(keys, "q")
		})
		if err != nil || strings.Contains(out.String(), "100,000") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a screen that breaks", func(t *testing.T) {
		out := &guestTerminal{}
		var broke *render.PanicError
		err := visit(t, t.Context(), &panickyFeed{}, out, nil, func(io.Writer) {})
		if !errors.As(err, &broke) || !strings.Contains(string(broke.Stack), "panickyFeed") || !strings.HasSuffix(out.String(), restored) {
			t.Errorf("%v", err)
		}
	})
}

// panickyFeed breaks.
type panickyFeed struct{ tuitest.Feed }

func (*panickyFeed) Wait(context.Context) (feed.Delta, error) { panic("broken") }

// TestGuestWithoutTerminal is misuse.
func TestGuestWithoutTerminal(t *testing.T) {
	defer func() {
		if v := recover(); v == nil || !strings.HasPrefix(fmt.Sprint(v), "tui: ") {
			t.Errorf("%v", v)
		}
	}()
	_ = Run(t.Context(), &tuitest.Feed{}, screen.Options{Viewer: &screen.Viewer{}})
}
