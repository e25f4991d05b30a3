package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

func TestStandard(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	m := mat.NewDense(1000, 5, nil)
	for i := range 1000 {
		m.SetRow(i, []float64{rng.NormFloat64(), 1e9 + rng.Float64(), 0.1, float64(i % 2), 1e299 * rng.NormFloat64()})
	}
	s := standard(m, []bool{false, false, false, true, false})
	if s.Kind != ScaledStandard || !slices.Equal(s.Constant, []int{2}) {
		t.Errorf("kind %s, constant columns %v", s.Kind, s.Constant)
	}
	for _, j := range []int{0, 1, 4} {
		column := mat.Col(nil, j, m)
		unit := 1.0
		if j == 4 {
			unit = 1e299
			for i := range column {
				column[i] /= unit
			}
		}
		mean, deviation := stat.PopMeanStdDev(column, nil)
		if math.Abs(s.Offset[j]/unit-mean) > 1e-12*math.Max(1, math.Abs(mean)) || math.Abs(s.Scale[j]/unit/deviation-1) > 1e-9 {
			t.Errorf("column %d: offset %g, scale %g, want %g, %g", j, s.Offset[j], s.Scale[j], mean*unit, deviation*unit)
		}
	}
	if s.Offset[2] != 0.1 || s.Scale[2] != 1 || s.Offset[3] != 0 || s.Scale[3] != 1 {
		t.Errorf("constant column (%g, %g), kept column (%g, %g)", s.Offset[2], s.Scale[2], s.Offset[3], s.Scale[3])
	}
	scaled := mat.DenseCopyOf(m)
	s.apply(scaled)
	back := make([]float64, 5)
	for i := range 1000 {
		s.RawTo(back, scaled.RawRowView(i))
		for j, v := range back {
			if want := m.At(i, j); math.Abs(v-want) > 1e-15*math.Abs(want)+1e-13*s.Scale[j] {
				t.Fatalf("row %d column %d: %v came back as %v", i, j, want, v)
			}
		}
	}
}

// The smallest deviations that a float64 can have must not become a division by zero.
func TestStandardTiny(t *testing.T) {
	m := mat.NewDense(2, 1, []float64{0, math.SmallestNonzeroFloat64})
	s := standard(m, nil)
	s.apply(m)
	for i := range 2 {
		if v := m.At(i, 0); math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("row %d is %v", i, v)
		}
	}
}

func TestEncode(t *testing.T) {
	d := mustLoad(t, "spirals", Options{Rows: 20})
	d.Encode(-1, 1)
	want := [][]float64{{1, -1}, {-1, 1}}
	indicator := make([]float64, 2)
	for i, label := range d.Train.Labels {
		if got := d.Train.Targets.RawRowView(i); !slices.Equal(got, want[label]) {
			t.Fatalf("row %d of class %d: %v", i, label, got)
		}
		d.TargetScaling.RawTo(indicator, d.Train.Targets.RawRowView(i))
		if indicator[label] != 1 || indicator[1-label] != 0 {
			t.Fatalf("row %d of class %d: raw %v", i, label, indicator)
		}
	}
	d.Encode(0, 1)
	checkShape(t, d)
}

func TestMisusePanics(t *testing.T) {
	sine := mustLoad(t, "sine", Options{})
	spirals := mustLoad(t, "spirals", Options{})
	for name, misuse := range map[string]func(){
		"Encode of regression":  func() { sine.Encode(0, 1) },
		"Encode of equal codes": func() { spirals.Encode(1, 1) },
		"Encode of NaN":         func() { spirals.Encode(math.NaN(), 1) },
		"short row":             func() { spirals.InputScaling.RawTo(make([]float64, 1), make([]float64, 2)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); len(text) < 10 || text[:10] != "datasets: " {
					t.Errorf("panic %q", text)
				}
			}()
			misuse()
		})
	}
}

// However many goroutines have a part of the columns, a scaling has the same bits.
func TestScalingInStripes(t *testing.T) {
	m := mat.NewDense(50, 9, nil)
	for i := range 50 {
		for j := range 9 {
			m.Set(i, j, math.Sin(float64(i*j))*math.Pow(10, float64(j-3)))
		}
	}
	keep := make([]bool, 9)
	keep[4] = true
	fit := func(stripes int) Scaling {
		s, err := fitStandard(50, 9, keep, stripes, func(first, last int, visit func(row []float64)) error {
			for i := range 50 {
				visit(m.RawRowView(i)[first:last])
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := fit(1)
	if len(want.Constant) != 1 || want.Constant[0] != 0 {
		t.Errorf("constant columns %v", want.Constant)
	}
	for _, stripes := range []int{2, 3, 9} {
		if got := fit(stripes); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d stripes: %v, not %v", stripes, got, want)
		}
	}
}

func TestTargetUnit(t *testing.T) {
	for _, c := range []struct {
		d    Dataset
		unit float64
		same bool
	}{
		{Dataset{TargetScaling: Scaling{Scale: []float64{77}}}, 77, true},
		{Dataset{TargetScaling: Scaling{Scale: []float64{3, 3}}}, 3, true},
		{Dataset{TargetScaling: Scaling{Scale: []float64{3, 4}}}, 1, false},
		{Dataset{TargetScaling: Scaling{Scale: []float64{0.5, 0.5}}, Classes: []string{"a", "b"}}, 1, true},
		{Dataset{}, 1, true},
	} {
		if unit, same := c.d.TargetUnit(); unit != c.unit || same != c.same {
			t.Errorf("%+v: %v, %v", c.d.TargetScaling, unit, same)
		}
	}
}
