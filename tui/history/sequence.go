package history

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// sequence takes in a Delta's epochs with what happened between them, which the Delta holds kind by kind. The numbers
// are how many of each kind were taken in.
type sequence struct {
	*History
	d    *feed.Delta
	done []event.Action // by those who look at the run

	switches, settings, spectra, rewinds, races, resumes, saved, actions int
}

// Apply adds what is new. The order within a Delta is: run, epochs with the switches, settings and
// spectra that belong after them, the end.
func (h *History) Apply(d *feed.Delta) { (&sequence{History: h, d: d}).apply() }

// apply takes in all of it.
func (q *sequence) apply() {
	d := q.d
	defer func(over bool) {
		if over != q.Over() { // of an interrupted run without an event of its own
			q.Gen.Epoch++
			q.Gen.Inner++
		}
	}(q.Over())
	if d.Restart {
		q.restart(d.Run)
	}
	if d.Run != nil {
		q.Run, q.Measure = d.Run, d.Run.Measure()
		q.Gen.Run++
		q.Log.Say(0, style.Text, "%s", strings.Join(RunText(d.Run), " · "))
		for _, note := range d.Run.Data.Notes {
			q.Log.Say(0, style.Text, "%s", style.Clean(note))
		}
	}
	q.done = newActions(q.History, d.Status.Audience)
	q.applyStatus(&d.Status)
	q.play()
	for i := range d.Laps { // of the latest race: a lap 0 begins each racer again
		q.Race.lap(&d.Laps[i], q.Measure)
	}
	for i := range d.Epochs {
		q.Earlier.apply(q.History, &d.Epochs[i])
		q.trained.add(d.Epochs[i].Epoch, float64(d.Epochs[i].Elapsed))
	}
	q.Analyses.apply(d)
	q.Console.apply(d.Console)
	q.Curves.Machine.apply(d.Machine)
	for i := range d.Inner {
		q.iteration(&d.Inner[i])
	}
	q.Steps.apply(d)
	if d.Thinned > 0 {
		q.Thinned += d.Thinned
	}
	q.end(d)
}

// play goes through the epochs in order.
func (q *sequence) play() {
	d := q.d
	for _, e := range d.Cuts {
		q.void(e)
	}
	for i := range d.Epochs {
		e := &d.Epochs[i]
		if q.resume(e) && (q.rewinds == len(d.Rewinds) || d.Rewinds[q.rewinds].Epoch > q.Latest.Epoch) {
			q.more(e)
			continue
		}
		for q.Epochs > 0 && q.rewinds < len(d.Rewinds) && e.Epoch <= q.Latest.Epoch {
			q.rewind()
		}
		if q.Epochs > 0 && e.Epoch <= q.Latest.Epoch {
			q.before(q.Latest.Epoch + 1)
			q.cut(e.Epoch - 1)
		}
		q.before(e.Epoch)
		q.Log.full = len(d.Epochs)-i > maxLog
		q.epoch(e)
	}
	for q.rewinds < len(d.Rewinds) {
		q.rewind()
	}
	q.before(math.MaxInt)
}

// rewind takes in the next rewind.
func (q *sequence) rewind() {
	q.before(q.Latest.Epoch + 1)
	q.rewound(q.d.Rewinds[q.rewinds].To)
	q.rewinds++
}

// before takes in what belongs before an epoch. Changes and spectra that a rewind to come would take away are not in a
// Delta, so that those of later epochs than it goes back to belong after it.
func (q *sequence) before(epoch int) {
	d := q.d
	marks := epoch
	for _, e := range d.Rewinds[q.rewinds:] {
		marks = min(marks, e.To+1)
	}
	for ; q.actions < len(q.done) && q.done[q.actions].Epoch < epoch; q.actions++ {
		q.Log.action(&q.done[q.actions])
	}
	for ; q.resumes < len(d.Resumes) && d.Resumes[q.resumes].Epoch < epoch; q.resumes++ {
		q.resumed(&d.Resumes[q.resumes])
	}
	for ; q.races < len(d.Races) && d.Races[q.races].Epoch < epoch; q.races++ {
		q.raced(&d.Races[q.races])
	}
	for ; q.switches < len(d.Switches) && d.Switches[q.switches].Epoch < marks; q.switches++ {
		q.switched(d.Switches[q.switches])
	}
	for ; q.settings < len(d.Settings) && d.Settings[q.settings].Epoch < marks; q.settings++ {
		q.setting(&d.Settings[q.settings])
	}
	for ; q.spectra < len(d.Spectra) && d.Spectra[q.spectra].Epoch < marks; q.spectra++ {
		q.spectrum(d.Spectra[q.spectra])
	}
	for ; q.saved < len(d.Saved) && d.Saved[q.saved].Epoch < epoch; q.saved++ {
		q.fileSaved(&d.Saved[q.saved])
	}
}

