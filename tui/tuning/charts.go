package tuning

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"newtop/internal/format"
	"newtop/trainer/tune"
	"newtop/tui/chart"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// maxCurves bounds how many learning curves stand in one chart; a low one has fewer.
const maxCurves = 60

// along is the x axis of what continues in time.
func (c *charts) along() chart.Axis {
	if c.work {
		return chart.Equivalents
	}
	return chart.Seconds
}

// timed reports whether values are what it took to get to the target.
func timed(m *model) bool { return m.reached && !m.charts.measure }

// valueOf is what the charts show of a trial, NaN for nothing.
func valueOf(m *model, t *tune.Trial) float64 {
	switch {
	case !timed(m):
		return float64(t.Best)
	case m.charts.work:
		return float64(t.TargetEquivalents)
	}
	return float64(t.TargetSeconds)
}

// valueName names it.
func valueName(m *model) string {
	switch {
	case !timed(m):
		return m.measure()
	case m.charts.work:
		return "work to " + m.targetText()
	}
	return "time to " + m.targetText()
}

// ended is when a trial ended on the search's own axis, or was heard of last.
func endedAt(m *model, t *tune.Trial) float64 {
	if m.charts.work {
		return t.EndedAt
	}
	return t.Ended
}

// clocked is how far the search is on that axis, and how far it may go; 0 for no limit.
func clocked(m *model) (now, limit float64) {
	if m.charts.work {
		return m.leaderboard.Spent, m.leaderboard.MaxWork
	}
	return m.elapsed(), m.leaderboard.Budget
}

// scalePlot gives a plot the scale and the words of what it shows: the measure, or what it took to get to the target.
func scalePlot(m *model, p *chart.Plot, id layout.ID, timed bool) {
	p.Log, p.Closed, p.Above = logarithmic(m, id, timed), true, "×"
	switch {
	case timed && m.charts.work:
		p.Value, p.Above = format.Work, "none"
	case timed:
		p.Value, p.Y.Unit, p.Above = format.Span, format.SecondsUnit, "none"
	case m.leaderboard.Share():
		p.Percent()
		p.Y.Complement = m.accurate()
	}
	if !timed && p.Log && m.least <= 0 && id != tuneCurves {
		zero := m.shown(0)
		p.Y.Floor, p.Y.Bottom = m.floor, format.AxisLabels([]float64{zero}, p.Y.Unit).Of(zero)
		if m.least < 0 {
			p.Y.Bottom = "≤ 0"
		}
	}
	if !timed && m.leaderboard.Target > 0 {
		p.Rules = []float64{m.leaderboard.Target}
	}
}

// logarithmic reports whether a chart has such a scale: by itself all but those of accuracies, or as the user says.
func logarithmic(m *model, id layout.ID, timed bool) bool {
	return m.charts.linear[id] == (!timed && m.accurate())
}

// layerTrials puts the trials of the leaderboard into an order in which those that matter most are drawn last, over the
// others.
func layerTrials(m *model) {
	type layer struct {
		trial, weight int
		value         float64
	}
	all := make([]layer, len(m.rows))
	for k, i := range m.rows {
		t := &m.leaderboard.Trials[i]
		all[k] = layer{i, 0, m.loss(valueOf(m, t))}
		switch {
		case t.Number == m.number:
			all[k].weight = 3
		case t.Final:
			all[k].weight = 2
		case t.State == tune.Running || t.State == tune.Done || t.State == tune.Reached:
			all[k].weight = 1
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(a.weight-b.weight, cmp.Compare(b.value, a.value)) < 0
	})
	m.charts.layers = m.charts.layers[:0]
	for _, l := range all {
		m.charts.layers = append(m.charts.layers, l.trial)
	}
}

// levelOf is where a trial's value stands on a scale.
func levelOf(m *model, t *tune.Trial, log bool) float64 {
	if v := valueOf(m, t); v > 0 || !log || math.IsNaN(v) {
		return v
	}
	return m.floor
}

// dotOf is how a trial stands in a chart.
func dotOf(m *model, t *tune.Trial, x float64, log bool) chart.Dot {
	tag := m.tag(t)
	d := chart.Dot{X: x, Y: levelOf(m, t, log), R: []rune(tag.Text)[0], Token: tag.Token}
	switch t.State {
	case tune.Waiting:
		d.X = math.NaN()
	case tune.Diverged, tune.Failed:
		d.R, d.Token, d.Y = '×', style.Bad, math.NaN()
	case tune.Pruned, tune.Paused, tune.Stopped:
		d.Token = style.Muted
	}
	if t.Number == m.number {
		d.Token = style.Chosen
	}
	return d
}

// drawDots draws a plot whose dots are these trials, and remembers where they are.
func drawDots(m *model, id layout.ID, p chart.Plot, trials []int, r layout.Rect) []string {
	c := &m.charts.chart[id]
	rows := c.Draw(&m.Pen, p, r.W, r.H)
	at := &m.charts.dots[id]
	at.at, at.cells, at.trials = r, at.cells[:0], at.trials[:0]
	if c.Drawn.W == 0 {
		return rows
	}
	for k, i := range trials {
		if x, y, ok := p.DotCell(m.Glyphs, &c.Drawn, &p.Dots[k]); ok {
			at.cells, at.trials = append(at.cells, [2]int{x, y}), append(at.trials, i)
		}
	}
	return rows
}

