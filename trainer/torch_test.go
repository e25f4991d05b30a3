//go:build unix

package trainer

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/floats"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/peer"
	"newtop/trainer/peer/peertest"
)

// torchTwin has the problem and first weights of a configuration told to PyTorch, and returns them and what trains them there.
func torchTwin(t *testing.T, c config.Config) (p *objective.Problem, w []float64, there config.Config) {
	t.Helper()
	peertest.Torch(t)
	p = mustPrepare(t, c)
	w = make([]float64, p.Dim())
	drawWeights(p, w, c.Seed)
	type rows struct {
		X [][]float64 `json:"x"`
		T []int       `json:"t"`
	}
	told := func(s *datasets.Split) (out rows) {
		for i := range s.Rows() {
			out.X = append(out.X, s.Inputs.RawRowView(i))
			out.T = append(out.T, s.Labels[i])
		}
		return out
	}
	var layers [][2]any
	for i, b := range p.Network.Blocks() {
		bias := p.Network.Biases()[i]
		if next := b.Offset + b.Size(); bias.Offset != next || b.To != i+1 || b.From != i {
			t.Fatalf("block %+v, biases %+v: PyTorch's order is another", b, bias)
		}
		matrix := make([][]float64, b.Rows)
		for r := range matrix {
			matrix[r] = w[b.Offset+r*b.Cols:][:b.Cols]
		}
		layers = append(layers, [2]any{matrix, w[bias.Offset:][:bias.Nodes]})
	}
	text, err := json.Marshal(map[string]any{"layers": layers, "train": told(&p.Train.Split), "test": told(&p.Test.Split)})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "twin.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Model, c.Data, c.Hidden = filepath.Join("..", "internal", "python", "testdata", "twin.py")+" "+file, "", nil
	return p, w, c
}

// Loss, gradient, both products and the eigenvalues are PyTorch's, which share no line with newtop's.
func TestTorchHasTheSameCurvature(t *testing.T) {
	problem, w, there := torchTwin(t, config.Config{Data: "spirals", Hidden: []int{7, 5}, Seed: 3})
	c, err := peer.Open(t.Context(), there.Model, peer.Command{}, peer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	m, err := peer.NewModel(c)
	if err != nil {
		t.Fatal(err)
	}
	if notes := m.Notes(); notes != nil {
		t.Errorf("notes %q", notes)
	}
	rng, n := rand.New(rand.NewPCG(5, 5)), len(w)
	for i := range w { // away from the weights that PyTorch was given
		w[i] += 0.3 * rng.NormFloat64()
	}
	for _, part := range []datasets.Part{datasets.Train, datasets.Test} {
		own, torch := problem.Bind(objective.Rows{Part: part}, models.Options{}), m.Bind(objective.Rows{Part: part}, models.Options{})
		own.Update(w)
		torch.Update(w)
		if a, b := own.Evaluation(), torch.Evaluation(); apart(a.Loss, b.Loss) > 1e-10 || a.Error() != b.Error() {
			t.Errorf("%s rows: %+v, in PyTorch %+v", part, a, b)
		}
		if part == datasets.Test {
			continue
		}
		v, a, b := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		for name, f := range map[string]func(objective.Linearization, []float64){
			"gradients": func(l objective.Linearization, dst []float64) { l.GradientTo(dst) },
			"Hv":        func(l objective.Linearization, dst []float64) { l.HessianTo(dst, v) },
			"GNv":       func(l objective.Linearization, dst []float64) { l.GaussNewtonTo(dst, v) },
		} {
			f(own, a)
			f(torch, b)
			if d := floats.Distance(a, b, 2); d > 1e-10*floats.Norm(a, 2) {
				t.Errorf("%s differ by %.2g", name, d/floats.Norm(a, 2))
			}
		}
		here, far := peertest.Eigenvalues(t, own), peertest.Eigenvalues(t, torch)
		for _, i := range []int{0, 1, n - 2, n - 1} {
			if apart(here[i], far[i]) > 1e-10 {
				t.Errorf("eigenvalue %d is %.15g, in PyTorch %.15g", i, here[i], far[i])
			}
		}
	}
}

// With the factors of its layers PyTorch's model is trained as newtop's own.
func TestTorchHasTheSameFactors(t *testing.T) {
	own := config.Config{Data: "spirals", Hidden: []int{7, 5}, Seed: 3, Epochs: 1}
	for _, run := range [][]string{{"kfac", "batch=50"}, {"kfac", "batch=40", "step=model", "side=6"}, {"hessian-free", "batch=60"}} {
		own.Optimizer, own.Set = run[0], run[1:]
		_, _, there := torchTwin(t, own)
		want, got := of[event.EpochEvent](train(t, own)), of[event.EpochEvent](train(t, there))
		for i, e := range want[1:] {
			i++
			if a, b := float64(e.Loss), float64(got[i].Loss); apart(b, a) > 1e-9 || apart(float64(got[i].StepNorm), float64(e.StepNorm)) > 1e-8 {
				t.Errorf("%v, epoch %d: loss %.15g and step %v, in PyTorch %.15g and %v", run, e.Epoch, a, e.StepNorm, b, got[i].StepNorm)
			}
		}
	}
}

// apart returns how far a number is from another, relative to that.
func apart(a, b float64) float64 { return math.Abs(a-b) / math.Abs(b) }
