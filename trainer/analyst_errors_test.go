package trainer

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/trajectory"
)

// TestErrorsAgainstALoop compares with outputs that are computed one row at a time.
func TestErrorsAgainstALoop(t *testing.T) {
	for name, c := range map[string]config.Config{
		"classes":       {Data: "spirals", Hidden: []int{6}},
		"tanh":          {Data: "spirals", Hidden: []int{6}, Out: "tanh"},
		"sigmoid":       {Data: "spirals", Hidden: []int{6}, Out: "sigmoid", Loss: "xent"},
		"regression":    {Data: "sine", Hidden: []int{4}},
		"committee":     {Data: "spirals", Hidden: []int{6}, Committee: 3},
		"mixture":       {Data: "recipes", Experts: 2, ExpertHidden: []int{3}, Gate: "hue"},
		"three threads": {Data: "spirals", Hidden: []int{6}, Threads: 3},
	} {
		for _, train := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " train ", train), func(t *testing.T) {
				l, m := ready(t, c, 3)
				l.work.Problem.Data.InputScaling.Offset[0] += 3
				e := handled[event.ErrorsEvent](t, l, m, event.ShowErrors{Train: train, Worst: 7})
				compareErrors(t, l, &e, train)
			})
		}
	}
}

func compareErrors(t *testing.T, l *loop, e *event.ErrorsEvent, train bool) {
	t.Helper()
	data, rows := l.work.Problem.Data, &l.work.Problem.Test
	if train {
		rows = &l.work.Problem.Train
	}
	losses, wrong := make([]float64, rows.Rows()), 0
	confusion := make([][]int, len(data.Classes))
	for i := range confusion {
		confusion[i] = make([]int, len(data.Classes))
	}
	for i := range losses {
		x, target := rowsFrom(rows.Inputs, i), rowsFrom(rows.Targets, i)
		row := objective.NewSplit(datasets.Split{Inputs: x, Targets: target})
		eval := trajectory.MeanOutputs(l.work, &row, l.nets.Members)
		losses[i] = eval.Loss
		if data.Classes == nil {
			continue
		}
		u := target
		l.work.OutputsTo(u, x, trajectory.EffectiveWeights(l.nets.Members))
		best := 0
		for k, v := range u.RawRowView(0) {
			if v > u.At(0, best) {
				best = k
			}
		}
		confusion[rows.Labels[i]][best]++
		wrong += eval.Misclassified
	}
	if e.Epoch != 3 || e.Train != train || len(e.Worst) != 7 {
		t.Fatalf("epoch %d, train %v, %d rows", e.Epoch, e.Train, len(e.Worst))
	}
	if data.Classes != nil && !reflect.DeepEqual(e.Confusion, confusion) {
		t.Errorf("confusion %v, want %v", e.Confusion, confusion)
	}
	off := 0
	for i, row := range e.Confusion {
		for j, n := range row {
			if i != j {
				off += n
			}
		}
	}
	if off != wrong {
		t.Errorf("%d confused, %d wrong", off, wrong)
	}
	order := slices.Clone(losses)
	slices.Sort(order)
	for k, w := range e.Worst {
		if math.Abs(float64(w.Loss)-losses[w.Row]) > 1e-9*(1+losses[w.Row]) || math.Abs(float64(w.Loss)-order[len(order)-1-k]) > 1e-9 {
			t.Errorf("place %d: row %d of loss %v, want %v, and %v there", k, w.Row, w.Loss, losses[w.Row], order[len(order)-1-k])
		}
		if data.Classes != nil && w.Target != rows.Labels[w.Row] || data.Classes == nil && (w.Target != -1 || len(w.Outputs) != data.Outputs()) {
			t.Errorf("row %d: %+v", w.Row, w)
		}
		s := &data.InputScaling
		if want := rows.Inputs.At(w.Row, 0)*s.Scale[0] + s.Offset[0]; len(w.Inputs) != data.Inputs() || float64(w.Inputs[0]) != want {
			t.Errorf("row %d has inputs %v, want %v first", w.Row, w.Inputs, want)
		}
	}
}

// rowsFrom returns a copy of a row as a matrix.
func rowsFrom(m *mat.Dense, i int) *mat.Dense {
	return mat.NewDense(1, m.RawMatrix().Cols, slices.Clone(m.RawRowView(i)))
}

// TestResidualsAreEvenlySpaced and in the units of the data.
func TestResidualsAreEvenlySpaced(t *testing.T) {
	l, m := ready(t, config.Config{Data: "sine", Hidden: []int{4}}, 1)
	train := &l.work.Problem.Train
	const shown = 2048 // residuals
	n := 3*shown + 7
	train.Inputs, train.Targets = mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil)
	for i := range n {
		train.Targets.Set(i, 0, float64(i))
	}
	train.X, train.T = train.Inputs, train.Targets
	l.work.Problem.Data.TargetScaling = datasets.Scaling{Offset: []float64{5}, Scale: []float64{2}}
	e := handled[event.ErrorsEvent](t, l, m, event.ShowErrors{Train: true, Worst: 1000})
	u := mat.NewDense(1, 1, nil)
	l.work.OutputsTo(u, mat.NewDense(1, 1, nil), trajectory.EffectiveWeights(l.nets.Members))
	if len(e.Residuals) != 1 || len(e.Residuals[0]) != shown || len(e.Worst) != 64 || e.Confusion != nil {
		t.Fatalf("%d residuals, %d rows", len(e.Residuals[0]), len(e.Worst))
	}
	for i, got := range e.Residuals[0] {
		if want := 2 * (u.At(0, 0) - float64(i*n/shown)); math.Abs(float64(got)-want) > 1e-9 {
			t.Fatalf("residual %d is %v, want %v", i, got, want)
		}
	}
	if w := e.Worst[0]; w.Row != n-1 || w.Targets[0] != event.Float(2*(n-1)+5) || math.Abs(float64(w.Outputs[0])-2*u.At(0, 0)-5) > 1e-9 {
		t.Errorf("the worst row is %+v", w)
	}
}

// TestErrorsOfNumbersThatAreNone: rows whose outputs are NaN are the worst, in no column of the confusion.
func TestErrorsOfNumbersThatAreNone(t *testing.T) {
	l, m := ready(t, config.Config{Data: "spirals", Hidden: []int{4}}, 1)
	for _, row := range []int{3, 5} {
		l.work.Problem.Test.Inputs.Set(row, 0, math.NaN())
	}
	e := handled[event.ErrorsEvent](t, l, m, event.ShowErrors{Worst: 3})
	for i, row := range []int{3, 5} {
		if w := e.Worst[i]; w.Row != row || w.Output != -1 || w.Loss.Finite() {
			t.Errorf("place %d: %+v", i, w)
		}
	}
	counted := 0
	for _, row := range e.Confusion {
		for _, n := range row {
			counted += n
		}
	}
	if want := l.work.Problem.Test.Rows() - 2; counted != want {
		t.Errorf("%d rows are counted, want %d", counted, want)
	}
}
