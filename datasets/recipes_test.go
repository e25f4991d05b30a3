package datasets

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// reflect returns the reflectances of a mixture of named colorants.
func reflect(t *testing.T, recipe map[string]float64) []float64 {
	t.Helper()
	colorants := newColorants()
	amounts := make([]float64, len(colorants))
	found := 0
	for i, c := range colorants {
		if a, ok := recipe[c.name]; ok {
			amounts[i], found = a, found+1
		}
	}
	if found != len(recipe) {
		t.Fatalf("%v: no such colorants", recipe)
	}
	r := make([]float64, bands)
	mixTo(r, colorants, amounts)
	return r
}

func TestRecipes(t *testing.T) {
	d := mustLoad(t, "recipes", Options{Seed: 1})
	if d.Train.Rows() != 1000 || d.Test.Rows() != 302 || d.Inputs() != 16 || d.Outputs() != 10 || d.Classes != nil {
		t.Fatalf("%d + %d rows, %d inputs, %d outputs", d.Train.Rows(), d.Test.Rows(), d.Inputs(), d.Outputs())
	}
	if want := (Feature{Name: "hue", Period: 360}); len(d.Features) != 1 || d.Features[0] != want {
		t.Fatalf("features %v", d.Features)
	}
	colorants := newColorants()
	sectors := make([]int, 6)
	used := make([]int, len(colorants))
	for _, s := range []*Split{&d.Train, &d.Test} {
		if r, c := s.Features.Dims(); r != s.Rows() || c != 1 {
			t.Fatalf("%d × %d features of %d rows", r, c, s.Rows())
		}
		for i := range s.Rows() {
			amounts := s.Targets.RawRowView(i)
			count := 0
			for c, a := range amounts {
				if a != 0 {
					count++
					used[c]++
				}
				if a != 0 && a < 0.05-1e-12 || a < 0 {
					t.Errorf("row %d: %g of %s", i, a, d.TargetNames[c])
				}
			}
			if sum := floats.Sum(amounts); count < 2 || count > 4 || math.Abs(sum-1) > 1e-12 {
				t.Errorf("row %d: %d colorants, %g in all", i, count, sum)
			}
			// The inputs lead back to reflectances, and those to K/S = (1 − R)²/2R of the mixture.
			r := raw(d, s, i)
			for b, v := range r {
				if !(v > 0 && v < 1) {
					t.Fatalf("row %d: a reflectance of %g", i, v)
				}
				k, sc := 0.0, 0.0
				for c, a := range amounts {
					k, sc = k+a*colorants[c].k[b], sc+a*colorants[c].s[b]
				}
				if got := (1 - v) * (1 - v) / (2 * v); math.Abs(got-k/sc) > 1e-9*(1+k/sc) {
					t.Errorf("row %d at %s: K/S = %g, want %g", i, d.InputNames[b], got, k/sc)
				}
			}
			hue := s.Features.At(i, 0)
			if !(hue >= 0 && hue < 360) || math.Abs(hue-hueOf(r)) > 1e-6 {
				t.Errorf("row %d: hue %g, of its reflectances %g", i, hue, hueOf(r))
			}
			sectors[int(hue/60)]++
		}
	}
	for i, n := range sectors {
		if n < 50 {
			t.Errorf("%d rows with a hue from %d to %d", n, 60*i, 60*(i+1))
		}
	}
	for i, n := range used { // 0.3 of 1,302 on average
		if n < 330 || n > 450 {
			t.Errorf("%s is in %d recipes", d.TargetNames[i], n)
		}
	}
}

func TestRecipesAreDeterministic(t *testing.T) {
	one, again := mustLoad(t, "recipes", Options{Seed: 5}), mustLoad(t, "recipes", Options{Seed: 5})
	other, fewer := mustLoad(t, "recipes", Options{Seed: 6}), mustLoad(t, "recipes", Options{Seed: 5, Rows: 100, Test: "20"})
	if !sameDataset(one, again) || !mat.Equal(one.Train.Features, again.Train.Features) {
		t.Error("the same seed gives other rows")
	}
	if sameDataset(one, other) {
		t.Error("another seed gives the same rows")
	}
	if !mat.Equal(fewer.Train.Targets, one.Train.Targets.Slice(0, 80, 0, 10)) || fewer.Test.Rows() != 20 {
		t.Error("fewer rows are others")
	}
	if d := mustLoad(t, "recipes", Options{Rows: 2}); d.Train.Rows() != 1 || d.Test.Rows() != 1 {
		t.Errorf("two rows: %d + %d", d.Train.Rows(), d.Test.Rows())
	}
}

