package optim

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRegistryIsComplete(t *testing.T) {
	var names []string
	for _, i := range All() {
		names = append(names, i.Name)
		for what, text := range map[string]string{
			"title": i.Title, "paper": i.Paper, "equations": i.Equations, "summary": i.Summary, "cost": i.Cost,
		} {
			if text == "" || strings.ContainsAny(text, "\n\t") {
				t.Errorf("%s: %s %q", i.Name, what, text)
			}
		}
		if n := utf8.RuneCountInString(i.Title); n > 40 {
			t.Errorf("%s: a title of %d columns", i.Name, n)
		}
		if !strings.HasSuffix(i.Summary, ".") {
			t.Errorf("%s: the summary is no sentence", i.Name)
		}
		if i.New() == i.New() {
			t.Errorf("%s makes the same twice", i.Name)
		}
		s := NewSettings(i.Parameters)
		if i.Primary != "" && !s.Has(i.Primary) {
			t.Errorf("%s: primary %q", i.Name, i.Primary)
		}
		seen := map[string]bool{}
		for _, h := range i.Parameters {
			if seen[h.Key] || h.Key == "" || h.Meaning == "" {
				t.Errorf("%s: %+v", i.Name, h)
			}
			seen[h.Key] = true
			if err := h.Check(h.Default); err != nil {
				t.Errorf("%s: the default: %v", i.Name, err)
			}
			if v, err := h.Parse(h.Text(h.Default)); err != nil || v != h.Default {
				t.Errorf("%s: %s reads back as %g, %v", i.Name, h.Key, v, err)
			}
		}
	}
	want := []string{
		"tr-newton", "tr-gn", "tr-gn-jacobi", "scg", "lbfgs", "sgd", "momentum", "adam", "lm",
		"dogleg", "tr-rows", "scg-fd", "eigen-gd", "bpls", "online-bp", "nag", "adagrad", "rmsprop",
	}
	if !slices.Equal(names, want) {
		t.Errorf("methods %v, want %v", names, want)
	}
}

// TestEdge: on ½λw², with all rows to an update, the error shrinks below the edge and grows above it.
func TestEdge(t *testing.T) {
	for _, i := range All() {
		if i.Edge == nil {
			continue
		}
		s := NewSettings(i.Parameters)
		edge, formula := i.Edge(s)
		if formula == "" || !(edge > 0) {
			t.Errorf("%s: %q is %g", i.Name, formula, edge)
		}
		for _, times := range []float64{0.99, 1.01} {
			lambda := times * edge
			o := &rows{n: 1, k: []float64{lambda}, targets: [][]float64{{0}}}
			state := &State{Objective: o, W: []float64{1}, Settings: s, Rand: rand.New(rand.NewPCG(1, 2))}
			m := i.New()
			for range 2000 {
				if _, err := m.Step(context.Background(), state); err != nil {
					break
				}
			}
			if grown := !(math.Abs(state.W[0]) < 1); grown != (times > 1) {
				t.Errorf("%s at %g of the edge: the weight goes to %g", i.Name, times, state.W[0])
			}
		}
		if edge, _ := i.Edge(ReadSettings(i.Parameters, map[string]string{"momentum": "0.5"})); !math.IsNaN(edge) {
			t.Errorf("%s: without a rate the edge is %g", i.Name, edge)
		}
	}
	if edge, formula := HeavyBall.Edge(ReadSettings(HeavyBall.Parameters, map[string]string{"rate": "0.1", "momentum": "0.5"})); edge != 30 || formula != "2(1+μ)/η" {
		t.Errorf("%s = %g", formula, edge)
	}
}

