package datasets

import (
	"hash/fnv"
	"math"
	"runtime"
	"testing"
)

func TestLetters(t *testing.T) {
	d := mustLoad(t, "letters", Options{})
	if d.Train.Rows() != 16000 || d.Test.Rows() != 4000 || d.Inputs() != 16 || d.Outputs() != 26 {
		t.Fatalf("%d + %d rows, %d inputs, %d outputs", d.Train.Rows(), d.Test.Rows(), d.Inputs(), d.Outputs())
	}
	if len(d.InputScaling.Constant) > 0 {
		t.Errorf("constant columns %v", d.InputScaling.Constant)
	}
	low, high := repeat(math.Inf(1), 16), repeat(math.Inf(-1), 16)
	counts := make([]int, 26)
	for _, s := range []*Split{&d.Train, &d.Test} {
		for i := range s.Rows() {
			for j, v := range raw(d, s, i) {
				if math.Abs(v-math.Round(v)) > 1e-9 {
					t.Fatalf("row %d: %s is %v", i, d.InputNames[j], v)
				}
				low[j], high[j] = min(low[j], math.Round(v)), max(high[j], math.Round(v))
			}
			counts[s.Labels[i]]++
		}
	}
	for j := range low {
		if low[j] != 0 || high[j] != 15 {
			t.Errorf("%s goes from %g to %g", d.InputNames[j], low[j], high[j])
		}
	}
	// χ² with 25 degrees of freedom is below 52.6 in 999 of 1000 draws.
	chi := 0.0
	for _, n := range counts {
		e := 20000.0 / 26
		chi += (float64(n) - e) * (float64(n) - e) / e
	}
	if chi > 52.6 {
		t.Errorf("classes are uneven, χ² = %.1f: %v", chi, counts)
	}
}

// The same seed gives the same bits, whoever renders the samples, and another seed gives others.
func TestRenderedSetsAreDeterministic(t *testing.T) {
	for _, name := range []string{"letters", "digits"} {
		o := Options{Seed: 7, Rows: 600}
		one := mustLoad(t, name, o)
		for _, procs := range []int{1, 3, 8} {
			before := runtime.GOMAXPROCS(procs)
			again := mustLoad(t, name, o)
			runtime.GOMAXPROCS(before)
			if !sameDataset(one, again) {
				t.Errorf("%s differs with GOMAXPROCS=%d", name, procs)
			}
		}
		o.Seed++
		if sameDataset(one, mustLoad(t, name, o)) {
			t.Errorf("%s does not depend on the seed", name)
		}
	}
}

// The default data must stay the same from version to version, or runs could not be compared. Other
// processors may fuse multiplications and additions, so that a pixel on an edge falls elsewhere.
func TestLettersGolden(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the figure is that of amd64")
	}
	d := mustLoad(t, "letters", Options{Seed: 1, Rows: 1000})
	h := fnv.New64a()
	for _, s := range []*Split{&d.Train, &d.Test} {
		for i, label := range s.Labels {
			row := []byte{byte(label)}
			for _, v := range raw(d, s, i) {
				row = append(row, byte(math.Round(v)))
			}
			h.Write(row)
		}
	}
	if got, want := h.Sum64(), uint64(0xeb87ce99f4bff098); got != want {
		t.Errorf("hash of labels and attributes %#x, want %#x", got, want)
	}
}

func TestDigits(t *testing.T) {
	d := mustLoad(t, "digits", Options{Rows: 1000, Test: "0.3"})
	if d.Train.Rows() != 700 || d.Test.Rows() != 300 || d.Inputs() != 784 || *d.Image != (Image{28, 28}) {
		t.Fatalf("%d + %d rows, %d inputs, image %v", d.Train.Rows(), d.Test.Rows(), d.Inputs(), d.Image)
	}
	for i := range d.Train.Rows() {
		row := d.Train.Inputs.RawRowView(i)
		intensity := 0.0
		for j, v := range row {
			if v < 0 || v > 1 || math.Abs(255*v-math.Round(255*v)) > 1e-12 {
				t.Fatalf("row %d pixel %d is %v", i, j, v)
			}
			intensity += v
		}
		if border := row[0] + row[27] + row[783-27] + row[783]; intensity < 20 || intensity > 400 || border > 0 {
			t.Errorf("row %d: ink %.0f, corners %g", i, intensity, border)
		}
	}
}

// Sixes are heavy below, nines above; sevens are heavy above and fours to the right.
func TestDigitsAreUpright(t *testing.T) {
	d := mustLoad(t, "digits", Options{Rows: 2000})
	var below, right [10]float64 // how much more ink there is than above and to the left
	for i, label := range d.Train.Labels {
		for j, v := range d.Train.Inputs.RawRowView(i) {
			below[label] += math.Copysign(v, float64(j/28)-13.5)
			right[label] += math.Copysign(v, float64(j%28)-13.5)
		}
	}
	if below[6] <= 0 || below[9] >= 0 || below[7] >= 0 || right[4] <= 0 {
		t.Errorf("more ink below %.0f, to the right %.0f", below, right)
	}
}

func BenchmarkRendered(b *testing.B) {
	for name, rows := range map[string]float64{"letters": lettersRows, "digits": digitsRows} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				mustLoad(b, name, Options{})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