func TestMixing(t *testing.T) {
	for _, c := range newColorants() {
		pure := reflect(t, map[string]float64{c.name: 1})
		if half := reflect(t, map[string]float64{c.name: 0.5}); !floats.EqualApprox(pure, half, 1e-14) {
			t.Errorf("%s with itself is no longer itself", c.name)
		}
		light, _, _ := lab(pure)
		if dark, _, _ := lab(reflect(t, map[string]float64{c.name: 0.8, "black": 0.2})); c.name != "black" && dark >= light {
			t.Errorf("black does not darken %s: L* %.1f to %.1f", c.name, light, dark)
		}
		if pale, _, _ := lab(reflect(t, map[string]float64{c.name: 0.5, "white": 0.5})); c.name != "white" && pale <= light {
			t.Errorf("white does not lighten %s: L* %.1f to %.1f", c.name, light, pale)
		}
	}
	for _, r := range reflect(t, map[string]float64{"white": 1})[1:] {
		if r < 0.75 {
			t.Errorf("white reflects %.2f", r)
		}
	}
	for _, r := range reflect(t, map[string]float64{"black": 1}) {
		if r > 0.25 {
			t.Errorf("black reflects %.2f", r)
		}
	}
	// R + 1/R = 2 + 2K/S is the equation that Kubelka and Munk solve.
	for i, r := range reflect(t, map[string]float64{"blue": 0.3, "yellow": 0.7}) {
		c := newColorants()
		q := (0.3*c[7].k[i] + 0.7*c[2].k[i]) / (0.3*c[7].s[i] + 0.7*c[2].s[i])
		if math.Abs(r+1/r-2-2*q) > 1e-12 {
			t.Errorf("R = %g for K/S = %g", r, q)
		}
	}
}

// Where CIELAB has the hues: red near 30°, yellow near 90°, green near 160°, blue near 270°, magenta near 350°.
func TestHues(t *testing.T) {
	for _, tc := range []struct {
		recipe   map[string]float64
		from, to float64
	}{
		{map[string]float64{"red": 1}, 15, 60},
		{map[string]float64{"orange": 1}, 45, 85},
		{map[string]float64{"yellow": 1}, 75, 110},
		{map[string]float64{"green": 1}, 120, 180},
		{map[string]float64{"turquoise": 1}, 170, 250},
		{map[string]float64{"blue": 1}, 230, 290},
		{map[string]float64{"violet": 1}, 280, 330},
		{map[string]float64{"magenta": 1}, 320, 360},
		{map[string]float64{"yellow": 0.5, "turquoise": 0.5}, 110, 180},
		{map[string]float64{"yellow": 0.5, "red": 0.5}, 45, 85},
	} {
		if hue := hueOf(reflect(t, tc.recipe)); hue < tc.from || hue > tc.to {
			t.Errorf("%v has the hue %.1f, want %g to %g", tc.recipe, hue, tc.from, tc.to)
		}
	}
}

// The tables have the known chromaticities: of D65 (0.3127, 0.3290) and of the spectrum's ends and middle
// (CIE 15). Twenty nanometres between bands cost the third digit.
func TestObserver(t *testing.T) {
	chromaticity := func(r []float64) (x, y float64) {
		xyz := tristimulus(r)
		sum := xyz[0] + xyz[1] + xyz[2]
		return xyz[0] / sum, xyz[1] / sum
	}
	if x, y := chromaticity(repeat(1, bands)); math.Abs(x-0.3127) > 0.003 || math.Abs(y-0.3290) > 0.003 {
		t.Errorf("daylight at (%.4f, %.4f)", x, y)
	}
	for band, want := range map[int][2]float64{0: {0.1733, 0.0048}, 6: {0.0743, 0.8338}, 10: {0.6270, 0.3725}, 15: {0.7347, 0.2653}} {
		r := make([]float64, bands)
		r[band] = 1
		if x, y := chromaticity(r); math.Abs(x-want[0]) > 5e-4 || math.Abs(y-want[1]) > 5e-4 {
			t.Errorf("%g nm at (%.4f, %.4f), want %v", wavelength(band), x, y, want)
		}
	}
	for _, grey := range []float64{0.005, 0.18, 1} {
		l, a, b := lab(repeat(grey, bands))
		if math.Abs(a)+math.Abs(b) > 1e-10 {
			t.Errorf("grey %g at a* %g, b* %g", grey, a, b)
		}
		if want := map[float64]float64{0.005: 4.516, 0.18: 49.496, 1: 100}[grey]; math.Abs(l-want) > 5e-3 {
			t.Errorf("grey %g has L* %.4f, want %.4f", grey, l, want)
		}
	}
}

// Recipes of colorants near in hue have one with a hue, or two neighbours on the circle, beside white and black.
func TestRecipesNear(t *testing.T) {
	d := mustLoad(t, "recipes-near", Options{Seed: 1})
	if d.Train.Rows() != 1000 || d.Test.Rows() != 302 || d.Inputs() != 16 || d.Outputs() != 10 {
		t.Fatalf("%d + %d rows, %d inputs, %d outputs", d.Train.Rows(), d.Test.Rows(), d.Inputs(), d.Outputs())
	}
	for i := range d.Train.Rows() {
		amounts := d.Train.Targets.RawRowView(i)
		var hues []int
		for c := 2; c < len(amounts); c++ {
			if amounts[c] != 0 {
				hues = append(hues, c-2)
			}
		}
		near := len(hues) == 1 || len(hues) == 2 && (hues[1]-hues[0] == 1 || hues[1]-hues[0] == 7)
		if !near || amounts[0]+amounts[1] == 0 || math.Abs(floats.Sum(amounts)-1) > 1e-12 {
			t.Errorf("row %d: %v", i, amounts)
		}
	}
}
