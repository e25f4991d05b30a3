package inner

import (
	"math"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// solvePlayer is the inner pane when it has the screen: one CG solve at a time, iteration by iteration. It
// follows the run until it is walked back.
type solvePlayer struct {
	pinned    bool // looks at an iteration of its own, not at the latest
	solve     int  // of all there have been, when pinned
	at        int  // which of its kept iterations, when pinned
	first     int  // the multiple that a narrow screen begins with
	step      bool // shows the look along the step, where there is no room for both
	requested bool // for a look, when had was the latest one
	had       *event.SliceEvent
	when      int // the epoch that was the latest then

	charts [4]chart.Canvas
	along  chart.Canvas
	points []chart.Area // where in the body the multiples were drawn last
}

// solveCursor is the solve that is shown, and where in it the cursor stands.
type solveCursor struct {
	*history.Solve
	id, at  int
	before  *history.Solve // the latest before it that was told of, nil for none
	latest  bool           // no later solve is kept
	running bool
}

func (s *solveCursor) now() *history.Step { return &s.Steps[s.at] }

// cursor returns where it stands, false when there was no solve.
func (t *solvePlayer) cursor(h *history.History) (solveCursor, bool) {
	k := &h.Steps
	n := len(k.Solves)
	if n == 0 || len(h.Solves.Bars) == 0 && pane.NoSolves(h) { // such a method may tell of steps of its own
		return solveCursor{}, false
	}
	i, at := max(0, min(k.Front-k.Dropped, n-1)), math.MaxInt
	if t.pinned {
		i, at = max(0, min(t.solve-k.Dropped, n-1)), t.at
		if t.solve < k.Dropped {
			at = 0
		}
	}
	s := k.Solves[i]
	var before *history.Solve
	for j := i - 1; j >= 0 && before == nil; j-- {
		if k.Solves[j].Summary != nil {
			before = k.Solves[j]
		}
	}
	return solveCursor{
		Solve: s, before: before, id: k.Dropped + i, at: max(0, min(at, len(s.Steps)-1)), latest: i == n-1,
		running: i == n-1 && !s.Over && !h.Over(),
	}, true
}

func (t *solvePlayer) restart() { t.pinned, t.requested, t.had = false, false, nil }

// walk pins an iteration; before the first of a solve comes the last of the solve before, and after the last
// of all the player follows the run again.
func (t *solvePlayer) walk(h *history.History, id, at int) {
	k := &h.Steps
	i := id - k.Dropped
	switch {
	case at < 0 && i > 0:
		t.pin(h, id-1, math.MaxInt)
	case at < 0:
		t.pin(h, id, 0)
	case i >= len(k.Solves):
		t.pinned = false
	case at != math.MaxInt && at >= len(k.Solves[i].Steps):
		if i+1 == len(k.Solves) {
			t.pinned = false
			return
		}
		t.pin(h, id+1, 0)
	default:
		t.pin(h, id, at)
	}
}

// walkEpoch shows the nearest solve of another epoch.
func (t *solvePlayer) walkEpoch(h *history.History, s *solveCursor, forward bool) {
	by := -1
	if forward {
		by = 1
	}
	id := s.id
	for k := &h.Steps; id-k.Dropped >= 0 && id-k.Dropped < len(k.Solves) && k.Solves[id-k.Dropped].Epoch == s.Epoch; {
		id += by
	}
	t.walk(h, max(id, h.Steps.Dropped), math.MaxInt)
}

func (t *solvePlayer) pin(h *history.History, id, at int) {
	k := &h.Steps
	i := max(0, min(id-k.Dropped, len(k.Solves)-1))
	t.pinned, t.solve, t.at = true, k.Dropped+i, max(0, min(at, len(k.Solves[i].Steps)-1))
}

func (t *solvePlayer) keys() []pane.Key {
	on := func(do func(v *pane.View, s *solveCursor, k string)) func(*pane.View, string) (tea.Cmd, bool) {
		return func(v *pane.View, k string) (tea.Cmd, bool) {
			s, ok := t.cursor(v.H)
			if ok {
				do(v, &s, k)
				t.requested = false // a refusal was read in the meantime
			}
			return nil, ok
		}
	}
	return []pane.Key{
		{Show: "← →", Help: "iteration before and after", Names: []string{"left", "right"},
			Do: on(func(v *pane.View, s *solveCursor, k string) {
				t.walk(v.H, s.id, s.at+map[string]int{"left": -1, "right": 1}[k])
			})},
		{Show: "↑ ↓", Help: "solve before and after; pgup, pgdown: epochs",
			Names: []string{"up", "down", "pgup", "pgdown"}, Do: on(func(v *pane.View, s *solveCursor, k string) {
				switch k {
				case "up":
					t.walk(v.H, s.id, -1)
				case "down":
					t.walk(v.H, s.id+1, math.MaxInt)
				default:
					t.walkEpoch(v.H, s, k == "pgdown")
				}
			})},
		{Show: "home end", Help: "beginning; the latest again", Names: []string{"home", "end"},
			Do: on(func(v *pane.View, s *solveCursor, k string) {
				switch {
				case k == "end":
					t.pinned = false
				case s.at == 0:
					t.pin(v.H, 0, 0)
				default:
					t.pin(v.H, s.id, 0)
				}
			})},
		{Show: "l", Help: "loss along the last step", Names: []string{"l"}, Do: t.askSlice},
		{Show: "v", Help: "another view", Names: []string{"v"}, Do: on(func(v *pane.View, _ *solveCursor, _ string) {
			if t.stepping(v) {
				t.step = false
			} else {
				t.first = (t.first + 1) % len(t.charts)
			}
		})},
		{Names: []string{"i", "s", "space"}, Do: func(v *pane.View, _ string) (tea.Cmd, bool) {
			if _, ok := t.cursor(v.H); ok {
				t.pinned = false // what these bring is the latest
			}
			return nil, false
		}},
	}
}

// askSlice asks for the loss along the last step, and shows it.
func (t *solvePlayer) askSlice(v *pane.View, _ string) (tea.Cmd, bool) {
	if _, ok := t.cursor(v.H); !ok {
		return nil, false
	}
	t.step = true
	if v.H.Watched() || v.Viewer {
		return pane.Ask(event.Slice{}), true // the answer says why not
	}
	if v.H.Offline() {
		return nil, true
	}
	t.requested, t.had, t.when = true, v.H.Steps.Slice, v.H.Latest.Epoch
	return pane.Ask(event.Slice{}), true
}

// mouse looks at the iteration that was clicked; the wheel walks.
func (t *solvePlayer) mouse(v *pane.View, msg tea.MouseMsg, x, y int) bool {
	s, ok := t.cursor(v.H)
	if !ok {
		return false
	}
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			t.walk(v.H, s.id, s.at-1)
		case tea.MouseWheelDown:
			t.walk(v.H, s.id, s.at+1)
		default:
			return false
		}
		return true
	case tea.MouseClickMsg:
		for _, r := range t.points {
			if r.Covers(x, y) && r.W > 1 {
				t.pin(v.H, s.id, nearestStep(s.Solve, r.Value(x)))
				return true
			}
		}
	}
	return false
}

