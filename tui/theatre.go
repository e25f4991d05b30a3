package tui

import (
	"math"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// theatre is the inner pane when it has the screen: one CG solve at a time, iteration by iteration. It
// follows the run until it is walked back.
type theatre struct {
	pinned bool // looks at an iteration of its own, not at the newest
	solve  int  // of all there have been, when pinned
	at     int  // which of its kept iterations, when pinned
	first  int  // the multiple that a narrow screen begins with
	step   bool // shows the look along the step, where there is no room for both
	asked  bool // for a look, when had was the newest one
	had    *event.SliceEvent
	when   int // the epoch that was the newest then

	charts [4]chart.Canvas
	along  chart.Canvas
	spots  []stageSpot // where the multiples were drawn last
}

// stageSpot is where a multiple stands in the body, and its iterations.
type stageSpot struct {
	layout.Rect
	axis chart.MultipleAxis
}

// scene is the solve on the stage.
type scene struct {
	*Solve
	id, at  int
	before  *Solve // the newest before it that was told of, nil for none
	newest  bool   // no later solve is kept
	running bool
}

func (s *scene) now() *Step { return &s.steps[s.at] }

// scene returns what is on the stage, false when there was no solve.
func (t *theatre) scene(h *History) (scene, bool) {
	k := &h.Steps
	n := len(k.solves)
	if n == 0 || len(h.Solves.Bars) == 0 && solveless(h) { // such a method may tell of steps of its own
		return scene{}, false
	}
	i, at := max(0, min(k.front-k.gone, n-1)), math.MaxInt
	if t.pinned {
		i, at = max(0, min(t.solve-k.gone, n-1)), t.at
		if t.solve < k.gone {
			at = 0
		}
	}
	s := k.solves[i]
	var before *Solve
	for j := i - 1; j >= 0 && before == nil; j-- {
		if k.solves[j].Summary != nil {
			before = k.solves[j]
		}
	}
	return scene{
		Solve: s, before: before, id: k.gone + i, at: max(0, min(at, len(s.steps)-1)), newest: i == n-1,
		running: i == n-1 && !s.over && !h.Over(),
	}, true
}

// handleKey walks through what is kept, and asks for looks along the step.
func (t *theatre) handleKey(v *view, k string) (cmd tea.Cmd, taken bool) {
	s, ok := t.scene(v.h)
	if !ok {
		return nil, false
	}
	switch k {
	case "l":
		t.step = true
		if v.h.Watched() || v.h.Viewer {
			return ask(event.Slice{}), true // the answer says why not
		}
		if v.h.Over() {
			return nil, true
		}
		t.asked, t.had, t.when = true, v.h.Steps.slice, v.h.Latest.Epoch
		return ask(event.Slice{}), true
	case "left":
		t.walk(v.h, s.id, s.at-1)
	case "right":
		t.walk(v.h, s.id, s.at+1)
	case "up":
		t.walk(v.h, s.id, -1)
	case "down":
		t.walk(v.h, s.id+1, math.MaxInt)
	case "pgup", "pgdown":
		t.walkEpoch(v.h, &s, k == "pgdown")
	case "home":
		id := s.id
		if s.at == 0 {
			id = 0
		}
		t.pin(v.h, id, 0)
	case "end":
		t.pinned = false
	case "v":
		if t.stepping(v) {
			t.step = false
		} else {
			t.first = (t.first + 1) % len(t.charts)
		}
	case "i", "s", "space": // what these bring is the newest
		t.pinned = false
		return nil, false
	default:
		return nil, false
	}
	t.asked = false // a refusal was read in the meantime
	return nil, true
}

func (t *theatre) restart() { t.pinned, t.asked, t.had = false, false, nil }

// walk pins an iteration; before the first of a solve comes the last of the solve before, and after the last
// of all the stage follows the run again.
func (t *theatre) walk(h *History, id, at int) {
	k := &h.Steps
	i := id - k.gone
	switch {
	case at < 0 && i > 0:
		t.pin(h, id-1, math.MaxInt)
	case at < 0:
		t.pin(h, id, 0)
	case i >= len(k.solves):
		t.pinned = false
	case at != math.MaxInt && at >= len(k.solves[i].steps):
		if i+1 == len(k.solves) {
			t.pinned = false
			return
		}
		t.pin(h, id+1, 0)
	default:
		t.pin(h, id, at)
	}
}

// walkEpoch shows the nearest solve of another epoch.
func (t *theatre) walkEpoch(h *History, s *scene, forward bool) {
	by := -1
	if forward {
		by = 1
	}
	id := s.id
	for k := &h.Steps; id-k.gone >= 0 && id-k.gone < len(k.solves) && k.solves[id-k.gone].epoch == s.epoch; {
		id += by
	}
	t.walk(h, max(id, h.Steps.gone), math.MaxInt)
}

func (t *theatre) pin(h *History, id, at int) {
	k := &h.Steps
	i := max(0, min(id-k.gone, len(k.solves)-1))
	t.pinned, t.solve, t.at = true, k.gone+i, max(0, min(at, len(k.solves[i].steps)-1))
}

// handleMouse looks at the iteration that was clicked; the wheel walks.
func (t *theatre) handleMouse(v *view, msg tea.MouseMsg, x, y int) bool {
	s, ok := t.scene(v.h)
	if !ok {
		return false
	}
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			t.walk(v.h, s.id, s.at-1)
		case tea.MouseWheelDown:
			t.walk(v.h, s.id, s.at+1)
		default:
			return false
		}
		return true
	case tea.MouseClickMsg:
		for _, r := range t.spots {
			if r.Contains(x, y) && r.W > 1 {
				n := r.axis.Left + (r.axis.Right-r.axis.Left)*float64(x-r.X)/float64(r.W-1)
				t.pin(v.h, s.id, nearestStep(s.Solve, n))
				return true
			}
		}
	}
	return false
}

