package analysis

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/models"
	"newtop/trainer/krylov"
)

// TestSpectraOfPyTorch holds every estimate to the Hessians' eigenvalues that PyTorch's automatic
// differentiation and its own eigenvalue solver gave for eight nets.
func TestSpectraOfPyTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, which has nothing to find in it")
	}
	text, err := os.ReadFile(filepath.Join("testdata", "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var nets []struct {
		Name        string
		Layers      []int
		Activations []models.Activation
		Loss        models.LossFunction
		Connections [][2]int
		W           []float64
		X, T        [][]float64
		Eigenvalues []float64 `json:"hessian_eigenvalues"` // upwards
	}
	if err := json.Unmarshal(text, &nets); err != nil {
		t.Fatal(err)
	}
	for _, net := range nets {
		t.Run(net.Name, func(t *testing.T) {
			a := models.Architecture{Inputs: net.Layers[0], Loss: net.Loss}
			for i, nodes := range net.Layers[1:] {
				a.Layers = append(a.Layers, models.Layer{Nodes: nodes, Activation: net.Activations[i]})
			}
			for _, c := range net.Connections {
				a.Connections = append(a.Connections, models.Connection{To: c[0], From: c[1]})
			}
			network, err := models.NewNetwork(a)
			if err != nil {
				t.Fatal(err)
			}
			h := hessian{network.Linearize(net.W, table(net.X), table(net.T))}
			againstEigenvalues(t, h, net.Eigenvalues)
		})
	}
}

func table(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

// againstEigenvalues compares what is estimated of h to its eigenvalues, upwards.
func againstEigenvalues(t *testing.T, h krylov.Operator, exact []float64) {
	t.Helper()
	n, k := len(exact), 3
	scale := max(math.Abs(exact[0]), math.Abs(exact[n-1]))
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s: %.12g, PyTorch %.12g", what, got, want)
		}
	}
	lanczos, _ := krylov.Lanczos(h, k, krylov.LanczosOptions{Tolerance: 1e-11, Steps: n})
	power, _ := krylov.Power(h, k, krylov.PowerOptions{Tolerance: 1e-8, Steps: 20_000})
	if lanczos.Stop != krylov.Residual || power.Stop != krylov.Residual {
		t.Fatalf("Lanczos ended by %v, the power method by %v", lanczos.Stop, power.Stop)
	}
	bySize := slices.Clone(exact)
	slices.SortFunc(bySize, func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
	for i := range k {
		near("the largest", lanczos.Top[i].Value, exact[n-1-i], 1e-9*scale)
		near("the smallest", lanczos.Bottom[i].Value, exact[i], 1e-9*scale)
		near("the largest in size", power.Pairs[i].Value, bySize[i], 1e-9*scale)
	}
	density, _ := krylov.SpectralDensity(h, krylov.DensityOptions{Probes: 60})
	for j := range 6 {
		want := 0.0
		for _, v := range exact {
			want += math.Pow(v, float64(j)) / float64(n)
		}
		got, deviation := density.Moment(j)
		near("moment", got, want, 4*deviation+1e-12)
		if j == 1 {
			near("trace", density.Trace.Value, want*float64(n), 4*density.Trace.Error)
		}
	}
}