// nearestStep returns which kept iteration is the closest to a number.
func nearestStep(s *history.Solve, n float64) int {
	best := 0
	for i := range s.Steps {
		if math.Abs(float64(s.Steps[i].N)-n) < math.Abs(float64(s.Steps[best].N)-n) {
			best = i
		}
	}
	return best
}

// playerPlan divides the room of a zoomed pane; all but the plan's rows of multiples have fixed heights.
type playerPlan struct {
	columns, lines int // of multiples
	side           int // columns of the look along the step at their right, 0 for none
	multiples      int // rows for all of them
	verdict        int
	ritz           int
	counts, bars   int
	hints          int
}

func planPlayer(w, h int) playerPlan {
	p := playerPlan{columns: 1, lines: 2, verdict: 1}
	if h >= 7 {
		p.hints = 1
	}
	switch {
	case h >= 30:
		p.ritz, p.counts, p.bars = 4, 1, min(h/5, 12)
	case h >= 24:
		p.ritz, p.counts, p.bars = 1, 1, 5
	case h >= 14:
		p.ritz = 1
	}
	if w < 116 && h >= 14 {
		p.verdict = 2 // what follows from the longest reason takes two rows
	}
	if w >= 50 {
		p.columns = 2
	}
	if w >= 160 && h >= 16 {
		p.side = w / 3
	}
	p.multiples = max(0, h-2-p.verdict-p.ritz-p.counts-p.bars-p.hints)
	if p.multiples < 10 {
		p.lines = 1
	}
	return p
}

