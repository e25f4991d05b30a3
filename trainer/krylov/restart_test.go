package krylov

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// steep returns n values of which a few stand apart at both ends from a bulk around zero, as those of networks do.
func steep(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 0.1 * math.Cos(float64(i)*2.399963)
	}
	copy(v, []float64{9, 6, 4, 2.5, 1.5, 1, 0.6, -0.9, -0.5, -0.3})
	return v
}

func negated(v []float64) []float64 {
	for i := range v {
		v[i] = -v[i]
	}
	return v
}

// TestRepeatedBeyondTheBasis: where more eigenvalues differ than there are rows, copies may be missed, but nothing is invented.
func TestRepeatedBeyondTheBasis(t *testing.T) {
	values := append(spread(9, 0.1, 5), -4, -2.5, 7)
	for seed := range uint64(20) {
		got, err := Lanczos(withEigenvalues(seed, slices.Repeat(values, 2)...), 3, LanczosOptions{Basis: 11, Tolerance: 1e-9, Steps: 4000, Seed: seed})
		if err != nil || got.Stop != Residual {
			t.Fatal(err, got.Stop)
		}
		near(t, "largest", got.Top[0].Value, 7, 1e-12)
		near(t, "smallest", got.Bottom[0].Value, -4, 1e-12)
		copies := map[float64]int{}
		for _, p := range slices.Concat(got.Top, got.Bottom) {
			near(t, "distance", distance(p.Value, values), 0, p.Residual+1e-13)
			if copies[math.Round(p.Value*1e6)]++; copies[math.Round(p.Value*1e6)] > 2 {
				t.Errorf("seed %d: %g more often than it is there", seed, p.Value)
			}
		}
	}
}

// TestAmpleBasisChangesNothing: a basis that is never full gives the bits of an unbounded one.
func TestAmpleBasisChangesNothing(t *testing.T) {
	h := scaling(steep(300))
	all, _ := Lanczos(h, 3, LanczosOptions{Vectors: true, Seed: 4})
	for _, o := range []LanczosOptions{{Basis: 64}, {Basis: 1000}, {Basis: 300, Steps: 64}} {
		o.Vectors, o.Seed = true, 4
		if got, _ := Lanczos(h, 3, o); got.Restarts != 0 || !reflect.DeepEqual(got, all) {
			t.Errorf("%+v: %d restarts, other bits", o, got.Restarts)
		}
	}
	a, _ := Lanczos(h, 3, LanczosOptions{Basis: 12, Vectors: true})
	b, _ := Lanczos(h, 3, LanczosOptions{Basis: 12, Vectors: true})
	if a.Restarts == 0 || !reflect.DeepEqual(a, b) {
		t.Errorf("%d restarts, or other bits the second time", a.Restarts)
	}
}

// TestBasisIsBounded counts the vectors by what was allocated in all.
func TestBasisIsBounded(t *testing.T) {
	const n, vectors = 1 << 16, 14
	h := scaling(steep(n))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Lanczos(h, 3, LanczosOptions{Basis: vectors, Vectors: true, Steps: 200, Tolerance: 1e-6})
	runtime.ReadMemStats(&after)
	if err != nil || got.Restarts < 3 {
		t.Fatalf("%v, %d restarts", err, got.Restarts)
	}
	took := float64(after.TotalAlloc-before.TotalAlloc) / (8 * n)
	t.Logf("%.2f vectors for a basis of %d, %d restarts", took, vectors, got.Restarts)
	if took > vectors+1+3 { // the basis, the one to work with; small matrices and stripes are less than three
		t.Errorf("%.2f vectors allocated for a basis of %d", took, vectors)
	}
}

// TestRestartProducts: what restarts cost beside a process that keeps everything.
func TestRestartProducts(t *testing.T) {
	h := scaling(steep(8_000))
	for i := range h {
		if math.Abs(h[i]) < 0.11 { // a bulk that thins out to where the wanted ones are
			h[i] *= 1 + 60*math.Pow(float64(i)/8_000, 40)
		}
	}
	for _, tolerance := range []float64{1e-3, 1e-6} {
		all, _ := Lanczos(h, 3, LanczosOptions{Steps: 1000, Tolerance: tolerance})
		for _, test := range []struct {
			basis int
			most  float64
		}{{10, 2.1}, {14, 1.2}, {20, 1.15}, {32, 1.1}} {
			got, _ := Lanczos(h, 3, LanczosOptions{Steps: 1000, Tolerance: tolerance, Basis: test.basis})
			t.Logf("tolerance %g, %d rows: %d products, %d restarts; unrestarted %d", tolerance, test.basis, got.Products, got.Restarts, all.Products)
			if got.Stop != Residual || float64(got.Products) > test.most*float64(all.Products) {
				t.Errorf("tolerance %g, %d rows: %v after %d products, %d with all rows", tolerance, test.basis, got.Stop, got.Products, all.Products)
			}
		}
	}
}

func TestRestartLimit(t *testing.T) {
	h := scaling(spread(500, 1e-3, 1))
	got, err := Lanczos(h, 2, LanczosOptions{Steps: 33, Basis: 10, Tolerance: 1e-12})
	if err != nil || got.Stop != Limit || got.Steps != 33 || got.Products != 37 || got.Restarts == 0 {
		t.Errorf("%v, %+v", err, got)
	}
	if got, _ := Lanczos(h, 2, LanczosOptions{Basis: 1, Tolerance: 1e-15}); got.Stop != Limit || got.Steps != 2*LanczosSteps(2) {
		t.Errorf("%v after %d steps where none were said", got.Stop, got.Steps)
	}
	for _, p := range slices.Concat(got.Top, got.Bottom) {
		if d := distance(p.Value, h); d > p.Residual {
			t.Errorf("%g ± %g is %g from the nearest eigenvalue", p.Value, p.Residual, d)
		}
	}
}

// Long vectors are made orthogonal by tiles, which give the same digits for any number of cores.
func TestLongVectorsAreOrthogonal(t *testing.T) {
	const n = large + 1000
	rng := rand.New(rand.NewPCG(1, 2))
	basis := make([][]float64, 3)
	for i := range basis {
		basis[i] = make([]float64, n)
		randomTo(basis[i], rng)
		outsideTo(basis[i], basis[:i])
	}
	v := make([]float64, n)
	randomTo(v, rng)
	again := slices.Clone(v)
	orthogonalize(v, basis)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	orthogonalize(again, basis)
	if !slices.Equal(v, again) {
		t.Error("one core gives other digits")
	}
	for i, q := range basis {
		sum := 0.0
		for k := range q {
			sum += q[k] * v[k]
		}
		if math.Abs(sum) > 1e-13 {
			t.Errorf("component %d is %g", i, sum)
		}
	}
}
