package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/trainer/analysis"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// curvatures assembles the Hessian and the Gauss–Newton matrix of the starting weights over some of the
// training rows from products with unit vectors, and leaves the eigenvalues to LAPACK, downwards.
func curvatures(t *testing.T, c config.Config, rows []int) map[string][]float64 {
	t.Helper()
	p := mustPrepare(t, c)
	n := p.Network.Dim()
	w := make([]float64, n)
	drawWeights(p, w, c.Seed)
	pick := func(m *mat.Dense) *mat.Dense {
		_, columns := m.Dims()
		out := mat.NewDense(len(rows), columns, nil)
		for i, r := range rows {
			out.SetRow(i, m.RawRowView(r))
		}
		return out
	}
	at := p.Network.Linearize(w, pick(p.Data.Train.Inputs), pick(p.Data.Train.Targets))
	out := map[string][]float64{}
	for name, multiply := range map[string]func(dst, v []float64){"hessian": at.HessianTo, "gauss-newton": at.GaussNewtonTo} {
		out[name] = eigenvaluesOf(t, assemble(n, multiply))
	}
	return out
}

// assemble makes a matrix of its products with unit vectors.
func assemble(n int, multiply func(dst, v []float64)) *mat.SymDense {
	dense := mat.NewSymDense(n, nil)
	unit, column := make([]float64, n), make([]float64, n)
	for j := range n {
		unit[j] = 1
		multiply(column, unit)
		unit[j] = 0
		for i := 0; i <= j; i++ {
			dense.SetSym(i, j, column[i])
		}
	}
	return dense
}

// eigenvaluesOf are LAPACK's, downwards.
func eigenvaluesOf(t *testing.T, m *mat.SymDense) []float64 {
	t.Helper()
	var eigen mat.EigenSym
	if !eigen.Factorize(m, false) {
		t.Fatal("no eigenvalues")
	}
	values := eigen.Values(nil)
	slices.Reverse(values)
	return values
}

// ofTheStart runs one epoch whose steps are too short to matter, so that its spectrum is that of the starting
// weights.
func ofTheStart(t *testing.T, c config.Config) event.SpectrumEvent {
	t.Helper()
	c.Optimizer, c.Set, c.Epochs, c.SpectrumEvery = "sgd", []string{"rate=1e-13"}, 1, 1
	spectra := of[event.SpectrumEvent](train(t, c))
	if len(spectra) != 1 {
		t.Fatalf("%d spectra", len(spectra))
	}
	return spectra[0]
}

func evenRows(n, of int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i * of / n
	}
	return rows
}

func TestSpectrumAgainstDense(t *testing.T) {
	base := config.Config{Data: "sine", Hidden: []int{4}, Spectrum: 2, Seed: 4}
	p := mustPrepare(t, base)
	all := p.Data.Train.Rows()
	for _, rows := range []int{0, -1, 40, all, all + 1} {
		count, selection := all, "all"
		if rows == 40 {
			count, selection = 40, "evenly spaced"
		}
		exact := curvatures(t, base, evenRows(count, all))
		for _, operator := range []string{"", "hessian", "gauss-newton"} {
			for _, method := range []string{"", "lanczos", "power"} {
				if rows != 40 && rows != 0 && method+operator != "" {
					continue
				}
				t.Run(fmt.Sprintf("%s of %s over %d", method, operator, rows), func(t *testing.T) {
					c := base
					c.SpectrumMethod, c.SpectrumOf, c.SpectrumRows = method, operator, rows
					e := ofTheStart(t, c)
					if e.Rows != count || e.Selection != selection || e.Products < len(e.Residuals) || e.Density != nil || e.Trace != nil ||
						e.Method != cmp.Or(method, "lanczos") || e.Operator != cmp.Or(operator, "hessian") {
						t.Errorf("%+v: expected %d rows, %s", e, count, selection)
					}
					checkEigenvalues(t, &e, exact[e.Operator])
				})
			}
		}
	}
}

