package trajectory

import (
	"cmp"
	"slices"

	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/workplace"
)

// A run that has validation rows ends with the weights of its best epoch by them, see event.Measure: these are saved
// and evaluated at its end, and are what a recorded run gives away. What it resumes from are the last ones all the
// same. Without such rows, or where the configuration says so, it ends with the last ones.

// SetBest makes an epoch, whose weights the members have, the best, and keeps those of them that count.
func (t *Trajectory) SetBest(e *event.EpochEvent) {
	t.Best = *e
	if t.Work.KeepsBest() {
		t.BestWeights = nil
		for _, m := range t.Members {
			t.BestWeights = append(t.BestWeights, slices.Clone(m.Effective(m.Weights)))
		}
	}
}

// EndMetrics returns the metrics of the weights that the run ends with.
func (t *Trajectory) EndMetrics() *event.EpochEvent {
	if t.BestWeights == nil {
		return &t.Last
	}
	return &t.Best
}

// EndWeights returns the weights of each net that the run ends with. They are not to be changed.
func (t *Trajectory) EndWeights() [][]float64 {
	if t.BestWeights == nil {
		return EffectiveWeights(t.Members)
	}
	return t.BestWeights
}

// Result returns what the run ends with, for the file of a run.
func (t *Trajectory) Result(run string) *Result {
	if t.BestWeights == nil {
		return &Result{t.Model(run), t.Epoch}
	}
	meta := provenance(t.Work.Config, run, cmp.Or(t.Best.Optimizer, t.Info.Name), t.Best.Epoch, &t.Best)
	return &Result{DescribeModel(t.Work.Problem, t.BestWeights, meta), t.Best.Epoch}
}

// bestKey is the array of a net in a checkpoint that has the weights of the best epoch.
const bestKey = "best weights"

// EndOf returns the weights of each net that a run of the configuration would end with at the checkpoint, and their
// metrics.
func EndOf(c *checkpoint.Checkpoint, config *config.Config, dim int) (weights [][]float64, metrics *event.EpochEvent,
	err error) {
	if weights, err = effectiveAt(c, dim, config.Average); err != nil {
		return nil, nil, err
	}
	if _, ok := c.Vectors[checkpoint.NetKey(0)+"."+bestKey]; !ok || config.Weights == "last" {
		metrics, err = metricsOf(c, "last")
		return weights, metrics, err
	}
	k := c.OpenArchive()
	for i := range weights {
		weights[i] = nil
		k.In(checkpoint.NetKey(i)).Vector(bestKey, &weights[i], dim)
	}
	if err := k.Err(); err != nil {
		return nil, nil, &checkpoint.CheckpointError{Reason: err.Error()}
	}
	metrics, err = metricsOf(c, "best")
	return weights, metrics, err
}

// metricsOf returns those of the last or of the best epoch.
func metricsOf(c *checkpoint.Checkpoint, of string) (*event.EpochEvent, error) {
	e, k := workplace.Unmeasured, c.OpenArchive()
	workplace.ArchiveMetrics(k.In(of), &e)
	if err := k.Err(); err != nil {
		return nil, &checkpoint.CheckpointError{Reason: err.Error()}
	}
	return &e, nil
}
