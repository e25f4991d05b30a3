package umbridge

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/trainer/peer"
)

// banana is sign·((1−x)² + 100(y−x²)²): Rosenbrock's function, or the logarithm of a density of that shape.
func banana(sign float64) model {
	return model{
		name: "banana", inputs: []int{2}, outputs: []int{1},
		evaluate: func(in [][]float64) []float64 {
			x, y := in[0][0], in[0][1]
			return []float64{sign * ((1-x)*(1-x) + 100*(y-x*x)*(y-x*x))}
		},
		gradient: func(_ int, in [][]float64, sens []float64) []float64 {
			x, y := in[0][0], in[0][1]
			s := sign * sens[0]
			return []float64{s * (-2*(1-x) - 400*x*(y-x*x)), s * 200 * (y - x*x)}
		},
		hessian: func(_, _ int, in [][]float64, sens, v []float64) []float64 {
			x, y := in[0][0], in[0][1]
			s := sign * sens[0]
			return []float64{s * ((2-400*y+1200*x*x)*v[0] - 400*x*v[1]), s * (-400*x*v[0] + 200*v[1])}
		},
	}
}

var (
	times = []float64{0, 0.5, 1, 2}
	data  = []float64{1, 1.5, 3, 7}
)

// decay has the residuals a·exp(b t) − data, of two inputs a and b.
func decay() model {
	column := func(input int, x [][]float64) []float64 {
		out := []float64{}
		for _, t := range times {
			e := math.Exp(x[1][0] * t)
			out = append(out, []float64{e, x[0][0] * t * e}[input])
		}
		return out
	}
	return model{
		name: "decay", inputs: []int{1, 1}, outputs: []int{4},
		evaluate: func(x [][]float64) []float64 {
			out := []float64{}
			for i, t := range times {
				out = append(out, x[0][0]*math.Exp(x[1][0]*t)-data[i])
			}
			return out
		},
		gradient: func(i int, x [][]float64, sens []float64) []float64 {
			sum := 0.0
			for k, c := range column(i, x) {
				sum += c * sens[k]
			}
			return []float64{sum}
		},
		jacobian: func(i int, x [][]float64, vec []float64) []float64 {
			out := column(i, x)
			for k := range out {
				out[k] *= vec[0]
			}
			return out
		},
	}
}

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
		loss, err := c.GradientTo(g)
		do(t, err)
		wantVector(t, "loss", []float64{loss}, []float64{104})
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
	wantVector(t, "loss", []float64{got}, []float64{loss})
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

