package trainer

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// What decides how a run goes on is carried into a checkpoint, and back, by the same functions: a run's and a net's
// below, and what methods and objectives keep as values.

// capture returns a checkpoint of the run, which must be between two outer iterations. It only copies.
func (r *run) capture() *Checkpoint {
	k := optim.NewArchive()
	r.remember(k)
	c := &Checkpoint{Epoch: r.epoch}
	c.vectors, c.numbers, c.texts = k.Content()
	return c
}

// restore makes the run what it was when the checkpoint was taken. Only what viewers are shown is lost: the last step,
// and the weights of earlier epochs. It returns a *CheckpointError for one that is not of such a run.
func (r *run) restore(c *Checkpoint) error {
	k := c.memory()
	r.remember(k)
	if err := k.Err(); err != nil {
		return &CheckpointError{Reason: err.Error()}
	}
	if r.epoch != c.Epoch {
		return spoilt("of epoch %d in one place and %d in another", c.Epoch, r.epoch)
	}
	return nil
}

func (r *run) remember(k *optim.Archive) {
	k.Count("epoch", &r.epoch, optim.MostCount)
	r.rememberMethod(k)
	rememberScore(k.In("first"), &r.first)
	rememberScore(k.In("last"), &r.last)
	rememberScore(k.In("best"), &r.best)
	rememberClock(k, "training", &r.training)
	rememberClock(k, "active", &r.active)
	rememberClock(k, "looking", &r.looking)
	r.rememberSpectrum(k.In("spectrum"))
	for i, m := range r.members {
		m.remember(k.In(net(i)))
	}
	r.rememberObjective(k.In("objective"))
	// Last, since what is computed again above has been charged.
	k.In("spent").State(r.objective.Spent, nil)
}

// rememberObjective carries what the objective keeps.
func (r *run) rememberObjective(k *optim.Archive) {
	var cache objective.Cache
	if !k.Restoring() {
		r.objective.SaveAll(&cache)
	}
	k.State(&cache, r.members[0].weights)
	if !k.Restoring() || k.Err() != nil {
		return
	}
	if err := r.objective.LoadAll(&cache); err != nil {
		k.Fail("parts", "%v", err)
	}
}

// rememberMethod carries which method trains how many nets.
func (r *run) rememberMethod(k *optim.Archive) {
	name, nets := r.info.Name, len(r.members)
	k.Text("optimizer", &name)
	k.Count("nets", &nets, maxCommittee)
	if !k.Restoring() || k.Err() != nil {
		return
	}
	info, err := methods.Lookup(name)
	if err == nil {
		err = r.offers(info)
	}
	switch {
	case err != nil:
		k.Fail("optimizer", "%v", err)
		return
	case nets != len(r.members):
		k.Fail("nets", "%d: expected %d", nets, len(r.members))
		return
	}
	r.info = info
	for _, m := range r.members {
		m.method, m.settings = info.New(), optim.NewSettings(info.Parameters)
		m.state.Settings = m.settings
	}
}

// rememberScore carries what later figures are held against.
func rememberScore(k *optim.Archive, e *event.EpochEvent) {
	k.Count("epoch", &e.Epoch, optim.MostCount)
	for _, f := range []struct {
		key   string
		value *event.Float
	}{
		{"loss", &e.Loss}, {"test loss", &e.TestLoss},
		{"error", &e.Error}, {"test error", &e.TestError},
		{"rmse", &e.RMSE}, {"test rmse", &e.TestRMSE},
	} {
		k.Number(f.key, (*float64)(f.value))
	}
}

// rememberClock carries a clock's time. One that is given its time stands.
func rememberClock(k *optim.Archive, key string, w *stopwatch) {
	spent := int(w.elapsed())
	k.Count(key, &spent, optim.MostCount)
	if k.Restoring() {
		*w = stopwatch{total: time.Duration(spent)}
	}
}

// rememberSpectrum carries what the next spectrum begins with, if it is by the same method.
func (r *run) rememberSpectrum(k *optim.Archive) {
	dim := r.problem.Network.Dim()
	method, count := r.spectrumMethod(), len(r.start)
	k.Text("method", &method)
	k.Count("vectors", &count, dim+1) // one more than there are where the power method was shifted
	if !k.Restoring() {
		for i := range r.start {
			k.Vector(fmt.Sprint("vector ", i), &r.start[i], dim)
		}
		return
	}
	var start [][]float64
	for i := 0; i < count && k.Err() == nil; i++ {
		var v []float64
		k.Vector(fmt.Sprint("vector ", i), &v, dim)
		start = append(start, v)
	}
	if method == r.spectrumMethod() {
		r.start = start
	}
}

func (m *member) remember(k *optim.Archive) {
	seed := strconv.FormatUint(m.seed, 10)
	k.Text("seed", &seed)
	if k.Restoring() && k.Err() == nil && seed != strconv.FormatUint(m.seed, 10) {
		k.Fail("seed", "%s: expected %d", seed, m.seed)
	}
	rememberSource(k, m.source)
	k.In("setting").Settings(m.settings)
	k.Vector("weights", &m.weights, len(m.weights))
	k.Number("loss", &m.state.Loss)
	if m.state.Evaluated = k.Has("evaluated", m.state.Evaluated); m.state.Evaluated {
		k.Vector("gradient", &m.state.Gradient, len(m.state.W))
	}
	rememberScore(k.In("figures"), &m.figures)
	k.Number("bearable", (*float64)(&m.bearable))
	k.Count("above", &m.above, optim.MostCount)
	k.Text("stalled", &m.stalled)
	k.Number("gate rate", &m.rate)
	if m.on.fixed != nil {
		m.on.fixed.Gates = m.weights[len(m.state.W):]
	}
	if k.Err() == nil {
		k.In("method").Method(m.method, m.state)
	}
}

// rememberSource carries where a generator is in its stream.
func rememberSource(k *optim.Archive, source *rand.PCG) {
	at, err := source.MarshalBinary()
	if err != nil {
		panic("trainer: " + err.Error())
	}
	text := hex.EncodeToString(at)
	k.Text("random numbers", &text)
	if !k.Restoring() || k.Err() != nil {
		return
	}
	if at, err = hex.DecodeString(text); err == nil {
		err = source.UnmarshalBinary(at)
	}
	if err != nil {
		k.Fail("random numbers", "%v", err)
	}
}
