package datasets

import (
	"errors"
	"math"
	"testing"

	"newtop/datasets/fault"
)

func TestParity(t *testing.T) {
	d := mustLoad(t, "parity", Options{Rows: 64})
	if d.Inputs() != 6 || d.Train.Rows() != 64 || d.Test.Rows() != 64 {
		t.Fatalf("%d bits, %d + %d rows", d.Inputs(), d.Train.Rows(), d.Test.Rows())
	}
	seen := make(map[[6]float64]bool)
	for i, label := range d.Train.Labels {
		row := [6]float64(d.Train.Inputs.RawRowView(i))
		product := 1.0 // of the bits' signs: −1 once for every −1, and there are six bits
		for j, v := range row {
			product *= v
			if noisy := d.Test.Inputs.At(i, j); noisy == v || math.Abs(noisy-v) > 1.2 {
				t.Errorf("bit %g is %g for testing", v, noisy)
			}
		}
		if (product < 0) != (d.Classes[label] == "odd") || label != d.Test.Labels[i] {
			t.Errorf("%v is %s", row, d.Classes[label])
		}
		seen[row] = true
	}
	if len(seen) != 64 {
		t.Errorf("%d different patterns", len(seen))
	}
	d = mustLoad(t, "parity", Options{Test: "56"})
	if d.Train.Rows() != 200 || d.Test.Rows() != 56 {
		t.Errorf("%d + %d rows", d.Train.Rows(), d.Test.Rows())
	}
}

func TestSpirals(t *testing.T) {
	d := mustLoad(t, "spirals", Options{Seed: 2})
	for i, label := range d.Train.Labels {
		x, y := d.Train.Inputs.At(i, 0), d.Train.Inputs.At(i, 1)
		r := math.Hypot(x, y)
		if r < 0.2 {
			continue
		}
		// On the curve the angle is 2π·2r, and half a turn more for the second class: what is left
		// of it, as a distance across the curve, is noise.
		turn := math.Atan2(y, x)/(2*math.Pi) - 2*r - float64(label)/2
		if off := (turn - math.Round(turn)) / 2; math.Abs(off) > 0.11 {
			t.Errorf("class %d at (%.3f, %.3f) is %.3f off its curve", label, x, y, off)
		}
	}
}

func TestSine(t *testing.T) {
	for noise, want := range map[float64]float64{0: 0.1, 0.3: 0.3, -1: 0} {
		d := mustLoad(t, "sine", Options{Noise: noise, Rows: 5000})
		sum := 0.0
		for i := range d.Train.Rows() {
			x := d.Train.Inputs.At(i, 0)
			e := d.Train.Targets.At(i, 0) - math.Cos(2*math.Pi*(x-0.25))
			sum += e * e
		}
		if got := math.Sqrt(sum / float64(d.Train.Rows())); math.Abs(got-want) > 0.05*want+1e-12 {
			t.Errorf("noise %g gives a deviation of %g", noise, got)
		}
	}
}

func TestBPLSToys(t *testing.T) {
	for _, tc := range []struct {
		name string
		test [][2]float64 // at x = 2 and x = 10, by hand
	}{
		{"bpls-linear", [][2]float64{{4. / 3, 3}, {-4. / 3, 19}}},
		// log₁₀ 10^(−3/2) = −3/2; 10^(−1/4) = 0.5623413252.
		{"bpls-sigmoid", [][2]float64{{1 / (1 + math.Exp(-0.4515449935)), 1 / (1 + math.Exp(0.8408964153))},
			{1 / (1 + math.Exp(-1.5)), 1 / (1 + math.Exp(0.5623413252))}}},
	} {
		d := mustLoad(t, tc.name, Options{})
		for i := range 5 {
			if a, b := d.Train.Inputs.At(i, 0), d.Test.Inputs.At(i, 0); a != float64(2*i+1) || b != float64(2*i+2) {
				t.Errorf("%s: x = %g, %g in row %d", tc.name, a, b, i)
			}
		}
		for k, i := range []int{0, 4} {
			for j := range 2 {
				if got, want := d.Test.Targets.At(i, j), tc.test[k][j]; math.Abs(got-want) > 1e-9 {
					t.Errorf("%s: y%d = %v in row %d, want %v", tc.name, j+1, got, i, want)
				}
			}
		}
		noisy := mustLoad(t, tc.name, Options{Noise: 0.5})
		if sameDataset(d, noisy) {
			t.Errorf("%s: no noise", tc.name)
		}
		noisy.Train = d.Train
		if !sameDataset(d, noisy) {
			t.Errorf("%s: noise on the test targets", tc.name)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    Options
		bad  string // the option that is refused
		test int
	}{
		{"spirals", Options{Rows: 100}, "", 20},
		{"spirals", Options{Rows: 100, Test: "7"}, "", 7},
		{"spirals", Options{Rows: 100, Test: "0.25"}, "", 25},
		{"spirals", Options{Rows: 100, Test: "1e-9"}, "", 1},
		{"spirals", Options{Rows: 100, Test: "0.99999"}, "", 99},
		{"spirals", Options{Rows: 100, Test: "100"}, "test", 0},
		{"spirals", Options{Rows: 100, Test: "0"}, "test", 0},
		{"spirals", Options{Rows: 100, Test: "-3"}, "test", 0},
		{"spirals", Options{Rows: 100, Test: "1.0"}, "test", 0},
		{"spirals", Options{Rows: 100, Test: "NaN"}, "test", 0},
		{"spirals", Options{Rows: 100, Test: "ten"}, "test", 0},
		{"spirals", Options{Rows: -1}, "rows", 0},
		{"spirals", Options{Rows: 1}, "rows", 0},
		{"letters", Options{Rows: 1 << 40}, "rows", 0},
		{"parity", Options{Rows: 100}, "rows", 0},
		{"sine", Options{Noise: math.Inf(1)}, "noise", 0},
		{"digits", Options{Rows: 100}, "", 20},
		{"letters", Options{Rows: 100}, "", 20},
	} {
		d, err := Load(tc.name, tc.o)
		refused, ok := errors.AsType[*fault.OptionError](err)
		switch {
		case tc.bad == "" && err != nil:
			t.Errorf("%s %+v: %v", tc.name, tc.o, err)
		case tc.bad == "" && d.Test.Rows() != tc.test:
			t.Errorf("%s %+v: %d test rows", tc.name, tc.o, d.Test.Rows())
		case tc.bad != "" && (!ok || refused.Field != tc.bad):
			t.Errorf("%s %+v: error %v", tc.name, tc.o, err)
		}
	}
}