// coupled is x₀²y₁ + 3x₁y₀ + y₀³ + z, whose block of x and y is not symmetric; one input has no numbers. vec is a change of
// inWrt2, or of inWrt1.
func coupled(first bool) model {
	block := func(i, j int, in [][]float64) [][]float64 {
		x, y := in[0], in[2]
		switch [2]int{i, j} {
		case [2]int{0, 0}:
			return [][]float64{{2 * y[1], 0}, {0, 0}}
		case [2]int{0, 2}:
			return [][]float64{{0, 2 * x[0]}, {3, 0}}
		case [2]int{2, 0}:
			return [][]float64{{0, 3}, {2 * x[0], 0}}
		case [2]int{2, 2}:
			return [][]float64{{6 * y[0], 0}, {0, 0}}
		case [2]int{3, 3}:
			return [][]float64{{0}}
		case [2]int{0, 3}, [2]int{2, 3}:
			return [][]float64{{0}, {0}}
		case [2]int{3, 0}, [2]int{3, 2}:
			return [][]float64{{0, 0}}
		}
		return nil
	}
	return model{
		name: "coupled", inputs: []int{2, 0, 2, 1}, outputs: []int{1},
		evaluate: func(in [][]float64) []float64 {
			x, y := in[0], in[2]
			return []float64{x[0]*x[0]*y[1] + 3*x[1]*y[0] + y[0]*y[0]*y[0] + in[3][0]}
		},
		gradient: func(i int, in [][]float64, sens []float64) []float64 {
			x, y := in[0], in[2]
			return [][]float64{{2 * x[0] * y[1] * sens[0], 3 * y[0] * sens[0]}, nil,
				{(3*x[1] + 3*y[0]*y[0]) * sens[0], x[0] * x[0] * sens[0]}, {sens[0]}}[i]
		},
		hessian: func(i, j int, in [][]float64, sens, vec []float64) []float64 {
			if first {
				i, j = j, i
			}
			rows := block(i, j, in)
			if rows == nil || len(rows[0]) != len(vec) {
				return nil
			}
			out := []float64{}
			for _, row := range rows {
				sum := 0.0
				for k, a := range row {
					sum += sens[0] * a * vec[k]
				}
				out = append(out, sum)
			}
			return out
		},
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
	loss, err := c.GradientTo(g)
	do(t, err)
	do(t, c.HessianTo(g, []float64{1, 2}))
	if !math.IsNaN(loss) || !math.IsNaN(g[0]) {
		t.Errorf("loss %v, Hv %v", loss, g)
	}
}

// One clear line for each thing that can be wrong.
func TestRefusals(t *testing.T) {
	with := func(change func(*model)) []model {
		m := banana(1)
		change(&m)
		return []model{m}
	}
	for _, c := range []struct {
		name string
		s    *server
		o    Options
		want string
	}{
		{"no models", &server{}, Options{}, "has no models"},
		{"old", &server{models: with(func(*model) {}), version: "0.9"}, Options{}, `protocol 0.9: expected 1.0`},
		{"two outputs", &server{models: with(func(m *model) { m.outputs = []int{1, 2} })}, Options{}, "has 2 output vectors: expected one"},
		{"no gradient", &server{models: with(func(m *model) { m.gradient = nil })}, Options{}, "expected a model with Evaluate and Gradient: banana has Evaluate, ApplyHessian only"},
		{"large", &server{models: with(func(m *model) { m.inputs = []int{60_000, 60_000} })}, Options{}, "has vectors of 120000 numbers: expected at most 100000; the binary protocol of docs/peer.md takes more"},
		{"negative", &server{models: with(func(m *model) { m.inputs = []int{-1} })}, Options{}, "a vector of -1 numbers"},
		{"empty", &server{models: with(func(m *model) { m.inputs = []int{0} })}, Options{}, "has 0 inputs"},
		{"squares", &server{models: []model{decay()}}, Options{Maximize: true}, "expected one number to maximize"},
		{"start", &server{models: with(func(*model) {})}, Options{Start: []float64{1}}, "has 2 weights: the start has 1"},
		{"exception", &server{models: with(func(m *model) { m.evaluate = func([][]float64) []float64 { return nil } })}, Options{}, "umbridge: /Evaluate: HTTP 500: Internal Server Error"},
		{"length", &server{models: with(func(m *model) {
			m.gradient = func(int, [][]float64, []float64) []float64 { return []float64{1, 2, 3} }
		})}, Options{}, "/Gradient: expected an output of 2 numbers, found 3"},
		{"text", &server{models: with(func(*model) {}), edit: func(string) string { return "[[1.5], banana\x1b[2J]" }}, Options{}, "/Evaluate: expected an answer of UM-Bridge 1.0, found {"},
		{"vectors", &server{models: with(func(*model) {}), edit: func(string) string { return "[]" }}, Options{}, "expected one output vector, found 0"},
		{"long", &server{models: with(func(*model) {}), edit: func(string) string { return strings.Repeat(" ", 2<<20) + "[[1]]" }}, Options{}, "expected an answer of at most"},
	} {
		c.s.t = t
		_, err := Dial(t.Context(), c.s.start(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.HasPrefix(err.Error(), "umbridge: ") {
			t.Errorf("%s: %v: expected %s", c.name, err, c.want)
		}
	}
	for _, address := range []string{"", "ftp://host/x", "http:///banana", "http://host:4242/a?b=c", "http://[::1"} {
		if _, err := Dial(t.Context(), address, Options{}); err == nil || !strings.Contains(err.Error(), "expected an address") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestErrorObjects(t *testing.T) {
	kind := "UnsupportedFeature"
	good := &server{t: t, models: []model{banana(1)}}
	good.start()
	broken := false
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken {
			fail(w, 400, kind, "not\ntoday")
			return
		}
		good.ServeHTTP(w, r)
	}))
	defer web.Close()
	c, err := Dial(t.Context(), web.URL, Options{})
	do(t, err)
	broken = true
	if _, err := c.Loss(nil); !errors.Is(err, peer.ErrUnsupported) || err.Error() != "umbridge: /Evaluate: UnsupportedFeature: not" {
		t.Errorf("unsupported: %v", err)
	}
	broken = false
	_, err = c.Loss(nil)
	do(t, err)
	broken, kind = true, "InvalidInput"
	if _, err := c.Loss(nil); err == nil || errors.Is(err, peer.ErrUnsupported) || err.Error() != "umbridge: /Evaluate: InvalidInput: not" {
		t.Errorf("invalid: %v", err)
	}
	broken = false
	if err := c.At([]float64{1, 2}); err == nil {
		t.Error("the client goes on after an error")
	}
}

func TestSlowServer(t *testing.T) {
	good := &server{t: t, models: []model{banana(1)}}
	good.start()
	slow, release := false, make(chan struct{})
	asked := make(chan struct{}, 1)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slow {
			asked <- struct{}{}
			<-release
			return
		}
		good.ServeHTTP(w, r)
	}))
	defer web.Close()
	defer close(release)
	c, err := Dial(t.Context(), web.URL, Options{})
	do(t, err)
	canceled, err := Dial(t.Context(), web.URL, Options{})
	do(t, err)
	slow = true
	c.timeout = 20 * time.Millisecond
	if _, err := c.Loss(nil); err == nil || !strings.Contains(err.Error(), "no answer to /Evaluate from ") || !strings.HasSuffix(err.Error(), "for 20ms (--model-timeout)") {
		t.Errorf("timeout: %v", err)
	}
	<-asked
	go func() {
		<-asked
		canceled.cancel()
	}()
	if _, err := canceled.Loss(nil); err == nil || err.Error() != "umbridge: /Evaluate: context canceled" {
		t.Errorf("canceled: %v", err)
	}
}

