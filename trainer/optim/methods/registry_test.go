package methods

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
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
		s := optim.NewSettings(i.Parameters)
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
		"tr-newton", "tr-gn", "tr-gn-jacobi", "soap", "kfac", "hessian-free", "scg", "adam", "lm",
		"dogleg", "tr-rows", "shampoo", "muon", "lbfgs", "scg-fd", "eigen-gd", "bpls", "sgd", "momentum", "nag", "adagrad", "rmsprop", "online-bp",
	}
	if !slices.Equal(names, want) {
		t.Errorf("methods %v, want %v", names, want)
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
		o    optim.Objective
		need optim.Capability
		want string
	}{
		{&optimtest.Smooth{}, optim.NeedsHessian | optim.NeedsGaussNewton, ""},
		{&optimtest.Smooth{}, optim.NeedsHessian | optim.NeedsRows, "rows"},
		{struct{ optim.RowObjective }{}, optim.NeedsHessian | optim.NeedsRows, "Hessian"},
		{struct{ optim.GaussNewtonObjective }{}, optim.NeedsGaussNewton, ""},
		{struct{ optim.RowObjective }{}, optim.NeedsRows | optim.NeedsJacobian, "Jacobian"},
		{&optimtest.Smooth{}, optim.NeedsLayers, "layers"},
		{struct{ optim.RowObjective }{}, optim.NeedsRows | optim.NeedsFactors, "factors"},
		{struct{ optim.RowObjective }{}, optim.NeedsSquares, "squares"},
		{struct{ optim.FactorObjective }{}, optim.NeedsFactors | optim.NeedsSample, "some of its rows"},
		{struct{ optim.SquaresObjective }{}, optim.NeedsRows | optim.NeedsSquares, ""},
		{struct{ optim.SampledObjective }{}, optim.NeedsRows | optim.NeedsSample, ""},
		{&degenerate{}, optim.NeedsHessian | optim.NeedsGaussNewton | optim.NeedsRows | optim.NeedsJacobian, ""},
	} {
		err := optim.Offers(test.o, test.need)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T offers %b: %v", test.o, test.need, err)
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
		{"boundary", "round"}:  "boundary = round: expected segment or scaling or minimum",
		{"limit", "2.5"}:       "limit = 2.5: expected a whole number ≥ 0 and ≤ 1000000000",
		{"colour", "blue"}:     "colour = blue: expected one of " + strings.Join(keys, ", "),
		{"xi", "1"}:            "xi = 1: expected a number > 0 and < 1",
		{"preconditioner", ""}: "preconditioner = : expected none or jacobi",
	} {
		err := s.SetText(text[0], text[1])
		var wrong *optim.SettingError
		if !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if s.Set("boundary", 1) != nil || s.Choice("boundary") != "scaling" || s.SetText("radius", "2e1") != nil || s.Get("radius") != 20 {
		t.Error("values were not taken")
	}
	if s.Set("radius", math.NaN()) == nil || s.Set("colour", 1) == nil {
		t.Error("a bad value was taken")
	}
	if other.Get("radius") != 1 || other.Choice("boundary") != "minimum" {
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
