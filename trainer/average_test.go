package trainer

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"newtop/models"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
)

// meanOf is the mean of weights by its definition.
func meanOf(all [][]float64) []float64 {
	mean := make([]float64, len(all[0]))
	for i := range mean {
		for _, w := range all {
			mean[i] += w[i] / float64(len(all))
		}
	}
	return mean
}

// weightsAfter returns a single net's weights after each epoch of a run, the start first.
func weightsAfter(t *testing.T, a *archive, dim int) (all [][]float64) {
	t.Helper()
	for i := range a.kept {
		w, err := a.kept[i].checkpoint(t).Weights(dim)
		if err != nil {
			t.Fatal(err)
		}
		if a.kept[i].epoch == len(all) {
			all = append(all, w[0])
		}
	}
	return all
}

// A run that averages trains like one that does not, to the bit and for the same work. What it tells of an epoch, and saves, are the
// mean weights of the last ones.
func TestAverages(t *testing.T) {
	const n = 3
	for name, c := range map[string]config.Config{
		"tr-newton": {Optimizer: "tr-newton", L2: 1e-3}, "lbfgs": {Optimizer: "lbfgs"}, "adam": {Optimizer: "adam", Batch: 60},
	} {
		t.Run(name, func(t *testing.T) {
			c.Data, c.Hidden, c.Epochs, c.Seed = "spirals", []int{5}, 7, 4
			plain := keepAll(t, c)
			c.Average = n
			c.Save = filepath.Join(t.TempDir(), "mean.safetensors")
			mean := keepAll(t, c)
			p := mustPrepare(t, c)
			weights := weightsAfter(t, plain, p.Dim())
			if again := weightsAfter(t, mean, p.Dim()); !slices.EqualFunc(weights, again, slices.Equal) || len(weights) != c.Epochs+1 {
				t.Fatal("the weights are others")
			}
			train, test := p.Network.Bind(p.Train.X, p.Train.T, models.Options{}), p.Network.Bind(p.Test.X, p.Test.T, models.Options{})
			without := of[event.EpochEvent](&plain.memory)
			var last []float64
			for k, e := range of[event.EpochEvent](&mean.memory) {
				last = weights[0]
				if k > 0 {
					last = meanOf(weights[max(1, k-n+1) : k+1])
				}
				nearTo(t, fmt.Sprint("loss ", k), e.Loss, train.EvaluateAt(last).Loss)
				nearTo(t, fmt.Sprint("test loss ", k), e.TestLoss, test.EvaluateAt(last).Loss)
				nearTo(t, fmt.Sprint("work ", k), e.GradientEquivalents, float64(without[k].GradientEquivalents))
				if c.L2 > 0 {
					nearTo(t, fmt.Sprint("penalty ", k), event.Float(penaltyOf(&e)), c.L2/2*squares(p.Network, last))
				}
			}
			for _, file := range []string{c.Save, exported(t, c, mean)} {
				m := readModel(t, file)
				if d := floats.Distance(m.Weights[0], last, math.Inf(1)); d > 1e-14 {
					t.Errorf("saved weights are %.2g from the mean", d)
				}
			}
		})
	}
}

func nearTo(t *testing.T, what string, got event.Float, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1e-12*(1+math.Abs(want)) {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// exported writes the last checkpoint of a run to a file.
func exported(t *testing.T, c config.Config, a *archive) string {
	t.Helper()
	return exportedFrom(t, c, a.last(t))
}

func exportedFrom(t *testing.T, c config.Config, from *checkpoint.Checkpoint) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "exported.safetensors")
	if _, err := Export(c, from, nil, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// Going back to an epoch brings back what it was averaged over, and so does a race that is picked from.
func TestAveragesGoBack(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{4}, Optimizer: "tr-gn", Blocks: 1, Average: 3}
	a := &archive{}
	d := takeWheel(t, mustNew(t, c, a), &a.memory)
	d.times(5, event.StepEpoch{})
	d.do(event.Rewind{Epoch: 3})
	d.do(event.StepEpoch{})
	d.do(event.Race{Racers: []event.Racer{{Optimizer: "tr-gn"}, {Optimizer: "lbfgs"}}, Equivalents: 1}) // a lap each
	d.do(event.Pick{Racer: 1})
	d.do(event.StepEpoch{})
	d.stop()
	p := mustPrepare(t, c)
	var path [][]float64 // of the last epoch that has each number
	for i := range a.kept {
		w, err := a.kept[i].checkpoint(t).Weights(p.Dim())
		if err != nil {
			t.Fatal(err)
		}
		if at := a.kept[i].epoch; at <= len(path) {
			path = append(path[:at], w[0])
		}
	}
	epochs := of[event.EpochEvent](&a.memory)
	last := epochs[len(epochs)-1]
	if last.Epoch != len(path)-1 || last.Epoch != 6 {
		t.Fatalf("epoch %d, of %d the weights are known", last.Epoch, len(path))
	}
	l := p.Network.Bind(p.Train.X, p.Train.T, models.Options{})
	for _, e := range epochs {
		if e.Epoch == 4 { // the last one of them is that after going back
			last = e
		}
	}
	nearTo(t, "after going back", last.Loss, l.EvaluateAt(meanOf(path[2:5])).Loss)
	last = epochs[len(epochs)-1]
	nearTo(t, "at the end", last.Loss, l.EvaluateAt(meanOf(path[len(path)-3:])).Loss)
}

// A run that is judged by validation rows ends with what counted in its best epoch, the weights of some epochs or of one, and goes
// back to the weights of the epoch that it is told, whichever was the best.
func TestBestAverages(t *testing.T) {
	for _, n := range []int{0, 3} {
		c := config.Config{Data: "spirals", Hidden: []int{6}, Optimizer: "adam", Set: []string{"rate=0.2"}, Batch: 20, Seed: 3, Validation: "0.1", Average: n}
		a := &archive{}
		d := takeWheel(t, mustNew(t, c, a), &a.memory)
		d.times(12, event.StepEpoch{})
		d.do(event.Rewind{Epoch: 11})
		d.do(event.StepEpoch{})
		d.stop()
		p := mustPrepare(t, c)
		at := 1 // where it went back
		for at < len(a.kept)-1 && a.kept[at].epoch >= a.kept[at-1].epoch {
			at++
		}
		weights := weightsAfter(t, &archive{kept: a.kept[:at]}, p.Dim())
		back, err := a.kept[at].checkpoint(t).Weights(p.Dim())
		if err != nil || len(weights) != 13 {
			t.Fatalf("the weights of %d epochs, %v", len(weights), err)
		}
		if a.kept[at].epoch != 11 || !slices.Equal(back[0], weights[11]) {
			t.Errorf("average %d: back at epoch %d, with other weights", n, a.kept[at].epoch)
		}
		best := bestOf(of[event.EpochEvent](&a.memory)[:13]).Epoch
		if best == 12 || best < 3 {
			t.Fatalf("epoch %d is the best: nothing is tried", best)
		}
		m := readModel(t, exportedFrom(t, c, a.kept[at-1].checkpoint(t)))
		if d := floats.Distance(m.Weights[0], meanOf(weights[max(1, best-max(1, n)+1):best+1]), math.Inf(1)); d > 1e-14 {
			t.Errorf("average %d: the run would end %.2g from what counted in epoch %d", n, d, best)
		}
	}
}