// body draws the solve under the cursor with the charts and words that there is room for.
func (t *solvePlayer) body(v *pane.View, p *Pane, s *solveCursor, w, h int) []string {
	plan := planPlayer(w, h)
	rows := make([]string, 0, h)
	rows = append(rows, t.title(v, s, w), t.gauge(v, s, w))
	rows = append(rows, s.text(v, w, plan.verdict)...)
	top := len(rows)
	switch {
	case plan.side > 0:
		left := t.multiples(v, s, plan, w-plan.side-2, top)
		right := t.profile(v, plan.side, plan.multiples)
		for i := range left {
			rows = append(rows, style.Fit(left[i], w-plan.side-2)+"  "+right[i])
		}
	case t.stepping(v):
		t.points = t.points[:0]
		rows = append(rows, t.profile(v, w, plan.multiples)...)
	default:
		rows = append(rows, t.multiples(v, s, plan, w, top)...)
	}
	rows = append(rows, s.ritz(v, w, plan.ritz)...)
	if plan.bars > 0 {
		p.marked = markedSolve{s.Epoch, s.Member, s.Block}
		rows = append(rows, p.chart(v, w, plan.bars, true)...)
	}
	if plan.counts > 0 {
		rows = append(rows, p.counts(v, v.Line(w)).Full())
	}
	if plan.hints > 0 {
		rows = append(rows, t.hints(v, plan, w))
	}
	return rows
}

// stepping reports whether the look along the step takes the place of the multiples where there is none for both.
func (t *solvePlayer) stepping(v *pane.View) bool { return t.step && v.H.Steps.Slice != nil }

// multiples draws the charts of a solve, as many as the plan has places for.
func (t *solvePlayer) multiples(v *pane.View, s *solveCursor, plan playerPlan, w, top int) []string {
	all := s.multiples(v)
	x := s.axis()
	for k := range all {
		x.Margin = max(x.Margin, all[k].Margin(x, w/plan.columns, plan.multiples/plan.lines))
	}
	t.points = t.points[:0]
	rows := make([]string, 0, plan.multiples)
	for line := range plan.lines {
		h := plan.multiples / plan.lines
		if line == 0 {
			h += plan.multiples % plan.lines
		}
		x.Labels = line == plan.lines-1
		parts := make([][]string, 0, plan.columns)
		left := 0
		for column := range plan.columns {
			k := (t.first + line*plan.columns + column) % len(all)
			cw := (w - left - 2*(plan.columns-1-column)) / (plan.columns - column)
			parts = append(parts, all[k].Draw(&v.Pen, &t.charts[k], x, cw, h))
			t.points = append(t.points, chart.Area{X: left + x.Margin, Y: top + len(rows) + 1, W: cw - x.Margin,
				H:    h - 1,
				Left: x.Left, Right: x.Right})
			left += cw + 2
		}
		rows = append(rows, style.Abreast(parts, h)...)
	}
	return rows
}

func (t *solvePlayer) hints(v *pane.View, plan playerPlan, w int) string {
	l := v.Line(w)
	if note := t.waiting(v); note != "" && plan.side == 0 && v.H.Steps.Slice == nil {
		return l.Write(style.Warn, note).Full()
	}
	keys := [][2]string{{"←→", "iteration"}, {"↑↓", "solve"}, {"l", "look along the step"}, {"end", "follow"},
		{"home", "first"}, {"pgup pgdn", "epoch"}}
	switch {
	case t.stepping(v) && plan.side == 0:
		keys = [][2]string{{"l", "look again"}, {"v", "back to the iterations"}, {"←→", "iteration"}, {"↑↓", "solve"}}
	case plan.lines*plan.columns < len(t.charts):
		keys = append([][2]string{{"v", "other curves"}}, keys...)
	}
	for _, k := range keys {
		if k[0] == "l" && v.Unasked() && (t.stepping(v) || v.H.Steps.Slice == nil) {
			continue
		}
		gap := ""
		if l.Width > 0 {
			gap = "   "
		}
		l.Group(style.Text.Of(gap), style.Accent.Of(v.Glyphs.Keys(k[0])), style.Muted.Of(" "+k[1]))
	}
	return l.Full()
}
