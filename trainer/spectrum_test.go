package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/nightly"
	"newtop/models"
	"newtop/trainer/analysis"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// curvatures assembles the Hessian and the Gauss–Newton matrix of the starting weights over some of the
// training rows from products with unit vectors, and leaves the eigenvalues to LAPACK, downwards.
func curvatures(t *testing.T, c config.Config, rows []int) map[string][]float64 {
	t.Helper()
	p, err := workplace.Prepare(&c)
	if err != nil {
		t.Fatal(err)
	}
	n := p.Network.Dim()
	w := make([]float64, n)
	p.Network.InitTo(w, p.Init, rand.New(rand.NewPCG(c.Seed, workplace.StreamWeights)))
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
	p, err := workplace.Prepare(&base)
	if err != nil {
		t.Fatal(err)
	}
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
	p, err := workplace.Prepare(&base)
	if err != nil {
		t.Fatal(err)
	}
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

// TestEndsLateInTraining counts over thirty trained nets of how many the k-th smallest and the k-th largest eigenvalue of the Hessian,
// by gonum's dense solver, are within the ± of Lanczos: with a tolerance for each end, and with one for both, by which the third
// smallest mostly belongs to another eigenvalue.
func TestEndsLateInTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, which has nothing to find in it")
	}
	const k = 3
	seeds := uint64(nightly.Of(5, 1))
	options := []struct {
		name string
		krylov.LanczosOptions
	}{{name: "one tolerance"}, {name: "one for each end"}, {name: "one for each end, basis of 16"}}
	options[0].Floor, options[2].Basis = 1e-3, 16
	var held [3][2][k]int
	var products [3]int
	nets := 0
	for _, c := range []config.Config{
		{Data: "spirals", Hidden: []int{16, 8}, Optimizer: "tr-newton", Epochs: 60},
		{Data: "spirals", Hidden: []int{16, 8}, Optimizer: "adam", Epochs: 60},
		{Data: "sine", Hidden: []int{12, 8}, Optimizer: "tr-newton", Epochs: 100},
		{Data: "sine", Hidden: []int{12, 8}, Optimizer: "tr-gn", Epochs: 100},
		{Data: "parity", Hidden: []int{12}, Optimizer: "tr-newton", Epochs: 30},
		{Data: "recipes", Hidden: []int{8}, Optimizer: "tr-gn", Epochs: 20},
	} {
		for c.Seed = 1; c.Seed <= seeds; c.Seed++ {
			h, exact := trained(t, c)
			n := len(exact)
			rounding := 1e-14 * max(math.Abs(exact[0]), math.Abs(exact[n-1]))
			for i, o := range options {
				got, err := krylov.Lanczos(h, k, o.LanczosOptions)
				if err != nil {
					t.Fatal(err)
				}
				products[i] += got.Products
				for j := range k {
					if p := got.Bottom[j]; math.Abs(p.Value-exact[n-1-j]) <= p.Residual+rounding {
						held[i][0][j]++
					}
					if p := got.Top[j]; math.Abs(p.Value-exact[j]) <= p.Residual+rounding {
						held[i][1][j]++
					}
				}
			}
			nets++
		}
	}
	for i, o := range options {
		t.Logf("%s: of %d nets, smallest within ± %d, largest within ± %d, %d products a net", o.name, nets, held[i][0], held[i][1], products[i]/nets)
		if i > 0 && (slices.Min(held[i][0][:]) < nets*9/10 || slices.Min(held[i][1][:]) < nets*9/10) {
			t.Errorf("%s: expected at least %d of %d", o.name, nets*9/10, nets)
		}
	}
}

// trained returns the Hessian at the weights that a run ends with, over the rows of its spectra, and its eigenvalues, downwards.
func trained(t *testing.T, c config.Config) (h assembled, eigenvalues []float64) {
	t.Helper()
	l := newLoop(t.Context(), mustNew(t, c))
	if err := l.run(); err != nil {
		t.Fatal(err)
	}
	defer l.work.Pool.Close()
	at := l.work.Binder().Bind(objective.Rows{Count: l.analyst.SpectrumRows()}, models.Options{Pool: l.work.Pool, Double: true})
	at.Update(l.nets.Members[0].Weights)
	h.SymDense = assemble(at.Dim(), at.HessianTo)
	return h, eigenvaluesOf(t, h.SymDense)
}

