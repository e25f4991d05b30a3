package optim

import (
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// everything is all that an Archive carries.
type everything struct {
	state struct {
		Number float64 `archive:"number"`
		Count  int     `archive:"count"`
		Flag   bool    `archive:"flag"`
		Text   string  `archive:"text"`
		base
		Here   *somewhere `archive:"here"`
		There  *somewhere `archive:"there"` // at other weights
		None   *somewhere `archive:"none"`
		Things []thing    `archive:"things"`
		scrap  int        // is left out
	}
	set *Settings
}

type base struct {
	Vector []float64 `archive:"vector"`
}

type somewhere struct {
	At   Position
	Rows []int `archive:"rows"`
}

type thing struct {
	Value float64 `archive:"value"`
}

func (e *everything) carry(a *Archive) {
	part := a.In("part")
	part.State(&e.state, here5)
	part.In("set").Settings(e.set)
}

var here5 = []float64{1, 2, 3, 4, 5}

// A checkpoint from before a method got a setting leaves it at its default.
func TestArchiveOfFewerSettings(t *testing.T) {
	parameters := []Hyperparameter{{Key: "rate", Max: 1}, {Key: "decay", Max: 1, Default: 0.5, Late: true}}
	older := NewSettings(parameters[:1])
	if err := older.Set("rate", 0.25); err != nil {
		t.Fatal(err)
	}
	a := NewArchive()
	a.Settings(older)
	back, set := OpenArchive(a.Content()), NewSettings(parameters)
	if back.Settings(set); back.Err() != nil || set.Get("rate") != 0.25 || set.Get("decay") != 0.5 {
		t.Errorf("rate %v, decay %v, %v", set.Get("rate"), set.Get("decay"), back.Err())
	}
}

// TestArchive gives back what it took, to the bit.
func TestArchive(t *testing.T) {
	parameters := []Hyperparameter{
		{Key: "radius", Max: Inf}, {Key: "radius-max", Max: Inf}, {Key: "xi", Max: 1}, {Key: "forcing", Choices: []string{"fixed", "sqrt"}},
	}
	set := NewSettings(parameters)
	for key, text := range map[string]string{"radius": "0.1", "forcing": "sqrt", "xi": "1e-300", "radius-max": "1.7976931348623157e308"} {
		if err := set.SetText(key, text); err != nil {
			t.Fatal(err)
		}
	}
	negative := math.Copysign(0, -1)
	in := everything{set: set}
	in.state.Number, in.state.Count, in.state.Flag, in.state.Text = math.Inf(-1), MaxCount, true, "two\nlines\x00"
	in.state.Vector = []float64{negative, math.NaN(), math.Inf(1), 5e-324, 1.0 / 3}
	in.state.Here = &somewhere{At: slices.Clone(here5), Rows: []int{0, 7, 99}}
	in.state.There = &somewhere{At: []float64{1, 2, 3, 4, 6}, Rows: []int{1}}
	in.state.Things, in.state.scrap = []thing{{0.1}, {0.2}}, 3
	a := NewArchive()
	in.carry(a)
	in.state.Vector[1] = 8 // the archive has its own
	out := everything{set: NewSettings(parameters)}
	out.state.Vector = make([]float64, 5)
	out.state.None = &somewhere{}
	room := out.state.Vector
	back := OpenArchive(a.Content())
	out.carry(back)
	if err := back.Err(); err != nil {
		t.Fatal(err)
	}
	in.state.Vector[1] = math.NaN()
	for i, v := range in.state.Vector {
		if math.Float64bits(v) != math.Float64bits(out.state.Vector[i]) {
			t.Errorf("number %d is %v, expected %v", i, out.state.Vector[i], v)
		}
	}
	if &room[0] != &out.state.Vector[0] {
		t.Error("numbers were not stored where there is room for them")
	}
	x, y := &in.state, &out.state
	if x.Number != y.Number || x.Count != y.Count || !y.Flag || x.Text != y.Text || y.scrap != 0 || !slices.Equal(out.set.values, set.values) ||
		!reflect.DeepEqual(x.Here, y.Here) || y.There != nil || y.None != nil || !slices.Equal(x.Things, y.Things) {
		t.Errorf("%+v came back as %+v", in, out)
	}
	vectors, numbers, texts := a.Content()
	keys := slices.Concat(slices.Sorted(maps.Keys(vectors)), slices.Sorted(maps.Keys(numbers)), slices.Sorted(maps.Keys(texts))[:1])
	if want := []string{
		"part.rows", "part.vector", "part.count", "part.flag", "part.here", "part.none", "part.number", "part.rows count",
		"part.there", "part.thing 0.value", "part.thing 1.value", "part.things", "part.set.forcing",
	}; !slices.Equal(keys, want) {
		t.Errorf("keys %q, expected %q", keys, want)
	}
}

// TestClearedArchive has nothing of what was saved before, and does not change what was.
func TestClearedArchive(t *testing.T) {
	a := NewArchive()
	first, second, longer := []float64{1, 2}, []float64{3, 4}, []float64{5, 6, 7}
	number, text := 1.0, "x"
	for round, v := range [][]float64{first, second, longer} {
		a.Clear()
		a.Vector("v", &v, len(v))
		if round == 0 {
			a.Vector("w", &v, len(v))
			a.Number("n", &number)
			a.Text("t", &text)
		}
		vectors, numbers, texts := a.Content()
		if !slices.Equal(vectors["v"], v) || round > 0 && len(vectors)+len(numbers)+len(texts) != 1 {
			t.Errorf("round %d: %v, %v, %v", round, vectors, numbers, texts)
		}
	}
	if first[0] != 1 || second[1] != 4 {
		t.Errorf("%v and %v were changed", first, second)
	}
}

// TestArchiveThatDoesNotFit is an error that names what is wrong, and changes no more than it must.
func TestArchiveThatDoesNotFit(t *testing.T) {
	full := func() everything {
		e := everything{set: NewSettings([]Hyperparameter{{Key: "rate", Max: 1}})}
		e.state.Vector, e.state.Here = make([]float64, 5), &somewhere{At: here5, Rows: []int{3, 4}}
		e.state.Things = make([]thing, 2)
		return e
	}
	for _, c := range []struct {
		want  string
		spoil func(vectors map[string][]float64, numbers map[string]float64, texts map[string]string)
	}{
		{"part.number: not there", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { delete(n, "part.number") }},
		{"part.count: 0.5: expected a whole number from 0 to 9007199254740992", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["part.count"] = 0.5 }},
		{"part.count: NaN", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["part.count"] = math.NaN() }},
		{"part.flag: 2: expected a whole number from 0 to 1", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["part.flag"] = 2 }},
		{"part.text: not there", func(_ map[string][]float64, _ map[string]float64, s map[string]string) { delete(s, "part.text") }},
		{"part.vector: 4 numbers: expected 5", func(v map[string][]float64, _ map[string]float64, _ map[string]string) {
			v["part.vector"] = make([]float64, 4)
		}},
		{"part.rows: 2 numbers: expected 101", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["part.rows count"] = 101 }},
		{"part.thing 2.value: not there", func(_ map[string][]float64, n map[string]float64, _ map[string]string) { n["part.things"] = 1e15 }},
		{"part.rows: 3: expected whole numbers ≥ 0, ascending", func(v map[string][]float64, _ map[string]float64, _ map[string]string) {
			v["part.rows"] = []float64{3, 3}
		}},
		{"part.rows: 3.5: expected", func(v map[string][]float64, _ map[string]float64, _ map[string]string) {
			v["part.rows"] = []float64{3, 3.5}
		}},
		{"part.set.rate: rate = 2: expected a number ≥ 0 and ≤ 1", func(_ map[string][]float64, _ map[string]float64, s map[string]string) {
			s["part.set.rate"] = "2"
		}},
	} {
		a, e := NewArchive(), full()
		e.carry(a)
		vectors, numbers, texts := a.Content()
		c.spoil(vectors, numbers, texts)
		back := OpenArchive(vectors, numbers, texts)
		e = full()
		e.carry(back)
		if err := back.Err(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: expected %s", err, c.want)
		}
	}
}

