package trainer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"newtop/internal/vector"
	"newtop/models/modelfile"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// trajectory is nets on their way from epoch to epoch under one method: those of a session, or a racer's one.
type trajectory struct {
	place *workplace
	binding
	info     *optim.Info
	settings *optim.Settings // that members begin with
	members  []*member
	turn     int           // whose turn it is in the outer iteration under way
	began    time.Duration // the training time at its beginning

	epoch             int // finished outer iterations
	since             int // after which its method took over
	before            int // that the run had finished where these began to be counted, of a racer
	first, last, best event.EpochEvent
	// of each member after the best epoch, never changed; nil where the run ends with the last ones
	bestWeights [][]float64
}

// add adds a net whose weights are all 0 and which is trained on some rows.
func (t *trajectory) add(seed uint64, settings *optim.Settings, on binding) *member {
	dim, n := t.place.problem.Dim(), t.target.Dim()
	m := &member{
		seed:     seed,
		on:       on,
		settings: settings,
		method:   t.info.New(),
		weights:  make([]float64, dim),
		previous: make([]float64, dim),
		average:  t.place.config.Average,
		source:   rand.NewPCG(seed, streamMethod),
		metrics:  unmeasured,
		rate:     gateRate,
	}
	m.state = &optim.State{
		Objective: on.target,
		W:         m.weights[:n:n],
		Gradient:  make([]float64, n),
		Settings:  settings,
		Rand:      rand.New(m.source),
		Monitor:   t.place.monitor,
		Run:       t.place.pool.Run,
	}
	t.members = append(t.members, m)
	return m
}

// chosen returns the settings that are shown: the first member's, or those that members begin with.
func (t *trajectory) chosen() *optim.Settings {
	if len(t.members) == 0 {
		return t.settings
	}
	return t.members[0].settings
}

// follow hands the weights to another method, as the last one left them.
func (t *trajectory) follow(info *optim.Info) {
	t.info, t.settings, t.since = info, t.place.defaults(info), t.epoch
	for _, m := range t.members {
		m.settings = t.settings.Clone()
		m.state.Settings = m.settings
		m.begin(info, t.minimized(m))
	}
}

// start evaluates the starting weights.
func (t *trajectory) start() {
	for _, m := range t.members {
		t.evaluate(m)
		m.bearable = t.minimized(m)
		m.report = still
		m.report.Accepted = true
	}
}

// finish counts an outer iteration that took the members to the epoch's metrics.
func (t *trajectory) finish(e *event.EpochEvent) {
	t.last = *e
	t.lengthen()
	if t.place.measure.Better(e, &t.best) {
		t.keep(e)
	}
}

// snapshot returns what it takes to go back to the current epoch.
func (t *trajectory) snapshot() snapshot {
	s := snapshot{last: t.last, best: t.best, bestWeights: t.bestWeights, trails: t.trails()}
	if s.weights = t.bestWeights; s.weights == nil || t.best.Epoch != t.last.Epoch || t.place.config.Average > 1 {
		s.weights = nil
		for _, m := range t.members {
			s.weights = append(s.weights, slices.Clone(m.weights))
		}
	}
	return s
}

// goBack goes back to an earlier epoch. The method begins anew with the settings that it has; what is drawn at random
// goes on.
func (t *trajectory) goBack(to *snapshot) {
	t.epoch, t.turn = to.last.Epoch, 0
	t.since = min(t.since, t.epoch)
	for i, m := range t.members {
		copy(m.weights, to.weights[i])
		m.trail = to.trails[i]
		m.state.Evaluated = false
		t.evaluate(m)
		m.begin(t.info, t.minimized(m))
	}
	t.last, t.best, t.bestWeights = to.last, to.best, to.bestWeights
}

// model returns the nets as they are now, for the file of a run.
func (t *trajectory) model(run string) *modelfile.Model {
	weights := make([][]float64, len(t.members))
	for i, m := range t.members {
		weights[i] = m.counted(m.settled(t.batched()))
	}
	return describe(t.place.problem, weights, about(t.place.config, run, t.info.Name, t.epoch, &t.last))
}

// fixGates gives the objective a member's gates, if it is the one that leaves them as they are.
func (t *trajectory) fixGates(m *member) {
	if m.on.fixed != nil {
		m.on.fixed.Gates = m.weights[len(m.state.W):]
	}
}

// of names a member of a committee, for the beginning of a sentence.
func (t *trajectory) of(m *member) string {
	if len(t.members) == 1 {
		return ""
	}
	return fmt.Sprintf("seed %d: ", m.seed)
}

// uphill reports whether too large a rate makes the method raise the loss. A bad loss that one met which
// only ever lowers it is not its own: it may be there to mend it. And one that does not follow the loss, as it
// solves for the weights, is not lost where the loss is high.
func (t *trajectory) uphill() bool { return !t.info.Monotone && t.info.Primary != "" }

// batched reports whether the method goes through batches, so that its steps are many small ones.
func (t *trajectory) batched() bool { return t.info.Needs&optim.NeedsRows != 0 }