// checkEigenvalues holds an event for two eigenvalues to all of the matrix, downwards. The Gauss–Newton matrix
// of so small a net has many zeros, of which Lanczos may show one: its last but one need only be an eigenvalue.
func checkEigenvalues(t *testing.T, e *event.SpectrumEvent, exact []float64) {
	t.Helper()
	n := len(exact)
	want := []float64{exact[0], exact[1], exact[n-2], exact[n-1]}
	if e.Method == "power" {
		want = slices.Clone(exact)
		slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
		if want = want[:2]; max(want[0], want[1]) <= 0 {
			want = append(want, exact[0])
		}
		slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	if len(e.Eigenvalues) != len(want) || len(e.Residuals) != len(want) {
		t.Fatalf("%v: expected %d eigenvalues", e.Eigenvalues, len(want))
	}
	for i, got := range e.Eigenvalues {
		if e.Operator == "gauss-newton" && i == 2 {
			want[i] = slices.MinFunc(exact, func(a, b float64) int {
				return cmp.Compare(math.Abs(a-float64(got)), math.Abs(b-float64(got)))
			})
		}
		if math.Abs(float64(got)-want[i]) > float64(e.Residuals[i])+1e-9 {
			t.Errorf("eigenvalue %d is %v ± %v: LAPACK says %v", i, got, e.Residuals[i], want[i])
		}
	}
}

func TestDensityOfASpectrum(t *testing.T) {
	base := config.Config{Data: "sine", Hidden: []int{4}, Spectrum: 2, Seed: 4, Density: true, SpectrumRows: -1}
	p := mustPrepare(t, base)
	all := p.Data.Train.Rows()
	exact := curvatures(t, base, evenRows(all, all))
	for operator, values := range exact {
		c := base
		c.SpectrumOf = operator
		e := ofTheStart(t, c)
		checkEigenvalues(t, &e, values)
		if e.Density == nil || e.Trace == nil {
			t.Fatal("no density or no trace")
		}
		trace, density := *e.Trace, *e.Density
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		if math.Abs(float64(trace.Value)-sum) > 4*float64(trace.Error) || float64(trace.Error) > 2*values[0] || trace.Probes != 10 {
			t.Errorf("%s: trace %+v: LAPACK's eigenvalues add up to %g", operator, trace, sum)
		}
		mass := 0.0
		for _, v := range density.Values {
			mass += float64(v) * float64(density.Grid[1]-density.Grid[0])
		}
		if math.Abs(mass-1) > 1e-5 || len(density.Errors) != len(density.Grid) || density.Probes != 10 || density.Steps > p.Network.Dim() || density.Steps < 3 {
			t.Errorf("%s: density %d × %d of mass %g", operator, density.Probes, density.Steps, mass)
		}
		first, last := float64(density.Grid[0]), float64(density.Grid[len(density.Grid)-1])
		if n := len(values); first > values[n-1] || last < values[0] || !(density.Sigma > 0) {
			t.Errorf("%s: the grid goes from %g to %g", operator, first, last)
		}
	}
}

// TestProbes: they are the same in every epoch, so that densities of a matrix that hardly changes hardly do, or each density has
// probes of its own, the same ones whenever the run is repeated, and another seed has others.
func TestProbes(t *testing.T) {
	spectra := func(fresh bool, seed uint64) []event.SpectrumEvent {
		return of[event.SpectrumEvent](train(t, config.Config{Data: "sine", Hidden: []int{4}, Density: true, FreshProbes: fresh, Seed: seed,
			Optimizer: "sgd", Set: []string{"rate=1e-13"}, Epochs: 2, SpectrumEvery: 1}))
	}
	s := spectra(false, 1)
	a, b := s[0], s[1]
	if change := math.Abs(float64(a.Trace.Value - b.Trace.Value)); change > 1e-8 {
		t.Errorf("the trace went from %+v to %+v", *a.Trace, *b.Trace)
	}
	peak := float64(slices.Max(a.Density.Values))
	for i, v := range a.Density.Values {
		if change := math.Abs(float64(v - b.Density.Values[i])); change > 1e-6*peak {
			t.Fatalf("the density at %v went from %v to %v", a.Density.Grid[i], v, b.Density.Values[i])
		}
	}
	fresh, again, other := spectra(true, 1), spectra(true, 1), spectra(true, 2)
	if a, b := fresh[0].Trace.Value, fresh[1].Trace.Value; math.Abs(float64(a-b)) < 1e-6 || again[1].Trace.Value != b || a == other[0].Trace.Value {
		t.Errorf("traces %v and %v, by another seed %v", a, b, other[0].Trace.Value)
	}
}

// TestWarmSpectra: later spectra begin where the first one ended and need fewer products.
func TestWarmSpectra(t *testing.T) {
	for _, method := range analysis.SpectrumMethods {
		spectra := of[event.SpectrumEvent](train(t, config.Config{Data: "spirals", Hidden: []int{16}, SpectrumRows: 200, Spectrum: 2,
			SpectrumMethod: method, Optimizer: "sgd", Set: []string{"rate=1e-4"}, Epochs: 2, SpectrumEvery: 1}))
		if len(spectra) != 2 || spectra[1].Products >= spectra[0].Products {
			t.Errorf("%s: %d products, then %d", method, spectra[0].Products, spectra[1].Products)
		}
	}
}

// TestInterruptedDensity: the eigenvalues that were found before are told.
func TestInterruptedDensity(t *testing.T) {
	s, box, done := busy(t, config.Config{Set: []string{"rate=1e-4"}, SpectrumRows: 100, Spectrum: 1, Density: true})
	time.Sleep(30 * time.Millisecond)
	do(t, s, event.Stop{})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	d := follow(t, box, func(d *feed.Delta) bool { return d.Done != nil })
	if d.Done.Reason != event.ReasonStopped {
		t.Errorf("done %+v", d.Done)
	}
	for _, e := range d.Spectra {
		if len(e.Eigenvalues) == 0 || (e.Density == nil) != (e.Trace == nil) {
			t.Errorf("%+v", e)
		}
	}
}

// TestSpectraAreRationed: whatever there is to spend, a run has one, which takes about as long as the training before.
func TestSpectraAreRationed(t *testing.T) {
	for share, want := range map[float64]int{1e-9: 1, 1e9: 5} {
		for _, method := range []string{"tr-newton", "sgd"} {
			c := config.Config{Data: "spirals", Hidden: []int{20, 10}, Epochs: 5, SpectrumEvery: 1, SpectrumShare: share, Optimizer: method}
			spectra := of[event.SpectrumEvent](train(t, c))
			if len(spectra) != want {
				t.Errorf("%s: %d spectra: expected %d", method, len(spectra), want)
			}
			first := spectra[0]
			if short := first.Products == 6*3+6; len(first.Eigenvalues) != 6 || method == "sgd" && (!short || first.Stop != krylov.Limit) {
				t.Errorf("%s: %d products, %v", method, first.Products, first.Stop)
			}
		}
	}
}

// TestTheLargestAlone: one end takes a fraction of the products, to the tolerance that is asked for.
func TestTheLargestAlone(t *testing.T) {
	base := config.Config{Data: "spirals", Hidden: []int{16}, Spectrum: 1, SpectrumTolerance: 1e-6, Seed: 4}
	both := ofTheStart(t, base)
	base.SpectrumEnds = "top"
	top := ofTheStart(t, base)
	if top.Ends != "top" || both.Ends != "" || len(top.Eigenvalues) != 1 || 2*top.Products > both.Products {
		t.Fatalf("%+v, both ends %+v", top, both)
	}
	for i, v := range top.Eigenvalues {
		if r := float64(top.Residuals[i]); r > 2e-6*float64(top.Eigenvalues[0]) || math.Abs(float64(v-both.Eigenvalues[i])) > r {
			t.Errorf("%v ± %g: with both ends %v", v, r, both.Eigenvalues[i])
		}
	}
	base.SpectrumMethod = "power"
	if _, err := New(base); err == nil || !strings.Contains(err.Error(), "lanczos") {
		t.Errorf("by the power method: %v", err)
	}
}

// long is a spectrum that takes long.
var long = config.Config{Spectrum: 60}

// busy returns a session in the middle of a spectrum.
func busy(t *testing.T, c config.Config) (*Session, *feed.Mailbox, chan error) {
	t.Helper()
	c.Data, c.Hidden, c.Optimizer = "digits", []int{10}, "sgd"
	s := mustNew(t, c)
	box := s.Subscribe()
	t.Cleanup(box.Close)
	done := make(chan error, 1)
	go func() { done <- s.Run(context.Background()) }()
	follow(t, box, func(d *feed.Delta) bool { return d.Run != nil && d.Status.Phase == event.Running })
	do(t, s, event.Spectrum{})
	follow(t, box, func(d *feed.Delta) bool { return d.Status.Computing == "spectrum" })
	return s, box, done
}

func TestCommandsDuringASpectrum(t *testing.T) {
	s, box, done := busy(t, long)
	var refused *event.CommandError
	if err := s.Do(context.Background(), event.Spectrum{}); !errors.As(err, &refused) {
		t.Errorf("a second spectrum: %v", err)
	}
	do(t, s, event.Scale{Factor: 2})
	if d := follow(t, box, func(d *feed.Delta) bool { return len(d.Settings) > 0 }); d.Status.Computing != "spectrum" {
		t.Error("a changed setting ended the spectrum")
	}
	do(t, s, event.Pause{On: true})
	if d := follow(t, box, func(d *feed.Delta) bool { return d.Status.Phase == event.Paused && d.Status.Computing == "" }); len(d.Spectra) > 0 {
		t.Error("a pause does not cut the spectrum")
	}
	do(t, s, event.Spectrum{})
	follow(t, box, func(d *feed.Delta) bool { return d.Status.Computing == "spectrum" }) // which a paused run may be asked for
	do(t, s, event.Stop{})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if d := follow(t, box, func(d *feed.Delta) bool { return d.Done != nil }); d.Done.Reason != event.ReasonStopped || len(d.Spectra) > 0 {
		t.Errorf("done %+v with %d spectra", d.Done, len(d.Spectra))
	}
}

func TestSwitchDuringASpectrum(t *testing.T) {
	s, box, done := busy(t, long)
	do(t, s, event.Switch{Optimizer: "momentum"})
	if d := follow(t, box, func(d *feed.Delta) bool { return len(d.Switches) > 0 }); len(d.Spectra) > 0 {
		t.Error("the spectrum went on")
	}
	do(t, s, event.Stop{})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTimeLimitHoldsDuringASpectrum(t *testing.T) {
	start := time.Now()
	d := of[event.DoneEvent](train(t, config.Config{Data: "digits", Hidden: []int{10}, Optimizer: "sgd", Spectrum: 200, SpectrumEvery: 1, TimeLimit: 200 * time.Millisecond}))
	if d[0].Reason != event.ReasonTime {
		t.Errorf("done %+v", d)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// TestSpectrumOfNothing: weights whose curvature overflows have no eigenvalues, and the event says why.
func TestSpectrumOfNothing(t *testing.T) {
	for _, method := range analysis.SpectrumMethods {
		c := config.Config{Data: "sine", Hidden: []int{2}, Act: "identity", SpectrumMethod: method, Density: true}
		p := mustPrepare(t, c)
		s := mustNew(t, c)
		w := make([]float64, p.Network.Dim())
		for i := range w {
			w[i] = 1e200
		}
		l := newLoop(t.Context(), s)
		l.work.Problem, l.nets.Members = p, []*trajectory.Member{{Weights: w, Settings: s.settings, Binding: workplace.Binding{Problem: p}}}
		box := s.Subscribe()
		defer box.Close()
		l.analyst.ComputeSpectrum()
		d, err := box.Wait(t.Context())
		if err != nil || len(d.Spectra) != 1 || d.Spectra[0].Stop != krylov.NotFinite || len(d.Spectra[0].Eigenvalues) != 0 || d.Spectra[0].Density != nil {
			t.Errorf("%s: %v, %+v", method, err, d.Spectra)
		}
	}
}