// sides has two pointers to structs of one type, whose fields lie under keys of their own, beside one whose fields do not.
type sides struct {
	Left   *side   `archive:"left,apart"`
	Right  *side   `archive:"right,apart"`
	Here   *side   `archive:"here"`
	Beside float64 `archive:"beside"`
}

type side struct {
	Factor Numbers `archive:"factor"`
	Inner  *thing  `archive:"inner,apart"`
}

type manySides struct {
	Pairs []sides `archive:"pairs"`
}

// TestArchiveOfPointersApart: two of one type in a struct keep their own fields, in lists and in one another, also where one is none.
func TestArchiveOfPointersApart(t *testing.T) {
	in := manySides{Pairs: []sides{
		{
			Left: &side{Factor: Numbers{1, 2, math.Inf(-1)}, Inner: &thing{3}}, Right: &side{Factor: Numbers{4}}, Here: &side{Factor: Numbers{5, 6}},
			Beside: 7,
		},
		{Right: &side{Inner: &thing{8}}},
		{},
	}}
	a := NewArchive()
	a.State(&in, here5)
	vectors, numbers, _ := a.Content()
	if want := []string{
		"pair 0.factor", "pair 0.left.factor", "pair 0.right.factor", "pair 1.right.factor",
	}; !slices.Equal(slices.Sorted(maps.Keys(vectors)), want) {
		t.Errorf("vectors under %q, expected %q", slices.Sorted(maps.Keys(vectors)), want)
	}
	for key, want := range map[string]float64{
		"pairs": 3, "pair 0.left": 1, "pair 0.left.inner": 1, "pair 0.left.inner.value": 3, "pair 0.right.inner": 0, "pair 0.inner": 0, "pair 1.left": 0,
		"pair 0.left.factor count": 3, "pair 0.right.factor count": 1, "pair 1.right.factor count": 0, "pair 1.right.inner.value": 8, "pair 2.right": 0,
	} {
		if got, ok := numbers[key]; !ok || got != want {
			t.Errorf("%s is %v (%v), expected %v", key, got, ok, want)
		}
	}
	// What was there before is forgotten.
	out := manySides{Pairs: []sides{{Left: &side{Factor: Numbers{9}}}, {Left: &side{Inner: &thing{9}}}, {Beside: 9}, {}}}
	back := OpenArchive(a.Content())
	if back.State(&out, here5); back.Err() != nil {
		t.Fatal(back.Err())
	}
	if !reflect.DeepEqual(in, out) {
		t.Errorf("%+v came back as %+v", in, out)
	}
}