// applyStatus takes in the run's status.
func (q *sequence) applyStatus(s *event.Status) {
	if s.Computing != q.Status.Computing {
		q.Gen.Spectrum++
		if q.Status.Computing == "spectrum" && s.Phase == event.Paused && len(q.d.Spectra) == 0 {
			q.Log.Say(s.Epoch, style.Muted, "no spectrum: the pause cut it")
		}
	}
	if s.Optimizer != q.Status.Optimizer {
		q.Gen.Epoch++
	}
	if !slices.Equal(s.Settings, q.Status.Settings) {
		q.Gen.Setting++
	}
	if s.Unit != q.Status.Unit || s.Phase != q.Status.Phase {
		q.Gen.Inner++
	}
	q.Log.recording(&q.Status, &s.Recording)
	if begun := q.Status.Replay == nil && s.Replay != nil; begun || s.Replay != nil &&
		reading(q.Status.Replay) != reading(s.Replay) {
		q.Gen.Run++ // what empty panes say is another thing now
	}
	q.Log.replay(q.Status.Replay, s.Replay)
	q.Status = *s
}

func (q *sequence) end(d *feed.Delta) {
	if len(d.Resumes) > 0 && d.Status.Phase != event.Ended {
		return // it had ended before it was resumed
	}
	if d.Diverged != nil && q.Diverged == nil {
		q.Diverged = d.Diverged
		q.Log.Say(d.Diverged.Epoch, style.Bad, "diverged: %s", style.Clean(d.Diverged.Reason))
	}
	if d.Done != nil && q.Done == nil {
		q.Done = d.Done
		q.Solves.Running = false
		q.Gen.Inner++
		q.Gen.Epoch++
		color := style.Good
		if d.Done.Reason == event.ReasonDiverged || d.Done.Reason == event.ReasonFailed {
			color = style.Bad
		}
		q.Log.Say(d.Done.Epochs, color, "ended: %s", Ending(d.Done))
	}
}

func (q *sequence) epoch(latest *event.EpochEvent) {
	now, old := *latest, &q.Latest
	e := &now
	q.late(e)
	q.Curves.now = PositionOf(e)
	q.updateBest(e)
	if passed := e.Elapsed - old.Elapsed; q.External() && q.Epochs > 0 && e.Seconds.Absent() && passed >= 0 {
		e.Seconds = passed / event.Float(max(e.Epoch-old.Epoch, 1))
	}
	plain := now // without what is only remembered
	q.measured(e, old)
	if e.Epoch > 0 && !e.Accepted && q.HasVerdict(latest) {
		q.Rejected++
	}
	q.Curves.own(e, q.Latest.Optimizer, q.External())
	q.Curves.committee(e, q.Measure)
	q.Factors.apply(e, q.Latest.Optimizer, q.Curves.maxBuckets)
	q.Before, q.Latest = q.Latest, *e
	q.Epochs++
	q.Gen.Epoch++
	q.solved(&plain)
}

// late takes in what another program tells of earlier epochs. Its values are the latest of their quantities.
func (q *sequence) late(e *event.EpochEvent) {
	late, _ := e.Late()
	for _, before := range late {
		q.updateBest(&before)
		for i, s := range q.curves() {
			of := event.Quantity(i)
			if v := *of.Of(&before); of != event.Elapsed && !v.Absent() {
				*of.Of(&q.Latest) = v
				if s != nil {
					s.Append(PositionOf(&before), float64(v))
				}
			}
		}
	}
}

// void takes away what a metric has from an epoch on.
func (q *sequence) void(e event.CutEvent) {
	for i := range q.Curves.Metrics {
		if m := &q.Curves.Metrics[i]; m.Key == e.Metric {
			m.Series.Drop(float64(e.From))
		}
	}
	of, known := event.QuantityOf(e.Metric)
	if !known {
		return
	}
	if s := q.curves()[of]; s != nil {
		s.Drop(float64(e.From))
	}
	if slices.Contains(q.Measure.Order(), of) {
		q.forgetBests(e.From)
	}
}

// curves are those of the quantities, nil where one has none.
func (q *sequence) curves() (out [event.QuantityCount]*chart.Series) {
	c := &q.Curves
	train, test := q.Metrics()
	out[event.Loss], out[event.TestLoss], out[event.ValidationLoss] = &c.Loss, &c.TestLoss, &c.ValidationLoss
	out[train], out[test], out[train.Validation()] = &c.Metric, &c.TestMetric, &c.ValidationMetric
	out[event.Radius], out[event.Rho], out[event.Rate] = &c.Radius, &c.Rho, &c.Rate
	out[event.GradientNorm], out[event.StepNorm] = &c.Gradient, &c.Step
	return out
}