func TestGoneServer(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	if _, err := Dial(t.Context(), web.URL, Options{}); err == nil || err.Error() != "umbridge: /Info: HTTP 404: page not found" {
		t.Errorf("another server: %v", err)
	}
	web.Close()
	if _, err := Dial(t.Context(), web.URL, Options{}); err == nil || !strings.Contains(err.Error(), "umbridge: /Info: no answer from 127.0.0.1:") {
		t.Errorf("no server: %v", err)
	}
	c := dial(t, &server{models: []model{banana(1)}}, Options{})
	do(t, c.Close())
	do(t, c.Close())
	if _, err := c.Loss(nil); err == nil || err.Error() != "umbridge: closed" {
		t.Errorf("closed: %v", err)
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

func TestConnectionsThatClose(t *testing.T) {
	good := &server{t: t, models: []model{banana(1)}}
	good.start()
	last := ""
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header["Idempotency-Key"] != nil {
			t.Error("a header that the protocol does not know")
		}
		if r.RemoteAddr == last {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				err = connection.Close()
			}
			if err != nil {
				t.Error(err)
			}
			return
		}
		last = r.RemoteAddr
		good.ServeHTTP(w, r)
	}))
	defer web.Close()
	c, err := Dial(t.Context(), web.URL, Options{})
	do(t, err)
	f, err := c.Loss([]float64{-1, 2})
	do(t, err)
	wantVector(t, "loss", []float64{f.Loss}, []float64{104})
}