// TestArchiveOfNumbers: as many as there were come back, whatever had room for them, and never as many as weights by chance.
func TestArchiveOfNumbers(t *testing.T) {
	for _, in := range []Numbers{nil, {}, {1}, {1, 2, 3, 4, 5}, {math.Copysign(0, -1), math.NaN(), 5e-324, 4, 5, 6, 7}} {
		for _, room := range []Numbers{nil, {8, 8}, make(Numbers, 9)} {
			a := NewArchive()
			saved := side{Factor: slices.Clone(in)}
			a.State(&saved, here5)
			if len(in) > 0 {
				saved.Factor[0] = 77 // the archive has its own
			}
			out := side{Factor: slices.Clone(room)}
			back := OpenArchive(a.Content())
			back.State(&out, here5)
			if same := slices.EqualFunc(in, out.Factor, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }); back.Err() != nil || !same {
				t.Errorf("%v came back as %v where there was %v, %v", in, out.Factor, room, back.Err())
			}
		}
	}
	for want, spoil := range map[string]func(vectors map[string][]float64, numbers map[string]float64){
		"factor: 3 numbers: expected 2":    func(v map[string][]float64, _ map[string]float64) { v["factor"] = make([]float64, 3) },
		"factor: 0 numbers: expected 2":    func(v map[string][]float64, _ map[string]float64) { delete(v, "factor") },
		"factor: 2 numbers: expected 1000": func(_ map[string][]float64, n map[string]float64) { n["factor count"] = 1000 },
		"factor count: not there":          func(_ map[string][]float64, n map[string]float64) { delete(n, "factor count") },
		"factor count: -1: expected":       func(_ map[string][]float64, n map[string]float64) { n["factor count"] = -1 },
		"factor count: NaN: expected":      func(_ map[string][]float64, n map[string]float64) { n["factor count"] = math.NaN() },
		"inner: not there":                 func(_ map[string][]float64, n map[string]float64) { delete(n, "inner") },
		"inner.value: not there":           func(_ map[string][]float64, n map[string]float64) { delete(n, "inner.value") },
	} {
		a := NewArchive()
		a.State(&side{Factor: Numbers{1, 2}, Inner: &thing{1}}, here5)
		vectors, numbers, texts := a.Content()
		spoil(vectors, numbers)
		back := OpenArchive(vectors, numbers, texts)
		back.State(new(side), here5)
		if err := back.Err(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: expected %s", err, want)
		}
	}
}

// restored is a method that makes again what is not carried, or refuses to.
type restored struct {
	Method
	state  struct{ base }
	calls  int
	refuse error
}

func (m *restored) Carried(*State) any { return &m.state }

func (m *restored) Restored(s *State) error {
	if m.calls++; m.state.Vector == nil || len(m.state.Vector) != len(s.W) {
		return errors.New("called before there is anything")
	}
	return m.refuse
}

// TestArchiveOfAMethod: what is made again is made when all is there, once, and not while it is saved or where something is amiss; what
// it refuses is an error.
func TestArchiveOfAMethod(t *testing.T) {
	s := &State{W: here5}
	from := &restored{}
	from.state.Vector = slices.Clone(here5)
	a := NewArchive()
	if a.In("m").Method(from, s); from.calls != 0 || a.Err() != nil {
		t.Errorf("saving restores %d times, %v", from.calls, a.Err())
	}
	to := new(restored)
	back := OpenArchive(a.Content())
	if back.In("m").Method(to, s); to.calls != 1 || back.Err() != nil || !slices.Equal(to.state.Vector, here5) {
		t.Errorf("restored %d times, %v, %v", to.calls, to.state.Vector, back.Err())
	}
	to = &restored{refuse: errors.New("of another size")}
	back = OpenArchive(a.Content())
	if back.In("m").Method(to, s); back.Err() == nil || back.Err().Error() != "m.method: of another size" {
		t.Errorf("%v", back.Err())
	}
	to = new(restored)
	back = OpenArchive(nil, nil, nil)
	if back.Method(to, s); to.calls != 0 || back.Err() == nil {
		t.Errorf("restored %d times from nothing, %v", to.calls, back.Err())
	}
}
