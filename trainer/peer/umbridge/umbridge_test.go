package umbridge

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/peer"
)

func dial(t *testing.T, s *server, o Options) *Client {
	t.Helper()
	s.t = t
	c, err := Dial(t.Context(), s.start(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantVector(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12*(1+math.Abs(want[i])) {
			t.Errorf("%s is %v: expected %v", what, got, want)
			return
		}
	}
}

func TestBananaEitherWay(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		c := dial(t, &server{models: []model{banana(sign)}}, Options{Maximize: sign < 0})
		a := c.About()
		if a.Name != "banana" || a.Dim != 2 || a.Outputs != 1 || !slices.Equal(a.Has, []string{"grad", "hv"}) || len(a.Findings) != 0 {
			t.Errorf("about %+v", a)
		}
		if b := a.Blocks; len(b) != 1 || b[0].Name != "input 1" || !slices.Equal(b[0].Shape, []int{2}) {
			t.Errorf("blocks %v", b)
		}
		w, g := []float64{-1, 2}, make([]float64, 2)
		do(t, c.At(w))
		w[0] = 99 // the point is a copy
		at, err := c.GradientTo(g)
		do(t, err)
		wantVector(t, "loss", []float64{at.Loss}, []float64{104})
		wantVector(t, "gradient", g, []float64{396, 200})
		do(t, c.HessianTo(g, []float64{1, -2}))
		wantVector(t, "Hv", g, []float64{402 - 800, 0})
		f, err := c.Loss([]float64{1, 1})
		do(t, err)
		if f.Loss != 0 || !math.IsNaN(f.Error) || !math.IsNaN(f.RMSE) {
			t.Errorf("figures %v", f)
		}
		f, err = c.Loss(nil)
		do(t, err)
		wantVector(t, "loss at the point", []float64{f.Loss}, []float64{104})
		do(t, c.Set(w))
	}
}

func TestLeastSquares(t *testing.T) {
	c := dial(t, &server{models: []model{decay()}}, Options{Start: []float64{1.5, 0.25}})
	if a := c.About(); a.Outputs != 4 || a.Dim != 2 || len(a.Blocks) != 2 || !slices.Equal(a.Has, []string{"grad", "gnv"}) {
		t.Errorf("about %+v", a)
	}
	start := make([]float64, 2)
	do(t, c.Start(start))
	wantVector(t, "start", start, []float64{1.5, 0.25})
	var loss, ga, gb, jaa, jab, jbb float64
	for i, x := range times {
		e := math.Exp(0.25 * x)
		f, a, b := 1.5*e-data[i], e, 1.5*x*e
		loss, ga, gb = loss+f*f/2, ga+a*f, gb+b*f
		jaa, jab, jbb = jaa+a*a, jab+a*b, jbb+b*b
	}
	g := make([]float64, 2)
	got, err := c.GradientTo(g)
	do(t, err)
	wantVector(t, "loss", []float64{got.Loss}, []float64{loss})
	wantVector(t, "gradient", g, []float64{ga, gb})
	do(t, c.GaussNewtonTo(g, []float64{2, -3}))
	wantVector(t, "JᵀJv", g, []float64{2*jaa - 3*jab, 2*jab - 3*jbb})
	if err := c.HessianTo(g, start); !errors.Is(err, peer.ErrUnsupported) {
		t.Errorf("Hessian: %v", err)
	}
}

func TestEvaluationsAreNotRepeatedForGradients(t *testing.T) {
	s := &server{models: []model{banana(1)}}
	c := dial(t, s, Options{})
	g := make([]float64, 2)
	before := s.asked["/Evaluate"]
	_, err := c.Loss([]float64{3, 4})
	do(t, err)
	do(t, c.At([]float64{3, 4}))
	for want := 1; want <= 2; want++ { // a second gradient asks anew, so that what is random is found
		_, err := c.GradientTo(g)
		do(t, err)
		if got := s.asked["/Evaluate"] - before; got != want {
			t.Errorf("%d evaluations: expected %d", got, want)
		}
	}
}

func TestHessianOfSeveralInputs(t *testing.T) {
	for _, first := range []bool{false, true} {
		c := dial(t, &server{models: []model{coupled(first)}}, Options{})
		if !c.About().Can(peer.HasHessian) || len(c.About().Blocks) != 3 || c.About().Dim != 5 {
			t.Fatalf("vec first %v: about %+v", first, c.About())
		}
		do(t, c.At([]float64{2, 3, 5, 7, 11}))
		h := make([]float64, 5)
		do(t, c.HessianTo(h, []float64{1, 10, 100, 1000, 1}))
		wantVector(t, "Hv", h, []float64{14 + 4000, 300, 30 + 3000, 4, 0})
	}
}

func TestHessianThatIsNotUsed(t *testing.T) {
	python := banana(1)
	python.checkHessian = true
	wrong := coupled(false)
	right := wrong.hessian
	wrong.hessian = func(i, j int, in [][]float64, sens, vec []float64) []float64 {
		out := right(i, j, in, sens, vec)
		for k := range out {
			out[k] *= 2
		}
		return out
	}
	for _, m := range []model{python, wrong} {
		c := dial(t, &server{models: []model{m}}, Options{})
		a := c.About()
		if a.Can(peer.HasHessian) || len(a.Findings) != 1 || a.Findings[0].Remedy == "" {
			t.Errorf("about %+v", a)
		}
		g := make([]float64, a.Dim)
		if err := c.HessianTo(g, g); !errors.Is(err, peer.ErrUnsupported) {
			t.Errorf("Hessian: %v", err)
		}
		if _, err := c.GradientTo(g); err != nil {
			t.Errorf("after that: %v", err)
		}
	}
}

func TestStart(t *testing.T) {
	bowl := model{
		name: "bowl", inputs: []int{3}, outputs: []int{1},
		evaluate: func(x [][]float64) []float64 { return []float64{x[0][0]*x[0][0] - x[0][1]*x[0][2]} },
		gradient: func(_ int, x [][]float64, _ []float64) []float64 {
			return []float64{2 * x[0][0], -x[0][2], -x[0][1]}
		},
	}
	raising := bowl
	raising.evaluate = func(x [][]float64) []float64 {
		if x[0][0] == 0 {
			return nil
		}
		return bowl.evaluate(x)
	}
	infinite := bowl
	infinite.evaluate = func(x [][]float64) []float64 { return []float64{math.Log(math.Abs(x[0][0]))} }
	var starts [][]float64
	for _, m := range []model{bowl, raising, infinite} {
		c := dial(t, &server{models: []model{m}}, Options{Seed: 4})
		w := make([]float64, 3)
		do(t, c.Start(w))
		starts = append(starts, w)
		if slices.Contains(w, 0) || !finite(w) || !slices.Equal(w, starts[0]) {
			t.Errorf("start %v", w)
		}
	}
	w := make([]float64, 3)
	do(t, dial(t, &server{models: []model{bowl}}, Options{Start: make([]float64, 3)}).Start(w))
	if !slices.Equal(w, make([]float64, 3)) {
		t.Errorf("start %v: zeros were asked for", w)
	}
	do(t, dial(t, &server{models: []model{banana(1)}}, Options{}).Start(w[:2]))
	if w[0] != 0 || w[1] != 0 {
		t.Errorf("start %v", w)
	}
}

func TestSeveralModels(t *testing.T) {
	s := &server{t: t, models: []model{banana(1), decay()}}
	address := s.start()
	_, err := Dial(t.Context(), address, Options{})
	if err == nil || !strings.Contains(err.Error(), "banana, decay") {
		t.Errorf("no name: %v", err)
	}
	if _, err = Dial(t.Context(), address+"/other", Options{}); err == nil || !strings.Contains(err.Error(), "banana, decay") {
		t.Errorf("wrong name: %v", err)
	}
	for _, as := range []string{address + "/decay", strings.TrimPrefix(address, "http://") + "/decay/"} {
		c, err := Dial(t.Context(), as, Options{})
		do(t, err)
		if c.About().Name != "decay" {
			t.Errorf("%s: %s", as, c.About().Name)
		}
		do(t, c.Close())
	}
}

func TestNumbersThatAreNoJSON(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{"[[nan]]", math.NaN()}, {"[[-nan]]", math.NaN()}, {"[[NaN]]", math.NaN()}, {"[[null]]", math.NaN()},
		{"[[inf]]", math.Inf(1)}, {"[[-inf]]", math.Inf(-1)}, {"[[Infinity]]", math.Inf(1)}, {"[[-Infinity]]", math.Inf(-1)},
		{`[["NaN"]]`, math.NaN()}, {"[[1e999]]", math.Inf(1)}, {"[[np.float64(0.5)]]", 0.5}, {"[[np.float64(nan)]]", math.NaN()},
		{"[array([2.])]", 2}, {"[[+.5]]", 0.5}, {"[[3]]", 3},
	} {
		s := &server{models: []model{banana(1)}, version: `"1.0"`}
		client := dial(t, s, Options{})
		s.edit = func(string) string { return c.text }
		f, err := client.Loss(nil)
		do(t, err)
		if f.Loss != c.want && !(math.IsNaN(f.Loss) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v", c.text, f.Loss)
		}
	}
}

func TestWeightsThatAreNotFinite(t *testing.T) {
	s := &server{models: []model{banana(1)}}
	c := dial(t, s, Options{})
	g := make([]float64, 2)
	do(t, c.At([]float64{1, math.Inf(1)}))
	at, err := c.GradientTo(g)
	do(t, err)
	do(t, c.HessianTo(g, []float64{1, 2}))
	if loss := at.Loss; !math.IsNaN(loss) || !math.IsNaN(g[0]) {
		t.Errorf("loss %v, Hv %v", loss, g)
	}
}

func TestWhatTheProtocolLacks(t *testing.T) {
	c := dial(t, &server{models: []model{banana(1)}}, Options{})
	g := make([]float64, 2)
	_, rows := c.RowsGradientTo(g, g, []int{0})
	_, eval := c.Eval(nil)
	for _, err := range []error{rows, eval, c.DiagonalTo(g), c.GaussNewtonTo(g, g)} {
		if !errors.Is(err, peer.ErrUnsupported) {
			t.Error(err)
		}
	}
	if _, err := c.GradientTo(g); err != nil {
		t.Errorf("after that: %v", err)
	}
}
