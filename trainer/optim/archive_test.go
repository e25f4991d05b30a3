package optim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/optimize"
)

// everything is all that an Archive carries.
type everything struct {
	number float64
	count  int
	flag   bool
	some   bool
	text   string
	vector []float64
	rows   []int
	at     []float64
	here   bool
	set    *Settings
}

func (e *everything) remember(m *Archive) {
	m.Number("number", &e.number)
	m.Count("count", &e.count, MostCount)
	m.Flag("flag", &e.flag)
	e.some = m.Has("some", e.some)
	m.Text("text", &e.text)
	part := m.In("part")
	part.Vector("vector", &e.vector, 5)
	part.Rows("rows", &e.rows, 100)
	e.here = part.Here("at", &e.at, []float64{1, 2})
	part.In("set").Settings(e.set)
}

// TestArchive gives back what it took, to the bit.
func TestArchive(t *testing.T) {
	info, err := Lookup("tr-newton")
	if err != nil {
		t.Fatal(err)
	}
	set := NewSettings(info.Parameters)
	for key, text := range map[string]string{"radius": "0.1", "forcing": "sqrt", "xi": "1e-300", "radius-max": "1.7976931348623157e308"} {
		if err := set.PutText(key, text); err != nil {
			t.Fatal(err)
		}
	}
	negative := math.Copysign(0, -1)
	in := everything{
		number: math.Inf(-1), count: MostCount, flag: true, some: true, text: "two\nlines\x00",
		vector: []float64{negative, math.NaN(), math.Inf(1), 5e-324, 1.0 / 3}, rows: []int{0, 7, 99}, at: []float64{1, 2}, set: set,
	}
	m := NewArchive()
	in.remember(m)
	in.vector[1] = 8 // the archive has its own
	out := everything{set: NewSettings(info.Parameters), vector: make([]float64, 5)}
	room := out.vector
	back := OpenArchive(m.Content())
	out.remember(back)
	if err := back.Err(); err != nil {
		t.Fatal(err)
	}
	in.vector[1] = math.NaN()
	for i, v := range in.vector {
		if math.Float64bits(v) != math.Float64bits(out.vector[i]) {
			t.Errorf("number %d is %v, expected %v", i, out.vector[i], v)
		}
	}
	if &room[0] != &out.vector[0] {
		t.Error("numbers were not stored where there is room for them")
	}
	if out.number != in.number || out.count != in.count || !out.flag || !out.some || out.text != in.text ||
		!slices.Equal(out.rows, in.rows) || !out.here || !slices.Equal(out.at, in.at) || !slices.Equal(out.set.values, set.values) {
		t.Errorf("%+v came back as %+v", in, out)
	}
}

// TestArchiveThatDoesNotFit is an error that names what is wrong, and changes no more than it must.
func TestArchiveThatDoesNotFit(t *testing.T) {
	full := func() everything {
		return everything{vector: make([]float64, 5), rows: []int{3, 4}, set: NewSettings([]Hyperparameter{{Key: "rate", Max: 1}})}
	}
	for _, c := range []struct {
		want  string
		spoil func(vectors map[string][]float64, numbers map[string]float64, texts map[string]string)
	}{
		{"number: not there", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { delete(n, "number") }},
		{"count: 0.5: expected a whole number from 0 to 9007199254740992", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["count"] = 0.5 }},
		{"count: NaN", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["count"] = math.NaN() }},
		{"flag: 2: expected a whole number from 0 to 1", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["flag"] = 2 }},
		{"text: not there", func(_ map[string][]float64, _ map[string]float64, s map[string]string) { delete(s, "text") }},
		{"part.vector: 4 numbers: expected 5", func(v map[string][]float64, _ map[string]float64, _ map[string]string) {
			v["part.vector"] = make([]float64, 4)
		}},
		{"part.rows count: 101: expected a whole number from 0 to 100", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["part.rows count"] = 101 }},
		{"part.rows: 3: expected numbers from 0 to 99, ascending", func(v map[string][]float64, _ map[string]float64, _ map[string]string) {
			v["part.rows"] = []float64{3, 3}
		}},
		{"part.rows: 100: expected", func(v map[string][]float64, _ map[string]float64, _ map[string]string) {
			v["part.rows"] = []float64{3, 100}
		}},
		{"part.set.rate: rate = 2: expected a number ≥ 0 and ≤ 1", func(_ map[string][]float64, _ map[string]float64, s map[string]string) {
			s["part.set.rate"] = "2"
		}},
	} {
		m, e := NewArchive(), full()
		e.remember(m)
		vectors, numbers, texts := m.Content()
		c.spoil(vectors, numbers, texts)
		back := OpenArchive(vectors, numbers, texts)
		e = full()
		e.remember(back)
		if err := back.Err(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: expected %s", err, c.want)
		}
	}
}

// TestPairsAgainstGonum: the directions are those of gonum's LBFGS, to the bit.
func TestPairsAgainstGonum(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	const n = 9
	random := func() []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = dice.NormFloat64()
		}
		return v
	}
	for most := 1; most <= 4; most++ {
		oracle, mine := &optimize.LBFGS{Store: most}, pairs{most: most}
		x, g := random(), random()
		want, got := make([]float64, n), make([]float64, n)
		oracle.InitDirection(&optimize.Location{X: x, Gradient: g}, want)
		mine.directionTo(got, g)
		for k := range 9 {
			if !slices.Equal(got, want) {
				t.Fatalf("%d pairs at the most, step %d: %v, expected %v", most, k, got, want)
			}
			next, gradient := random(), random()
			oracle.NextDirection(&optimize.Location{X: next, Gradient: gradient}, want)
			mine.add(next, x, gradient, g)
			mine.directionTo(got, gradient)
			x, g = next, gradient
			if len(mine.all) != min(k+1, most) {
				t.Fatalf("%d pairs after step %d: expected %d", len(mine.all), k, min(k+1, most))
			}
		}
	}
}
