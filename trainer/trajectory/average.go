package trajectory

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/trainer/checkpoint"
	"newtop/trainer/optim"
)

// Stochastic weight averaging (Izmailov et al. 2018): what counts of a net are not its weights, from which training
// continues, but their mean over the last epochs. It is measured, saved and shown; gradients, spectra and slices are at
// the weights.

// trail has the weights of a net after the last epochs that moved them, the newest last. Nothing in it is ever changed,
// so that snapshots and racers share it.
type trail [][]float64

// extended returns the trail with other weights, the last most of them.
func (t trail) extended(w []float64, limit int) trail {
	if n := len(t); limit < 2 || n > 0 && slices.Equal(t[n-1], w) {
		return t
	}
	return append(slices.Clone(t[max(0, len(t)-limit+1):]), slices.Clone(w))
}

// mean returns what counts where the weights are w: those of the newest epoch, or on their way to the next one's.
func (t trail) mean(w []float64, limit int) []float64 {
	all := t.extended(w, limit)
	if len(all) < 2 {
		return w
	}
	sum := make([]float64, len(w))
	for _, v := range all {
		floats.Add(sum, v)
	}
	floats.Scale(1/float64(len(all)), sum)
	return sum
}

// Effective returns what counts where the net's weights are w; these are not to be changed.
func (m *Member) Effective(w []float64) []float64 {
	if len(m.Trail) == 0 {
		return w
	}
	return m.Trail.mean(w, m.average)
}

// EffectiveWeights returns what counts of each net.
func EffectiveWeights(nets []*Member) (all [][]float64) {
	for _, m := range nets {
		all = append(all, m.Effective(m.Weights))
	}
	return all
}

// Trails returns those of nets.
func Trails(nets []*Member) (all []trail) {
	for _, m := range nets {
		all = append(all, m.Trail)
	}
	return all
}

// ExtendTrails takes in the weights after an epoch.
func ExtendTrails(nets []*Member) {
	for _, m := range nets {
		m.Trail = m.Trail.extended(m.Weights, m.average)
	}
}

// effectiveAt returns the weights of each net that count after the epoch of the checkpoint, where a run averages over
// that many. They are not to be changed.
func effectiveAt(c *checkpoint.Checkpoint, dim, average int) ([][]float64, error) {
	all, err := c.Weights(dim)
	if err != nil {
		return nil, err
	}
	k := c.OpenArchive()
	for i, w := range all {
		var t trail
		archiveTrail(k.In(checkpoint.NetKey(i)), &t, average, dim)
		if err := k.Err(); err != nil {
			return nil, &checkpoint.CheckpointError{Reason: err.Error()}
		}
		all[i] = t.mean(w, average)
	}
	return all, nil
}

// trailKey is the number of a checkpoint that says how long a net's trail is.
const trailKey = "trail"

// archiveTrail carries the trail of a net of that many weights, if it may have one.
func archiveTrail(k *optim.Archive, t *trail, limit, dim int) {
	if limit < 2 {
		return
	}
	n := len(*t)
	k.Count(trailKey, &n, limit)
	all := *t
	if k.Restoring() {
		all = make(trail, n)
	}
	for i := range all {
		k.Vector(fmt.Sprint(trailKey, " ", i), &all[i], dim)
	}
	*t = all
}