// A loss far above its starting value counts as diverged, and so does one that stays above it: saturating
// activations keep a hopeless loss finite for ever, and bounded outputs keep it within a few times the start,
// so that waiting for a NaN is not enough.
const (
	divergence = 30  // times the start, at once
	worse      = 1.5 // times the start, for worseFor epochs in a row
	worseFor   = 5
)

// minimized returns what a member's method minimizes: the loss of the rows, which events tell, and the penalty.
func (t *trajectory) minimized(m *member) event.Float {
	return m.metrics.Loss + event.Float(t.objective.Penalty(m.counted(m.weights)))
}

// penalty returns the mean of the members' penalties.
func (t *trajectory) penalty() event.Float {
	sum := 0.0
	for _, m := range t.members {
		sum += t.objective.Penalty(m.counted(m.weights))
	}
	return event.Float(sum / float64(len(t.members)))
}

// firstPenalty returns what it was at the start, whose weights are drawn again.
func (t *trajectory) firstPenalty() event.Float {
	sum, w := 0.0, make([]float64, t.place.problem.Dim())
	for _, m := range t.members {
		t.place.drawTo(w, m.seed)
		sum += t.objective.Penalty(w)
	}
	return event.Float(sum / float64(len(t.members)))
}

// checkConvergence says of the first member after an outer iteration whose loss is not finite, has left far behind
// where its method began, or stays above that under one method and its settings. Else it is empty.
func (t *trajectory) checkConvergence() (diverged string) {
	for _, m := range t.members {
		loss, start := float64(t.minimized(m)), float64(m.bearable)
		m.above++
		if !(loss > worse*start) {
			m.above = 0
		}
		switch {
		case !vector.Finite(loss):
			return t.of(m) + "the loss is not finite"
		case !t.uphill():
		case loss > divergence*start && start > 0, m.above >= worseFor:
			return fmt.Sprintf("%sthe loss rose to %.3g, from %.3g at the start", t.of(m), loss, start)
		}
	}
	return ""
}

// tellEpoch tells a member's method where it stands in the run.
func (t *trajectory) tellEpoch(m *member) {
	m.state.Epoch, m.state.Epochs = t.epoch-t.since, max(0, t.place.config.Epochs-t.before-t.since)
}

// stalled returns why the first member stalled, and whether all have.
func (t *trajectory) stalled() (why string, all bool) {
	for _, m := range t.members {
		if m.stalled == "" {
			return "", false
		}
	}
	return t.members[0].stalled, true
}

// diverged returns the error of nets that have.
func (t *trajectory) diverged(epoch int, reason string) *DivergedError {
	hint := "expected another optimizer or other settings"
	if t.uphill() {
		hint = "expected a smaller " + t.info.Primary + " than " + optim.Format(t.chosen().Get(t.info.Primary))
	}
	if !t.first.Loss.Finite() {
		hint = "expected finite data and starting weights"
	}
	return &DivergedError{Epoch: epoch, Optimizer: t.info.Name, Reason: reason, Hint: hint}
}

// sinceKey is the number of a checkpoint that says how long its method has been at work.
const sinceKey = "method since"

// archiveMethod carries which method trains how many nets.
func (t *trajectory) archiveMethod(k *optim.Archive) {
	name, nets := t.info.Name, len(t.members)
	k.Text("optimizer", &name)
	if !k.Restoring() || k.HasNumber(sinceKey) { // which earlier versions did not know
		k.Count(sinceKey, &t.since, optim.MaxCount)
	}
	k.Count("nets", &nets, maxCommittee)
	if !k.Restoring() || k.Err() != nil {
		return
	}
	info, err := methods.Lookup(name)
	if err == nil {
		err = t.offers(info)
	}
	switch {
	case err != nil:
		k.Fail("optimizer", "%v", err)
		return
	case nets != len(t.members):
		k.Fail("nets", "%d: expected %d", nets, len(t.members))
		return
	}
	t.info = info
	for _, m := range t.members {
		m.method, m.settings = info.New(), optim.NewSettings(info.Parameters)
		m.state.Settings = m.settings
	}
}

// archiveMembers carries the nets, what the objective keeps, and last, since what is computed again has been charged,
// what was spent.
func (t *trajectory) archiveMembers(k *optim.Archive) {
	for i, m := range t.members {
		k := k.In(net(i))
		m.archive(k)
		t.fixGates(m)
		if k.Err() == nil {
			k.In("method").Method(m.method, m.state)
		}
	}
	if !t.place.config.FoldCommittee() {
		archiveKept(k.In("objective"), t.members[0])
	} else {
		for i, m := range t.members {
			archiveKept(k.In(net(i)).In("objective"), m)
		}
	}
	k.In("spent").State(t.objective.Spent, nil)
}

// archiveKept carries what the objective of a member keeps.
func archiveKept(kept *optim.Archive, m *member) {
	var cache objective.Cache
	if !kept.Restoring() {
		m.on.objective.SaveAll(&cache)
	}
	kept.State(&cache, m.weights)
	if kept.Restoring() && kept.Err() == nil {
		if err := m.on.objective.LoadAll(&cache); err != nil {
			kept.Fail("parts", "%v", err)
		}
	}
}
