package trainer

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"newtop/models/modelfile"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// overfitting are runs whose validation figure rises after some epochs, each with a patience that ends it then.
func overfitting() map[string]config.Config {
	c := config.Config{Data: "spirals", Test: "0.9", Validation: "0.5", Hidden: []int{8}, Epochs: 40, Patience: 4, Seed: 1}
	committee, adam, mixture, regression := c, c, c, c
	committee.Committee = 3
	adam.Optimizer, adam.Set, adam.Batch = "adam", []string{"rate=0.05"}, 16
	mixture.Hidden, mixture.Experts, mixture.ExpertHidden = nil, 2, []int{4}
	mixture.Data, mixture.Gate = "sine", "x"
	regression.Data = "sine"
	return map[string]config.Config{"classes": c, "committee": committee, "adam": adam, "mixture": mixture, "regression": regression}
}

// bestOf returns the epoch with the least validation figure as a naive reader finds it: of equal errors the one with the lower
// loss, of equal ones the first.
func bestOf(epochs []event.EpochEvent) (best event.EpochEvent) {
	for i, e := range epochs {
		a, b := [2]event.Float{e.ValidationError, e.ValidationLoss}, [2]event.Float{best.ValidationError, best.ValidationLoss}
		if e.ValidationError.Absent() {
			a, b = [2]event.Float{e.ValidationRMSE}, [2]event.Float{best.ValidationRMSE}
		}
		if i == 0 || a[0] < b[0] || a[0] == b[0] && a[1] < b[1] {
			best = e
		}
	}
	return best
}

// TestBestWeights: a run with validation rows ends when its patience does, with the weights of its best epoch: those of a run
// that ends there, to the bit, in the file and from the record.
func TestBestWeights(t *testing.T) {
	for name, c := range overfitting() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			saved := func(c config.Config, name string) *modelfile.Model {
				c.Save = filepath.Join(dir, name+".safetensors")
				train(t, c)
				return readModel(t, c.Save)
			}
			m := keepAll(t, c)
			epochs, done := of[event.EpochEvent](&m.memory), of[event.DoneEvent](&m.memory)[0]
			best := bestOf(epochs)
			if done.Reason != event.ReasonPatience || done.Message != "no better epoch for 4" || done.BestEpoch != best.Epoch || done.Epochs != best.Epoch+c.Patience || best.Epoch == 0 {
				t.Fatalf("%s in epoch %d, best %d; the least is in %d", done.Reason, done.Epochs, done.BestEpoch, best.Epoch)
			}
			if done.Weights != event.WeightsBest || done.Loss != best.Loss || done.ValidationLoss != best.ValidationLoss || digits(epochs[best.Epoch]) != digits(best) {
				t.Errorf("the end tells %+v of %+v", done, best)
			}
			short, last := c, c
			short.Epochs, short.Patience, short.Weights = best.Epoch, -1, "last"
			last.Weights = "last"
			want, got := saved(short, "short"), saved(c, "best")
			if !sameWeights(want, got) || got.Meta["epoch"] != fmt.Sprint(best.Epoch) {
				t.Errorf("the weights that are saved are not those of epoch %d, but of %s", best.Epoch, got.Meta["epoch"])
			}
			if sameWeights(want, saved(last, "last")) {
				t.Error("--weights last is the best epoch")
			}
			file := filepath.Join(dir, "export.safetensors")
			e, err := Export(c, m.last(t), nil, file)
			if err != nil {
				t.Fatal(err)
			}
			if got := readModel(t, file); !sameWeights(want, got) || e.Epoch != best.Epoch || got.Meta["loss"] != want.Meta["loss"] {
				t.Errorf("epoch %d is exported, with %v", e.Epoch, got.Meta)
			}
		})
	}
}

func readModel(t *testing.T, file string) *modelfile.Model {
	t.Helper()
	m, err := modelfile.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func sameWeights(a, b *modelfile.Model) bool {
	return slices.EqualFunc(a.Weights, b.Weights, func(a, b []float64) bool { return slices.EqualFunc(a, b, identical) })
}

// TestPatienceIsResumed: from any checkpoint a run has the same digits, the same end and the same best weights.
func TestPatienceIsResumed(t *testing.T) {
	runs := overfitting()
	auc := runs["committee"]
	auc.Weights = "auc"
	runs["auc"] = auc
	for name, c := range runs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := keepAll(t, c)
			for i := range whole.kept {
				from := &whole.kept[i]
				sameRest(t, whole, resumed(t, c, whole, from), from)
			}
		})
	}
}

// TestPatienceInATeam: several processes have the digits and the end of one.
func TestPatienceInATeam(t *testing.T) {
	for _, name := range []string{"classes", "regression"} {
		c := overfitting()[name]
		c.Test, c.Validation = "0.1", "0.3" // so that there are leaves for all
		whole := keepAll(t, c)
		for _, size := range []int{2, 3} {
			sameRun(t, whole, inCrew(t, c, size))
		}
	}
}

// TestRewindGoesBackToTheBest: what was best later is forgotten, and a run that goes on beyond its patience gets as much again.
func TestRewindGoesBackToTheBest(t *testing.T) {
	c := overfitting()["classes"]
	best := bestOf(of[event.EpochEvent](&keepAll(t, c).memory)).Epoch
	h := staying(t, c)
	h.until(t, best+c.Patience)
	do(t, h.Session, event.Pause{})
	follow(t, h.box, func(d *feed.Delta) bool { return d.Status.Held && d.Status.Epoch > best+c.Patience })
	do(t, h.Session, event.Rewind{Epoch: best - 1})
	do(t, h.Session, event.Stop{})
	if err := <-h.end; err != nil {
		t.Fatal(err)
	}
	changed := of[event.SettingEvent](&h.kept.memory)
	if len(changed) != 1 || changed[0].Key != "patience" || changed[0].Value != fmt.Sprint(2*c.Patience) {
		t.Errorf("changed: %+v", changed)
	}
	epochs, ends := of[event.EpochEvent](&h.kept.memory), of[event.DoneEvent](&h.kept.memory)
	if want := bestOf(epochs[:best]).Epoch; ends[len(ends)-1].BestEpoch != want {
		t.Errorf("the best epoch is %d, expected %d", ends[len(ends)-1].BestEpoch, want)
	}
}

// TestOlderRunsHaveNoValidation: what a configuration of an earlier version leaves open stays so.
func TestOlderRunsHaveNoValidation(t *testing.T) {
	s := mustResume(t, config.Config{Data: prices(t), Epochs: 1}, nil, nil)
	if err := s.Run(t.Context()); err != nil || s.config.Validation != "" || s.config.Patience != 0 {
		t.Errorf("%v: %+v", err, s.config)
	}
}