// measured adds an epoch's values to the curves.
func (q *sequence) measured(e, old *event.EpochEvent) {
	// put adds a value to a curve. Another program may tell a quantity now and then only: what it leaves out is the
	// value before.
	put := func(s *chart.Series, y *event.Float, before event.Float) {
		AppendQuantity(s, q.Curves.now, *y, q.External())
		if y.Absent() && q.External() && q.Epochs > 0 {
			*y = before
		}
	}
	train, _ := q.Metrics()
	held := q.External() || q.Run != nil && q.Run.Data.ValidationRows > 0
	for i, s := range q.curves() {
		if of := event.Quantity(i); s != nil && (held || of != event.ValidationLoss && of != train.Validation()) {
			put(s, of.Of(e), *of.Of(old))
		}
	}
	if n := e.InnerIterations(); !n.Absent() {
		q.Curves.Inner.Append(q.Curves.now, float64(n))
	}
	if e.Epoch > 0 {
		put(&q.Curves.Seconds, &e.Seconds, old.Seconds)
	}
}

// updateBest keeps the least value of the measure. Where an epoch changes what a run of another program is judged by,
// what was kept by the old measure goes.
func (q *sequence) updateBest(e *event.EpochEvent) {
	if m := q.Measure.With(e); m != q.Measure {
		if m.Train() != q.Measure.Train() {
			none := chart.Series{Capacity: q.Curves.maxBuckets}
			q.Curves.Metric, q.Curves.TestMetric, q.Curves.ValidationMetric = none, none, none
			q.Gen.Run++
		}
		q.Measure, q.Best, q.bests = m, Best{}, nil
	}
	order := q.Measure.Order()
	tie := float64(*order[len(order)-1].Of(e))
	if v := q.Measure.Value(e); !math.IsNaN(v) && (!q.Best.Known || v < q.Best.Value || v == q.Best.Value &&
		tie < q.Best.tie) {
		q.Best = Best{v, e.Epoch, PositionOf(e), true, tie}
		if q.bests = append(q.bests, q.Best); len(q.bests) > maxBests {
			q.bests = thinned(q.bests)
		}
	}
}

// solved adds the epoch's inner solves to the bars, the counts and the log.
func (q *sequence) solved(e *event.EpochEvent) {
	line := Entry{Epoch: e.Epoch, Token: style.Muted, Stats: *e}
	line.Stats.Blocks, line.Stats.Inner, line.Stats.Preconditioner = nil, nil, nil
	if len(e.Inner) > 0 {
		b := q.Solves.apply(e)
		line.Stop, line.Inner = b.Stop(), b.Total
	}
	q.Solves.Running = false
	q.Gen.Inner++
	if !q.Log.full {
		q.Log.add(line)
	}
}

func (q *sequence) iteration(e *event.InnerEvent) {
	q.Solves.Live = *e
	q.Solves.Running = q.Done == nil && e.Epoch > q.Latest.Epoch
	q.Gen.Inner++
}

func (q *sequence) switched(e event.SwitchEvent) {
	q.Solves.Running = false // what was under way was the other method's
	q.since, q.Factors = e.Epoch, Factors{}
	q.Gen.Inner++
	q.Gen.Epoch++
	q.Curves.Mark(e.Epoch, true, style.Clean(e.To))
	q.Curves.changed()
	q.Log.Say(e.Epoch, style.Accent, "%s → %s", style.Clean(e.From), style.Clean(e.To))
}

func (q *sequence) spectrum(e event.SpectrumEvent) {
	if e.Stop.Failed() {
		q.Log.Say(e.Epoch, style.Bad, "no spectrum: %s", e.Stop.Text())
		return
	}
	q.Spectra = chart.KeepLast(append(q.Spectra, e), maxSpectra)
	q.Gen.Spectrum++
	if low, high, ok := Spread(&e); ok && e.Ends == "top" {
		q.Log.Say(e.Epoch, style.Text, "λ₁ %s", format.Number(high))
	} else if ok {
		q.Log.Say(e.Epoch, style.Text, "λ %s to %s", format.Number(low), format.Number(high))
	}
}

// setting notes a change of a hyperparameter.
func (q *sequence) setting(e *event.SettingEvent) {
	text := style.Clean(e.Key) + " = " + style.Clean(format.Setting(fmt.Sprint(e.Value)))
	q.Log.Say(e.Epoch, style.Accent, "%s", text)
	q.Curves.Mark(e.Epoch, false, text)
	q.Curves.changed()
	q.Gen.Epoch++
}

