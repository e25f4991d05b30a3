// Package replay plays a watched run on its screen: the bar that says where in the run that is, and the keys that move
// it.
package replay

import (
	"math"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/history"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// Bar shows where in a watched run its screen is, and plays it: where its track was drawn last, and what was asked for
// since the latest status.
type Bar struct {
	layout.Rect         // of the track; empty while there is none
	requested   bool    // epoch and speed are newer than the status
	epoch       int     // that was asked for
	speed       float64 // likewise
}

// trackShare is the part of a run that is shown, or while it is being read, the part that is.
func trackShare(h *history.History) float64 {
	if share, ok := h.Loading(); ok {
		return share
	}
	r := h.Status.Replay
	if r.Last <= 0 {
		return 1
	}
	return math.Max(0, math.Min(float64(r.Epoch)/float64(r.Last), 1))
}

// Hide implements Bar.
func (b *Bar) Hide() { b.Rect = layout.Rect{} }

// Delta implements Observer: a status that follows the latest answer has what was asked for.
func (b *Bar) Delta(a *desk.App, _ *feed.Delta) tea.Cmd {
	b.requested = b.requested && a.Busy
	return nil
}

// Line draws where in a watched run that is, how fast it is played, and what it is read from. named adds the
// method, which has no other place on a small screen.
func (b *Bar) Line(a *desk.App, w int, named bool) string {
	const least = 8 // columns of the track
	h, r := a.H, a.H.Status.Replay
	l := a.Line(w)
	l.Write(style.Text, " ")
	if named && h.Status.Optimizer != "" {
		l.Group(style.Strong.Of(style.Clean(h.Status.Optimizer)), style.Muted.Of("  "))
	}
	if r.Speed != 1 && r.Speed > 0 && !r.Live && r.Seekable {
		l.Write(style.Strong, "×"+format.Tick(format.Round(r.Speed, 4))+"  ")
	}
	var tail []style.Part
	for _, tail = range barTails(a) {
		if l.Left()-style.Width(tail)-3 >= least {
			break
		}
	}
	track := l.Left() - style.Width(tail) - 3
	row := layout.HeaderRows
	if named {
		row--
	}
	b.Rect = layout.Rect{}
	if track > 0 {
		b.Rect = layout.Rect{X: l.Width, Y: row, W: track, H: 1}
		at := int(math.Round(trackShare(h) * float64(track-1)))
		l.Write(style.Accent, style.Repeat("━", at)).Write(style.Focus, "●").Write(
			style.Grid, style.Repeat("─", track-1-at))
	}
	l.To(w - style.Width(tail) - 1)
	for _, p := range tail {
		l.Write(p.Token, p.Text)
	}
	return l.Full()
}

// barTails are the ways to say where the bar is, the fullest first.
func barTails(a *desk.App) [][]style.Part {
	r := a.H.Status.Replay
	if _, loading := a.H.Loading(); loading {
		return [][]style.Part{{style.Muted.Of(style.Clean(r.Source))}, nil}
	}
	here, all := format.Count(r.Epoch), ""
	if !r.Live || r.Last > r.Epoch {
		all = format.Count(r.Last)
	}
	long := []style.Part{style.Muted.Of(a.H.Run.Counted() + " "), style.Strong.Of(here)}
	brief := []style.Part{style.Strong.Of(here)}
	goal := 0 // that no other row tells
	if all == "" && desk.BarRows(a) == 0 {
		goal = a.H.Status.EpochLimit
	}
	if goal > 0 {
		long = append(long, style.Muted.Of(" of "+format.Count(goal)))
		brief = append(brief, style.Muted.Of("/"+format.Count(goal)))
	}
	if all != "" {
		long = append(long, style.Muted.Of(" of "+all))
		brief = append(brief, style.Muted.Of("/"+all))
	}
	shortest := brief
	if r.Length > 0 {
		time := format.Clock
		if r.Length < 60 {
			time = func(s float64) string { return strconv.FormatFloat(s, 'f', 1, 64) + " s" }
		}
		at := style.Text.Of("  " + time(r.At))
		if long = append(long, at); all != "" {
			long = append(long, style.Muted.Of(" of "+time(r.Length)))
		}
		if brief = append(brief[:len(brief):len(brief)], at); all != "" {
			brief = append(brief, style.Muted.Of("/"+time(r.Length)))
		}
	}
	if goal > 0 {
		long = append(long, desk.Remaining(a, "  left ")...)
		brief = append(brief[:len(brief):len(brief)], desk.Remaining(a, "  left ")...)
	}
	source := long
	if desk.BarRows(a) > 0 && (a.H.Run == nil || r.Source != a.H.Run.Data.Name) { // else the first row says it
		source = append(long[:len(long):len(long)], style.Muted.Of("  "+style.Clean(r.Source)))
	}
	return [][]style.Part{source, long, brief, shortest}
}

// unseekable is why a watched run can't be played back at present.
func unseekable(a *desk.App) string {
	r := a.H.Status.Replay
	switch _, loading := a.H.Loading(); {
	case a.Closed:
		return "the feed is closed"
	case r == nil:
		return "the run is trained here: only a recorded one can be played back"
	case loading:
		return "the record is still being read"
	case !r.Seekable:
		return "this source can't be played back"
	}
	return ""
}

// ask remembers what is asked for, so that the next key resumes from there, and has charts follow at once.
func (b *Bar) ask(a *desk.App, epoch int, speed float64) {
	b.requested, b.epoch, b.speed = true, epoch, speed
	a.Touch()
}

// replayed is where a watched run is, or was asked to be.
func (b *Bar) replayed(a *desk.App) (epoch int, speed float64) {
	if b.requested {
		return b.epoch, b.speed
	}
	return a.H.Status.Replay.Epoch, a.H.Status.Replay.Speed
}

// seek goes to an epoch of a watched run.
func (b *Bar) seek(a *desk.App, epoch int) tea.Cmd {
	_, speed := b.replayed(a)
	epoch = max(0, min(epoch, a.H.Status.Replay.Last))
	b.ask(a, epoch, speed)
	return a.Send(event.Seek{Epoch: epoch})
}

// seekEnd goes to the latest epoch and follows a run that resumes from there, a paused one too.
func (b *Bar) seekEnd(a *desk.App) tea.Cmd {
	r := a.H.Status.Replay
	if a.H.Status.Phase != event.Paused || a.H.Done != nil || r.Stale != "" && r.Epoch >= r.Last {
		return b.seek(a, r.Last)
	}
	return tea.Batch(a.Send(event.Pause{On: false}), b.seek(a, r.Last))
}

// seekBy continues or back by a part of the run, by an epoch at least.
func (b *Bar) seekBy(a *desk.App, part float64) tea.Cmd {
	epoch, _ := b.replayed(a)
	by := max(1, int(math.Abs(part)*float64(a.H.Status.Replay.Last)))
	if part < 0 {
		by = -by
	}
	return b.seek(a, epoch+by)
}

// hasten changes how fast a run is replayed.
func (b *Bar) hasten(a *desk.App, factor float64) tea.Cmd {
	const slowest, fastest = 1.0 / 64, 4096
	epoch, speed := b.replayed(a)
	if !(speed > 0) {
		speed = 1
	}
	speed = math.Max(slowest, math.Min(speed*factor, fastest))
	b.ask(a, epoch, speed)
	return a.Send(event.Speed{Factor: speed})
}

// Click goes to the place of the bar that was clicked; false if it is elsewhere.
func (b *Bar) Click(a *desk.App, x, y int) (tea.Cmd, bool) {
	if a.Dialog != nil || !a.H.Watched() || b.W < 2 || !b.Contains(x, y) {
		return nil, false
	}
	if reason := unseekable(a); reason != "" {
		return a.Notify(style.Warn, reason), true
	}
	at := float64(x-b.X) / float64(b.W-1)
	return b.seek(a, int(math.Round(at*float64(a.H.Status.Replay.Last)))), true
}

func seekable(a *desk.App) bool { return desk.Replays(a) && unseekable(a) == "" }

// Bindings play a watched run.
func (b *Bar) Bindings() []*screen.Binding[*desk.App] {
	by := func(part float64, back ...string) func(*desk.App, string) tea.Cmd {
		return func(a *desk.App, k string) tea.Cmd {
			if slices.Contains(back, k) {
				return b.seekBy(a, -part)
			}
			return b.seekBy(a, part)
		}
	}
	list := []*screen.Binding[*desk.App]{
		desk.Bind(desk.GroupReplay, "s", "show the next epoch, and pause", "s").
			On(func(a *desk.App, _ string) tea.Cmd { a.Touch(); return a.Send(event.StepEpoch{}) }).
			FooterBy(func(a *desk.App) string { return "next " + a.H.Run.Counted() }).While(seekable),
		desk.Bind(desk.GroupReplay, ", .", "back and on by 1 %, or an epoch", ",", ".").
			On(by(0.01, ",")).Footer("back, on").While(seekable).
			By([2]string{",", "back by 1 %, or an epoch"}, [2]string{".", "on by 1 %, or an epoch"}),
		desk.Bind(desk.GroupReplay, "< >", "back and on by 10 %", "<", ">", "shift+,", "shift+.").
			On(by(0.1, "<", "shift+,")).
			By([2]string{"<", "back by 10 %"}, [2]string{">", "on by 10 %"}),
		desk.Bind(desk.GroupReplay, "home end", "the first epoch, the latest one", "home", "end").
			On(func(a *desk.App, k string) tea.Cmd {
				if k == "home" {
					return b.seek(a, 0)
				}
				return b.seekEnd(a)
			}).By([2]string{"home", "go to the first epoch"}, [2]string{"end", "go to the latest epoch"}),
		desk.Bind(desk.GroupReplay, "+ -", "twice or half as fast", "+", "=", "-", "_").
			On(func(a *desk.App, k string) tea.Cmd {
				if k == "-" || k == "_" {
					return b.hasten(a, 0.5)
				}
				return b.hasten(a, 2)
			}).Footer("speed").While(seekable).By([2]string{"+", "replay faster, twice as fast"},
			[2]string{"-", "replay slower, half as fast"}),
		desk.Bind(desk.GroupReplay, "u", "choose an epoch to go to", "u").
			On(func(a *desk.App, _ string) tea.Cmd { dialogs.OpenRewind(a, b.seek); return nil }).Footer("go to").While(
			seekable),
	}
	for i := range list {
		list[i] = list[i].Unless(unseekable).Only(desk.Replays)
	}
	return list
}

// PlayBinding plays and pauses a watched run.
func (b *Bar) PlayBinding() *screen.Binding[*desk.App] {
	word := func(a *desk.App) string {
		switch {
		case a.H.Over():
			return "play from the start"
		case a.H.Status.Phase == event.Paused:
			return "play"
		}
		return "pause"
	}
	return desk.Use(desk.GroupReplay, "play and pause; at the end from the start", screen.Toggle).
		On(func(a *desk.App, _ string) tea.Cmd {
			a.Touch()
			return a.Send(event.Pause{On: a.H.Status.Phase == event.Running})
		}).FooterBy(word).While(seekable).Unless(unseekable).Only(desk.Replays)
}