// nearestStep returns which kept iteration is the closest to a number.
func nearestStep(s *Solve, n float64) int {
	best := 0
	for i := range s.steps {
		if math.Abs(float64(s.steps[i].n)-n) < math.Abs(float64(s.steps[best].n)-n) {
			best = i
		}
	}
	return best
}

// stagePlan divides the room of a zoomed pane; all but the plan's rows of multiples have fixed heights.
type stagePlan struct {
	columns, lines int // of multiples
	side           int // columns of the look along the step at their right, 0 for none
	multiples      int // rows for all of them
	verdict        int
	ritz           int
	counts, bars   int
	hints          int
}

func planStage(w, h int) stagePlan {
	p := stagePlan{columns: 1, lines: 2, verdict: 1}
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

// body draws the stage.
func (t *theatre) body(v *view, p *innerPane, s *scene, w, h int) []string {
	plan := planStage(w, h)
	rows := make([]string, 0, h)
	rows = append(rows, t.title(v, s, w), t.gauge(v, s, w))
	rows = append(rows, s.words(v, w, plan.verdict)...)
	top := len(rows)
	switch {
	case plan.side > 0:
		left := t.multiples(v, s, plan, w-plan.side-2, top)
		right := t.look(v, plan.side, plan.multiples)
		for i := range left {
			rows = append(rows, style.Fit(left[i], w-plan.side-2)+"  "+right[i])
		}
	case t.stepping(v):
		t.spots = t.spots[:0]
		rows = append(rows, t.look(v, w, plan.multiples)...)
	default:
		rows = append(rows, t.multiples(v, s, plan, w, top)...)
	}
	rows = append(rows, s.ritz(v, w, plan.ritz)...)
	if plan.bars > 0 {
		p.marked = stageMarked{s.epoch, s.member, s.block}
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
func (t *theatre) stepping(v *view) bool { return t.step && v.h.Steps.slice != nil }

// multiples draws the charts of a solve, as many as the plan has places for.
func (t *theatre) multiples(v *view, s *scene, plan stagePlan, w, top int) []string {
	all := s.multiples(v)
	x := s.axis()
	for k := range all {
		x.Margin = max(x.Margin, all[k].Margin(x, w/plan.columns, plan.multiples/plan.lines))
	}
	t.spots = t.spots[:0]
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
			t.spots = append(t.spots, stageSpot{layout.Rect{X: left + x.Margin, Y: top + len(rows) + 1, W: cw - x.Margin, H: h - 1}, x})
			left += cw + 2
		}
		rows = append(rows, style.Abreast(parts, h)...)
	}
	return rows
}

func (t *theatre) hints(v *view, plan stagePlan, w int) string {
	l := v.Line(w)
	if note := t.waiting(v); note != "" && plan.side == 0 && v.h.Steps.slice == nil {
		return l.Put(style.Warn, note).Full()
	}
	keys := [][2]string{{"←→", "iteration"}, {"↑↓", "solve"}, {"l", "look along the step"}, {"end", "follow"}, {"home", "first"}, {"pgup pgdn", "epoch"}}
	switch {
	case t.stepping(v) && plan.side == 0:
		keys = [][2]string{{"l", "look again"}, {"v", "back to the iterations"}, {"←→", "iteration"}, {"↑↓", "solve"}}
	case plan.lines*plan.columns < len(t.charts):
		keys = append([][2]string{{"v", "other curves"}}, keys...)
	}
	for _, k := range keys {
		if k[0] == "l" && v.h.Unasked() && (t.stepping(v) || v.h.Steps.slice == nil) {
			continue
		}
		gap := ""
		if l.Width > 0 {
			gap = "   "
		}
		l.Group(style.Text.Of(gap), style.Accent.Of(k[0]), style.Muted.Of(" "+k[1]))
	}
	return l.Full()
}

func (t *theatre) ownKeys() [][2]string {
	return [][2]string{
		{"← →", "iteration before and after"}, {"↑ ↓", "solve before and after; pgup, pgdown: epochs"}, {"home end", "beginning; the newest again"},
		{"l", "loss along the last step"}, {"v", "another view"},
	}
}