// assembled is a matrix as an operator.
type assembled struct{ *mat.SymDense }

func (a assembled) Dim() int { return a.SymmetricDim() }

func (a assembled) MulVecTo(dst, v []float64) {
	mat.NewVecDense(len(dst), dst).MulVec(a.SymDense, mat.NewVecDense(len(v), v))
}

// TestFreshProbes: each density has probes of its own, the same ones whenever the run is repeated, and another seed has others.
func TestFreshProbes(t *testing.T) {
	traces := func(seed uint64) (list []event.Float) {
		for _, e := range of[event.SpectrumEvent](train(t, config.Config{Data: "sine", Hidden: []int{4}, Density: true, FreshProbes: true, Seed: seed,
			Optimizer: "sgd", Set: []string{"rate=1e-13"}, Epochs: 2, SpectrumEvery: 1})) {
			list = append(list, e.Trace.Value)
		}
		return list
	}
	a, again, other := traces(1), traces(1), traces(2)
	if !slices.Equal(a, again) || a[0] == a[1] || math.Abs(float64(a[0]-a[1])) < 1e-6 || a[0] == other[0] {
		t.Errorf("traces %v, again %v, by another seed %v", a, again, other)
	}
}

// TestDensitiesCompare: the probes are the same in every epoch, so that a matrix that hardly changes has a
// density that hardly does.
func TestDensitiesCompare(t *testing.T) {
	spectra := of[event.SpectrumEvent](train(t, config.Config{Data: "sine", Hidden: []int{4}, Density: true,
		Optimizer: "sgd", Set: []string{"rate=1e-13"}, Epochs: 2, SpectrumEvery: 1}))
	if len(spectra) != 2 {
		t.Fatalf("%d spectra", len(spectra))
	}
	a, b := spectra[0], spectra[1]
	if change := math.Abs(float64(a.Trace.Value - b.Trace.Value)); change > 1e-8 {
		t.Errorf("the trace went from %+v to %+v", *a.Trace, *b.Trace)
	}
	peak := float64(slices.Max(a.Density.Values))
	for i, v := range a.Density.Values {
		if change := math.Abs(float64(v - b.Density.Values[i])); change > 1e-6*peak {
			t.Fatalf("the density at %v went from %v to %v", a.Density.Grid[i], v, b.Density.Values[i])
		}
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
	s := mustNew(t, config.Config{Data: "digits", Hidden: []int{10}, Optimizer: "sgd", Set: []string{"rate=1e-4"},
		SpectrumRows: 100, Spectrum: 1, Density: true})
	box := s.Subscribe()
	t.Cleanup(box.Close)
	done := make(chan error, 1)
	go func() { done <- s.Run(context.Background()) }()
	follow(t, box, func(d *feed.Delta) bool { return d.Run != nil && d.Status.Phase == event.Running })
	do(t, s, event.Spectrum{})
	follow(t, box, func(d *feed.Delta) bool { return d.Status.Computing == "spectrum" })
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

// TestSpectrumOfLetters compares the two methods on the letter net, whose matrix is too large to assemble.
func TestSpectrumOfLetters(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no ../shared/data with the UCI letter data")
	}
	c := config.Config{Data: "letter", DataDir: dir, Seed: 1, SpectrumRows: 256, Spectrum: 1}
	lanczos := ofTheStart(t, c)
	c.SpectrumMethod = "power"
	power := ofTheStart(t, c)
	most := func(e *event.SpectrumEvent) (value, residual float64) {
		for i, v := range e.Eigenvalues {
			if math.Abs(float64(v)) > math.Abs(value) {
				value, residual = float64(v), float64(e.Residuals[i])
			}
		}
		return value, residual
	}
	a, ra := most(&lanczos)
	b, rb := most(&power)
	if math.Abs(a-b) > ra+rb || a == 0 {
		t.Errorf("%g ± %g by Lanczos, %g ± %g by the power method", a, ra, b, rb)
	}
}

func TestSpectraAreRationed(t *testing.T) {
	// With nothing to spend there is none: what one takes is estimated before the first.
	if n := len(of[event.SpectrumEvent](train(t, config.Config{Data: "spirals", Hidden: []int{20, 10}, Epochs: 5, SpectrumEvery: 1, SpectrumShare: 1e-9}))); n != 0 {
		t.Errorf("%d spectra: expected 0", n)
	}
	if n := len(of[event.SpectrumEvent](train(t, config.Config{Data: "spirals", Hidden: []int{20, 10}, Epochs: 5, SpectrumEvery: 1, SpectrumShare: 1e9}))); n != 5 {
		t.Errorf("%d spectra: expected 5", n)
	}
}

func TestSpectraDoNotTouchTheRun(t *testing.T) {
	for _, optimizer := range []string{"tr-newton", "sgd"} {
		plain := of[event.EpochEvent](train(t, config.Config{Data: "spirals", Hidden: []int{20, 10}, Optimizer: optimizer, Epochs: 4}))
		watched := of[event.EpochEvent](train(t, config.Config{Data: "spirals", Hidden: []int{20, 10}, Optimizer: optimizer, Epochs: 4, SpectrumEvery: 1}))
		for i := range plain {
			if plain[i].Loss != watched[i].Loss || plain[i].GradientEquivalents != watched[i].GradientEquivalents {
				t.Errorf("%s, epoch %d: loss %v and work %v became %v and %v under spectra", optimizer, i,
					plain[i].Loss, plain[i].GradientEquivalents, watched[i].Loss, watched[i].GradientEquivalents)
			}
		}
	}
}

// busy returns a session in the middle of a spectrum that takes long.
func busy(t *testing.T) (*Session, *feed.Mailbox, chan error) {
	t.Helper()
	s := mustNew(t, config.Config{Data: "digits", Hidden: []int{10}, Optimizer: "sgd", Spectrum: 60})
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
	s, box, done := busy(t)
	var refused *event.CommandError
	if err := s.Do(context.Background(), event.Spectrum{}); !errors.As(err, &refused) {
		t.Errorf("a second spectrum: %v", err)
	}
	do(t, s, event.Pause{On: true})
	do(t, s, event.Scale{Factor: 2})
	if d := follow(t, box, func(d *feed.Delta) bool { return len(d.Settings) > 0 }); d.Status.Computing != "spectrum" {
		t.Error("a changed setting ended the spectrum")
	}
	do(t, s, event.Stop{})
	if err := <-done; err != nil {
		t.Error(err)
	}
	if d := follow(t, box, func(d *feed.Delta) bool { return d.Done != nil }); d.Done.Reason != event.ReasonStopped || len(d.Spectra) > 0 {
		t.Errorf("done %+v with %d spectra", d.Done, len(d.Spectra))
	}
}

func TestSwitchDuringASpectrum(t *testing.T) {
	s, box, done := busy(t)
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
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestSpectrumOfNothing: weights whose curvature overflows have no eigenvalues, and the event says why.
func TestSpectrumOfNothing(t *testing.T) {
	for _, method := range analysis.SpectrumMethods {
		c := config.Config{Data: "sine", Hidden: []int{2}, Act: "identity", SpectrumMethod: method, Density: true}
		p, err := workplace.Prepare(&c)
		if err != nil {
			t.Fatal(err)
		}
		s := mustNew(t, c)
		w := make([]float64, p.Network.Dim())
		for i := range w {
			w[i] = 1e200
		}
		l := newLoop(t.Context(), s)
		l.work.Problem, l.nets.Members = p, []*trajectory.Member{{Weights: w, Settings: s.settings}}
		box := s.Subscribe()
		defer box.Close()
		l.analyst.ComputeSpectrum()
		d, err := box.Wait(t.Context())
		if err != nil || len(d.Spectra) != 1 || d.Spectra[0].Stop != krylov.NotFinite || len(d.Spectra[0].Eigenvalues) != 0 || d.Spectra[0].Density != nil {
			t.Errorf("%s: %v, %+v", method, err, d.Spectra)
		}
	}
}