// TestInner: what ends an inner solve, as far as the settings tell.
func TestInner(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		texts map[string]string
		limit int
		ratio float64
	}{
		{map[string]string{"limit": "40", "xi": "0.02", "blocks": "1", "forcing": "fixed", "block-xi": "0.1"}, 40, 0.02},
		{map[string]string{"limit": "0", "xi": "0.02", "blocks": "3", "forcing": "fixed", "block-xi": "0.1"}, 0, 0.1},
		{map[string]string{"limit": "40", "xi": "0.02", "blocks": "1", "forcing": "sqrt"}, 40, nan},
		{map[string]string{"xi": "0.02"}, 0, 0.02},
		{map[string]string{"xi": "wide", "limit": "many"}, 0, nan},
		{nil, 0, nan},
	} {
		for _, i := range []*Info{&Newton, &GaussNewton, &GaussNewtonJacobi, &GaussNewtonRows} {
			limit, ratio := i.Inner(ReadSettings(i.Parameters, c.texts))
			if limit != c.limit || ratio != c.ratio && !(math.IsNaN(ratio) && math.IsNaN(c.ratio)) {
				t.Errorf("%s %v: %d, %g", i.Name, c.texts, limit, ratio)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	if i, err := Lookup("adam"); err != nil || i.Name != "adam" {
		t.Errorf("%v, %v", i, err)
	}
	_, err := Lookup("atom")
	var unknown *UnknownError
	if !errors.As(err, &unknown) || unknown.Name != "atom" || !strings.Contains(err.Error(), "tr-newton, tr-gn,") {
		t.Errorf("%v", err)
	}
}

func TestOffers(t *testing.T) {
	for _, test := range []struct {
		o    Objective
		need Capability
		want string
	}{
		{&smooth{}, NeedsHessian | NeedsGaussNewton, ""},
		{&smooth{}, NeedsHessian | NeedsRows, "rows"},
		{five(), NeedsHessian | NeedsRows, "Hessian"},
		{residuals{}, NeedsGaussNewton, ""},
		{five(), NeedsRows | NeedsJacobian, "Jacobian"},
		{&smooth{}, NeedsLayers, "layers"},
		{&degenerate{}, NeedsHessian | NeedsGaussNewton | NeedsRows | NeedsJacobian, ""},
	} {
		err := Offers(test.o, test.need)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T offers %b: %v", test.o, test.need, err)
		}
	}
}

func TestRange(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		h       Hyperparameter
		words   string
		allowed []float64
		refused []float64
	}{
		{Hyperparameter{Min: -inf, Max: inf}, "a number", []float64{-1e9, 0, 5}, []float64{math.NaN()}},
		{Hyperparameter{Max: inf, Open: true}, "a number > 0", []float64{1e-300, inf}, []float64{0, -1}},
		{Hyperparameter{Max: inf, Open: true, OpenMax: true}, "a number > 0", []float64{1e300}, []float64{0, inf}},
		{Hyperparameter{Max: 1, OpenMax: true}, "a number ≥ 0 and < 1", []float64{0, 0.9}, []float64{1, -0.1}},
		{Hyperparameter{Min: 1, Max: 3, Integer: true}, "a whole number ≥ 1 and ≤ 3", []float64{1, 2, 3}, []float64{0, 1.5, 4}},
		{Hyperparameter{Min: -inf, Max: 3}, "a number ≤ 3", []float64{-9, 3}, []float64{3.1}},
		{Hyperparameter{Choices: []string{"one", "two"}}, "one or two", []float64{0, 1}, []float64{-1, 0.5, 2}},
	} {
		if got := test.h.Range(); got != test.words {
			t.Errorf("%q, want %q", got, test.words)
		}
		for _, v := range test.allowed {
			if err := test.h.Check(v); err != nil {
				t.Errorf("%s: %v", test.words, err)
			}
		}
		for _, v := range test.refused {
			if test.h.Check(v) == nil {
				t.Errorf("%s: %g was allowed", test.words, v)
			}
		}
	}
}

func TestSettings(t *testing.T) {
	_, s := method(t, "tr-newton")
	other := s.Clone()
	var keys []string
	for _, h := range s.Parameters() {
		keys = append(keys, h.Key)
	}
	for text, want := range map[[2]string]string{
		{"radius", "-1"}:       "radius = -1: expected a number > 0",
		{"radius", "wide"}:     "radius = wide: expected a number > 0",
		{"boundary", "round"}:  "boundary = round: expected segment or scaling",
		{"limit", "2.5"}:       "limit = 2.5: expected a whole number ≥ 0 and ≤ 1000000000",
		{"colour", "blue"}:     "colour = blue: expected one of " + strings.Join(keys, ", "),
		{"xi", "1"}:            "xi = 1: expected a number > 0 and < 1",
		{"preconditioner", ""}: "preconditioner = : expected none or jacobi",
	} {
		err := s.PutText(text[0], text[1])
		var wrong *SettingError
		if !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if s.Put("boundary", 1) != nil || s.Choice("boundary") != "scaling" || s.PutText("radius", "2e1") != nil || s.Get("radius") != 20 {
		t.Error("values were not taken")
	}
	if s.Put("radius", math.NaN()) == nil || s.Put("colour", 1) == nil {
		t.Error("a bad value was taken")
	}
	if other.Get("radius") != 1 || other.Choice("boundary") != "segment" {
		t.Error("the copy is not independent")
	}
	text, err := json.Marshal(s)
	var back map[string]any
	if err != nil || json.Unmarshal(text, &back) != nil || back["radius"] != 20.0 || back["boundary"] != "scaling" || len(back) != len(s.Parameters()) {
		t.Errorf("%v, %s", err, text)
	}
	defer func() {
		if r := recover(); r != "optim: no hyperparameter colour" {
			t.Errorf("panic %v", r)
		}
	}()
	s.Get("colour")
}