// drawProgress has every trial at the time when it ended, and the best so far as a line.
func drawProgress(m *model, r layout.Rect) (title []style.Part, rows []string) {
	p := chart.Plot{XAxis: chart.XAxis{By: m.charts.along()}, Waiting: "no trial has a value yet", Detail: m.zoomed}
	scalePlot(m, &p, tuneProgress, timed(m))
	title = []style.Part{style.Strong.Of("found"), style.Muted.Of("  " + valueName(m)),
		style.Muted.Of("  by " + m.charts.along().Name()), p.ScaleWord()}
	trials := m.charts.layers
	for _, i := range trials {
		t := &m.leaderboard.Trials[i]
		p.Dots = append(p.Dots, dotOf(m, t, endedAt(m, t), p.Log))
	}
	if best := bestSoFar(m, p.Log); !best.Empty() {
		p.Add(chart.Curve{Name: "best so far", Token: style.Strong, Series: best, Mark: '_'})
	}
	const worth = 0.25 // of the limit, from which on the axis has all of it
	now, limit := clocked(m)
	if limit > 0 && now >= worth*limit && m.underway() {
		now = max(now, limit)
	}
	if now > 0 {
		p.Window = [2]float64{0, now}
	}
	return title, drawDots(m, tuneProgress, p, trials, r)
}

// bestSoFar is the least value of the trials that had ended, over the search's seconds or work: steps down.
func bestSoFar(m *model, log bool) *chart.Series {
	var ends []int
	for i := range m.leaderboard.Trials {
		t := &m.leaderboard.Trials[i]
		if t.State != tune.Failed && t.State != tune.Diverged && format.Finite(levelOf(m, t, log)) &&
			format.Finite(endedAt(m, t)) {
			ends = append(ends, i)
		}
	}
	at := func(i int) float64 { return endedAt(m, &m.leaderboard.Trials[i]) }
	slices.SortStableFunc(ends, func(i, j int) int { return cmp.Compare(at(i), at(j)) })
	s, least := &chart.Series{}, math.NaN()
	put := func(x float64) {
		if !math.IsNaN(least) {
			s.Append(chart.Position{float64(s.Points), x, x}, least)
		}
	}
	for _, i := range ends {
		if v := levelOf(m, &m.leaderboard.Trials[i], log); !(m.loss(v) >= m.loss(least)) {
			put(at(i))
			least = v
			put(at(i))
		}
	}
	now, _ := clocked(m)
	put(now)
	return s
}

// drawCurves has the learning curve of the selected trial over those of the others.
func drawCurves(m *model, r layout.Rect) (title []style.Part, rows []string) {
	along, counted := m.charts.along(), m.counts()
	if m.leaderboard.Program != nil {
		along = chart.Epochs
	}
	p := chart.Plot{XAxis: chart.XAxis{By: along, Counted: counted}, Detail: m.zoomed}
	scalePlot(m, &p, tuneCurves, false)
	title = []style.Part{style.Strong.Of("curves"), style.Muted.Of("  " + m.measure()),
		style.Muted.Of("  by " + along.Counting(counted)), p.ScaleWord()}
	others := m.rows[:min(len(m.rows), maxCurves, r.H*m.Glyphs.DotsY/2)]
	for _, i := range slices.Backward(others) {
		if t := &m.leaderboard.Trials[i]; t.Number != m.number {
			p.Add(chart.Curve{Token: style.Grid, Series: curveOf(t), Mark: '.'})
		}
	}
	if t := selected(m); t != nil {
		tag := m.tag(t)
		title = append(title, tag.Token.Of("  "+tag.Text+" #"+format.Count(t.Number)))
		p.Add(chart.Curve{Name: "#" + format.Count(t.Number), Token: tag.Token, Series: curveOf(t),
			Mark: []rune(tag.Text)[0], Tag: tag.Text})
		if seeds := repeats(m, t); len(seeds) > 1 {
			mean := chart.Mean(seeds, chart.Deviation, true)
			title = append(slices.Delete(title, 2, 3), style.Muted.Of(" "+chart.Deviation.String()+" of "+
				format.Counted(len(seeds), "seed"))) // the axis says what it counts
			p.Add(chart.Curve{Token: tag.Token, Series: &mean, Mark: '=', Thick: true})
		}
	}
	if len(others) < len(m.rows) {
		title = append(title, style.Muted.Of("  over the first "+format.Count(len(others))))
	}
	if len(p.Curves) == 0 {
		return title, []string{m.Line(r.W).To(1).Write(style.Muted, "no trial has a curve yet").Full()}
	}
	return title, m.charts.chart[tuneCurves].Draw(&m.Pen, p, r.W, r.H)
}

// repeats are the curves of the finals of a trial's setting, one for each seed.
func repeats(m *model, t *tune.Trial) (out []*chart.Series) {
	for i := range m.leaderboard.Trials {
		if f := &m.leaderboard.Trials[i]; f.Final && f.Setting == t.Setting && len(f.Curve) > 0 {
			out = append(out, curveOf(f))
		}
	}
	return out
}

// curveOf is a trial's learning curve. What a program's steps are stands in the place of equivalents.
func curveOf(t *tune.Trial) *chart.Series {
	s := &chart.Series{Buckets: make([]chart.Bucket, 0, min(len(t.Curve), chart.MaxBuckets))}
	for _, q := range t.Curve {
		s.Append(chart.Position{q.Equivalents, q.Seconds, q.Equivalents}, float64(q.Value))
	}
	return s
}
