package dashboard

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/layout"
	"newtop/tui/screen"
)

// scene is a part of the tour: a pane, what to see in it, and what is done for that.
type scene struct {
	pane layout.ID
	text string
	stay time.Duration
	does []event.Command
}

const (
	tourMethod      = "soap"
	tourEquivalents = 150 // of each racer: about a second on the built-in letters
)

var scenes = []scene{
	{layout.Loss, "the loss falls: solid for training rows, green for validation", 3 * time.Second, nil},
	{layout.Inner, "N negative curvature  B boundary  R residual  L limit: why CG ended", 4 * time.Second,
		[]event.Command{event.Pause{On: true}}},
	{layout.Loss, "o switched the method: soap goes on from these weights", 3 * time.Second,
		[]event.Command{event.Switch{Optimizer: tourMethod}, event.Pause{On: false}}},
	{layout.Spectrum, "k computed the Hessian's ends: λ ± how far off it may be", 4 * time.Second,
		[]event.Command{event.Spectrum{}}},
	{layout.Loss, "f races methods from these weights, each with the same work", 5 * time.Second,
		[]event.Command{event.Race{Racers: racers(tourMethod, "tr-newton", "adam"), Equivalents: tourEquivalents}}},
	{layout.Loss, "enter goes on with the leader. ? has all keys: it is yours now", 4 * time.Second,
		nil}, // done by pick
}

// pick goes on with the leader of the race.
func pick(a *desk.App) tea.Cmd {
	if order := a.H.Race.Ranking(false); desk.Racing(a) && len(order) > 0 {
		return a.Send(event.Pick{Racer: order[0]})
	}
	return nil
}

func racers(methods ...string) (list []event.Racer) {
	for _, m := range methods {
		list = append(list, event.Racer{Name: m, Optimizer: m})
	}
	return list
}

// sceneMsg says that a scene begins; after the last one the tour is over.
type sceneMsg int

// tour shows the scenes one after the other, from the first epoch on. Any key ends it.
type tour struct{ wanted, begun bool }

// beginTour begins the tour now.
func beginTour(*desk.App) tea.Cmd { return func() tea.Msg { return sceneMsg(0) } }

func newTour(wanted bool) *tour { return &tour{wanted: wanted} }

// Delta implements Observer.
func (t *tour) Delta(a *desk.App, _ *feed.Delta) tea.Cmd {
	if !t.wanted || t.begun || a.H.Epochs == 0 || !desk.Steerable(a) {
		return nil
	}
	return t.show(a, 0)
}

// show begins a scene, and waits for the next.
func (t *tour) show(a *desk.App, i int) tea.Cmd {
	if i == 0 {
		t.wanted, t.begun = true, true
	}
	if !t.wanted || i == len(scenes) {
		t.end(a)
		return nil
	}
	s := &scenes[i]
	a.Focus, a.Caption = s.pane, fmt.Sprintf("tour %d/%d  %s", i+1, len(scenes), s.text)
	a.Changes++
	cmds := []tea.Cmd{screen.After(a.Ctx, s.stay, sceneMsg(i+1))}
	for _, c := range s.does {
		cmds = append(cmds, a.Send(c))
	}
	if i == len(scenes)-1 {
		cmds = append(cmds, pick(a))
	}
	return tea.Batch(cmds...)
}

// end takes the caption away.
func (t *tour) end(a *desk.App) {
	if t.begun {
		t.wanted, a.Caption = false, ""
	}
}
