package minibatch

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"newtop/trainer/optim"
)

// plain moves weights along the gradient and remembers the rates.
type plain struct {
	rate  float64
	rates []float64
}

func (p *plain) Begin(_ *optim.State, rate float64) {
	p.rate = rate
	p.rates = append(p.rates, rate)
}

func (*plain) Carried() any { return &struct{}{} }

func (p *plain) Move(w, g []float64, _ int) {
	for i := range w {
		w[i] -= p.rate * g[i]
	}
}

// together is plain as an update of all weights at once.
type together struct{ plain }

func (t *together) MoveAll(_ context.Context, s *optim.State, b *Batch) error {
	t.plain.Move(s.W, b.Gradient, 0)
	return nil
}

func (*together) Report(r *optim.Report) { r.Diagnostics = []optim.Diagnostic{{Key: "here"}} }

// constant has the same gradient at every row.
type constant struct {
	gradient []float64
	rows     int
	weights  []optim.Span
}

func (o *constant) Dim() int                                          { return len(o.gradient) }
func (o *constant) Rows() int                                         { return o.rows }
func (o *constant) Loss([]float64) float64                            { return 1 }
func (o *constant) GradientTo(dst, _ []float64) float64               { copy(dst, o.gradient); return 1 }
func (o *constant) Weights() []optim.Span                             { return o.weights }
func (o *constant) BatchGradientTo(dst, w []float64, _ []int) float64 { return o.GradientTo(dst, w) }

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func settings(t *testing.T, set ...string) *optim.Settings {
	t.Helper()
	s := optim.NewSettings(Parameters(Rate.Starting(1, ""), Size.Starting(0)))
	for i := 0; i < len(set); i += 2 {
		if err := s.SetText(set[i], set[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestSchedules holds the rates of each batch against the formulas, worked out by hand.
func TestSchedules(t *testing.T) {
	cos := func(x float64) float64 { return (1 + math.Cos(math.Pi*x)) / 2 }
	for _, test := range []struct {
		name   string
		set    []string
		epochs int
		want   []float64 // of two batches an epoch
	}{
		{"constant", nil, 2, []float64{1, 1, 1, 1}},
		{"linear over the run", []string{"schedule", "linear"}, 2, []float64{1, 0.75, 0.5, 0.25}},
		{"linear without an end", []string{"schedule", "linear"}, 0, []float64{1, 1, 1, 1}},
		{"linear over a horizon", []string{"schedule", "linear", "horizon", "4"}, 2, []float64{1, 0.875, 0.75, 0.625}},
		{"linear to a floor, and beyond", []string{"schedule", "linear", "horizon", "1", "end-rate", "0.2"}, 9, []float64{1, 0.6, 0.2, 0.2}},
		{"cosine", []string{"schedule", "cosine"}, 2, []float64{1, cos(0.25), 0.5, cos(0.75)}},
		{"cosine to a floor", []string{"schedule", "cosine", "end-rate", "0.5"}, 2, []float64{1, 0.5 + cos(0.25)/2, 0.75, 0.5 + cos(0.75)/2}},
		{"warm-up alone", []string{"warmup", "2"}, 0, []float64{0.25, 0.5, 0.75, 1}},
		{"warm-up and linear", []string{"schedule", "linear", "warmup", "1"}, 2, []float64{0.5, 1, 1, 0.5}},
		{"warm-up of a batch", []string{"schedule", "linear", "warmup", "0.5", "rate", "2"}, 2, []float64{2, 2, 4.0 / 3, 2.0 / 3}},
	} {
		u := new(plain)
		m := &Method{Update: u}
		set := settings(t, append([]string{"batch", "2"}, test.set...)...)
		s := &optim.State{Objective: &constant{gradient: []float64{1}, rows: 4}, W: []float64{0}, Settings: set, Epochs: test.epochs, Rand: random()}
		for s.Epoch < 2 {
			r, err := m.Step(context.Background(), s)
			if err != nil || r.Rate != u.rates[len(u.rates)-1] {
				t.Fatalf("%s: %v, rate %g", test.name, err, r.Rate)
			}
			s.Epoch++
		}
		if !slices.EqualFunc(u.rates, test.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
			t.Errorf("%s: rates %v, want %v", test.name, u.rates, test.want)
		}
	}
}

// inBatches has its rows in batches alone, and keeps which were asked for.
type inBatches struct {
	constant
	sizes []int
	asked [][]int
}

func (o *inBatches) Batches() []int { return o.sizes }

func (o *inBatches) BatchGradientTo(dst, w []float64, rows []int) float64 {
	o.asked = append(o.asked, slices.Clone(rows))
	return o.GradientTo(dst, w)
}

func TestBatchesOfAnObjective(t *testing.T) {
	for size, want := range map[string][][]int{"1": {{0}, {1}, {2}, {3}}, "5": {{0, 1}, {2, 3}}, "9": {{0, 1, 2}, {3}}, "0": nil, "11": nil} {
		o := &inBatches{constant: constant{gradient: []float64{1}, rows: 11}, sizes: []int{4, 4, 2, 1}}
		s := &optim.State{Objective: o, W: []float64{0}, Settings: settings(t, "batch", size), Rand: random()}
		for range 2 {
			o.asked = nil
			if _, err := (&Method{Update: new(plain)}).Step(context.Background(), s); err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(o.asked, want, slices.Equal) {
				t.Errorf("batch=%s: %v, want %v", size, o.asked, want)
			}
		}
	}
}

// TestScheduleOver: a rate of 0 is the end of a run, and no epoch.
func TestScheduleOver(t *testing.T) {
	m := &Method{Update: new(plain)}
	s := &optim.State{Objective: &constant{gradient: []float64{1}, rows: 4}, W: []float64{5}, Epoch: 3, Settings: settings(t, "schedule", "linear", "horizon", "3")}
	if _, err := m.Step(context.Background(), s); !errors.Is(err, optim.ErrStalled) || s.W[0] != 5 {
		t.Errorf("%v, weight %g", err, s.W[0])
	}
}

// TestDecay: weights shrink by the rate that the schedule gives, times the decay, before they move; biases do not.
func TestDecay(t *testing.T) {
	for _, u := range []Update{new(plain), new(together)} {
		m := &Method{Update: u}
		o := &constant{gradient: make([]float64, 2*tile+4), rows: 4, weights: []optim.Span{{First: 1, Last: 3}, {First: tile - 1, Last: 2*tile + 1}}}
		o.gradient[0], o.gradient[1] = 1, 1
		s := &optim.State{Objective: o, W: make([]float64, len(o.gradient)), Settings: settings(t, "weight-decay", "0.5", "schedule", "linear", "horizon", "2", "rate", "0.1")}
		for i := range s.W {
			s.W[i] = 2
		}
		want := []float64{2, 2}
		for range 2 {
			rate := 0.1 - 0.05*float64(s.Epoch)
			want[0] -= rate
			want[1] = want[1]*(1-rate*0.5) - rate
			if _, err := m.Step(context.Background(), s); err != nil {
				t.Fatal(err)
			}
			s.Epoch++
		}
		shrunk := 2 * 0.95 * 0.975
		for i, x := range s.W {
			w := 2.0
			switch {
			case i < 2:
				w = want[i]
			case i < 3, i >= tile-1 && i < 2*tile+1:
				w = shrunk
			}
			if math.Abs(x-w) > 1e-15 {
				t.Errorf("%T: weight %d is %g, want %g", u, i, x, w)
			}
		}
	}
}

// TestWholeUpdates: an update of all weights sees a finite gradient only, and adds to the report.
func TestWholeUpdates(t *testing.T) {
	u := new(together)
	m, o := &Method{Update: u}, &constant{gradient: []float64{3, 4}, rows: 2}
	s := &optim.State{Objective: o, W: []float64{0, 0}, Settings: settings(t)}
	r, err := m.Step(context.Background(), s)
	if err != nil || r.GradientNorm != 5 || r.StepNorm != 5 || len(r.Diagnostics) != 1 || s.W[1] != -4 {
		t.Errorf("%v, %+v, weights %v", err, r, s.W)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		o.gradient[1] = bad
		var broken *optim.NotFiniteError
		if _, err := m.Step(context.Background(), s); !errors.As(err, &broken) || broken.What != "gradient" || s.W[1] != -4 {
			t.Errorf("%g: %v, weights %v", bad, err, s.W)
		}
	}
}

// TestNormsWhoseSquaresAreNone: a gradient is not lost whose square is too large or too small for a number.
func TestNormsWhoseSquaresAreNone(t *testing.T) {
	for _, size := range []float64{1e-200, 1e-154, 1e200} {
		for _, u := range []Update{new(plain), new(together)} {
			m := &Method{Update: u}
			o := &constant{gradient: []float64{3 * size, 4 * size}, rows: 1}
			s := &optim.State{Objective: o, W: make([]float64, 2), Settings: settings(t, "rate", "0.5")}
			if _, err := m.Step(context.Background(), s); err != nil {
				t.Fatal(err)
			}
			if got, err := m.move(context.Background(), s, false); err != nil || math.Abs(got-5*size) > 1e-14*size {
				t.Errorf("%T: ‖g‖ = %g, want %g, %v", u, got, 5*size, err)
			}
		}
	}
}