// rewound follows the run back to an epoch.
func (q *sequence) rewound(to int) {
	q.cut(to)
	q.Curves.Mark(to, true, "back to "+format.Count(to))
	q.Log.Say(to, style.Accent, "back to %s %s", q.Run.Counted(), format.Count(to))
}

// cut takes the curves back to an epoch: what came after it stays as a branch that was left.
func (q *sequence) cut(to int) {
	q.since = min(q.since, to)
	q.Curves.cut(to)
	q.Factors.cut(to)
	q.Spectra = slices.DeleteFunc(q.Spectra, func(e event.SpectrumEvent) bool { return e.Epoch > to })
	spent := q.Latest
	q.Latest.Epoch = to
	for i := len(q.Log.Entries) - 1; i >= 0; i-- {
		if e := &q.Log.Entries[i]; e.Text == "" && e.Stats.Epoch == to {
			q.Latest = e.Stats
			break
		}
	}
	if !q.External() { // what the run has cost is not given back
		for _, of := range [...]event.Quantity{event.Gradients, event.Products, event.Losses, event.GradientEquivalents,
			event.Elapsed} {
			*of.Of(&q.Latest) = *of.Of(&spent)
		}
	}
	q.Before = event.UnknownEpoch(0)
	q.Solves.cut(to)
	q.forgetBests(to + 1)
	q.Gen.Epoch++
	q.Gen.Inner++
	q.Gen.Spectrum++
}

// forgetBests forgets what was best from an epoch on.
func (q *sequence) forgetBests(from int) {
	q.bests = slices.DeleteFunc(q.bests, func(b Best) bool { return b.Epoch >= from })
	q.Best = Best{}
	if n := len(q.bests); n > 0 {
		q.Best = q.bests[n-1]
	}
}

// resumed notes where a run was taken up again.
func (q *sequence) resumed(e *event.ResumeEvent) {
	when := ""
	if !e.Time.IsZero() {
		when = ", " + e.Time.Local().Format("2 Jan 2006 15:04")
	}
	q.Log.Say(e.Epoch, style.Accent, "resumed after %s %s%s", q.Run.Counted(), format.Count(e.Epoch), when)
	q.Curves.Mark(e.Epoch, true, "▸ resumed")
	q.Done, q.Diverged = nil, nil
	q.Gen.Epoch++
}

// saved notes that the weights were saved.
func (q *sequence) fileSaved(e *event.SavedEvent) {
	q.Log.Say(e.Epoch, style.Good, "saved %s, %s", style.Clean(e.File), format.Bytes(e.Bytes))
	q.Curves.Mark(e.Epoch, false, "saved")
	q.Gen.Epoch++
}

// raced takes in how a race begins and ends.
func (q *sequence) raced(e *event.RaceEvent) {
	q.Race.Gen++
	q.Race.Event = e
	switch e.State {
	case "begun":
		q.Race.Racers = make([]Racer, len(e.Racers))
		for i := range q.Race.Racers {
			q.Race.Racers[i] = newRacer(e.Racers[i])
		}
		q.Log.Say(e.Epoch, style.Accent, "race of %d begins", len(e.Racers))
	case "over":
		q.Log.Say(e.Epoch, style.Accent, "race is over")
	case "picked":
		if e.Picked >= 0 && e.Picked < len(e.Racers) {
			q.since = e.Epoch
			q.Log.Say(e.Epoch, style.Accent, "race ends: on with %s%s", style.Clean(e.Racers[e.Picked].Name),
				q.Race.cost())
			q.Curves.Mark(e.Epoch, false, "race")
			q.Gen.Epoch++
		}
	case "abandoned":
		q.Log.Say(e.Epoch, style.Accent, "race abandoned%s", q.Race.cost())
	}
}

// resume reports whether an event tells more of the latest epoch of another program, as its validation, which is over
// later.
func (q *sequence) resume(e *event.EpochEvent) bool {
	return q.External() && q.Epochs > 0 && e.Epoch == q.Latest.Epoch && len(e.Inner) == 0 && len(e.Members) == 0
}

// more adds what is reported later of the latest epoch. It stays one epoch, which took as long as was said at first.
func (q *sequence) more(e *event.EpochEvent) {
	told := *e
	if !q.Latest.Seconds.Absent() {
		told.Seconds = event.Absent
	}
	q.late(e)
	q.Curves.now = PositionOf(e)
	q.updateBest(e)
	q.measured(&told, &q.Latest)
	q.Curves.own(e, q.Latest.Optimizer, true)
	q.Latest = q.Latest.With(e)
	q.Gen.Epoch++
	q.Log.more(e)
}
