package trainer

import (
	"cmp"
	"slices"

	"newtop/trainer/event"
	"newtop/trainer/optim"
)

// A run that has validation rows ends with the weights of its best epoch by them, see event.Measure: these are saved
// and evaluated at its end, and are what a recorded run gives away. What it goes on from are the last ones all the
// same. Without such rows, or where the configuration says so, it ends with the last ones.

// keepsBest reports whether the run ends with the weights of its best epoch.
func (w *workplace) keepsBest() bool { return w.validates() && w.config.Weights != "last" }

// keep makes an epoch, whose weights the members have, the best, and keeps those of them that count.
func (t *trajectory) keep(e *event.EpochEvent) {
	t.best = *e
	if t.place.keepsBest() {
		t.bestWeights = nil
		for _, m := range t.members {
			t.bestWeights = append(t.bestWeights, slices.Clone(m.counted(m.weights)))
		}
	}
}

// end returns the metrics of the weights that the run ends with.
func (t *trajectory) end() *event.EpochEvent {
	if t.bestWeights == nil {
		return &t.last
	}
	return &t.best
}

// endWeights returns the weights of each net that the run ends with. They are not to be changed.
func (t *trajectory) endWeights() [][]float64 {
	if t.bestWeights == nil {
		return countedOf(t.members)
	}
	return t.bestWeights
}

// ending returns what the run ends with, for the file of a run.
func (t *trajectory) ending(run string) *ending {
	if t.bestWeights == nil {
		return &ending{t.model(run), t.epoch}
	}
	meta := about(t.place.config, run, cmp.Or(t.best.Optimizer, t.info.Name), t.best.Epoch, &t.best)
	return &ending{describe(t.place.problem, t.bestWeights, meta), t.best.Epoch}
}

// bestKey is the array of a net in a checkpoint that has the weights of the best epoch.
const bestKey = "best weights"

// archiveBest carries the weights of the best epoch.
func (t *trajectory) archiveBest(k *optim.Archive) {
	if !t.place.keepsBest() {
		return
	}
	best := t.bestWeights
	if k.Restoring() {
		best = make([][]float64, len(t.members))
	}
	for i := range best {
		k.In(net(i)).Vector(bestKey, &best[i], t.place.problem.Dim())
	}
	t.bestWeights = best
}

// impatient reports whether the run has had no better epoch for as long as its patience.
func (l *loop) impatient() bool {
	c := l.place.config
	return c.Patience > 0 && l.place.validates() && l.nets.epoch-l.nets.best.Epoch >= c.Patience
}

// end returns the weights of each net that a run of the configuration would end with at the checkpoint, and their
// metrics.
func endOf(c *Checkpoint, config *Config, dim int) (weights [][]float64, metrics *event.EpochEvent, err error) {
	if weights, err = countedBy(c, dim, config.Average); err != nil {
		return nil, nil, err
	}
	if _, ok := c.vectors[net(0)+"."+bestKey]; !ok || config.Weights == "last" {
		metrics, err = metricsOf(c, "last")
		return weights, metrics, err
	}
	k := c.archive()
	for i := range weights {
		weights[i] = nil
		k.In(net(i)).Vector(bestKey, &weights[i], dim)
	}
	if err := k.Err(); err != nil {
		return nil, nil, &CheckpointError{Reason: err.Error()}
	}
	metrics, err = metricsOf(c, "best")
	return weights, metrics, err
}

// metrics returns those of the last or of the best epoch.
func metricsOf(c *Checkpoint, of string) (*event.EpochEvent, error) {
	e, k := unmeasured, c.archive()
	archiveMetrics(k.In(of), &e)
	if err := k.Err(); err != nil {
		return nil, &CheckpointError{Reason: err.Error()}
	}
	return &e, nil
}
