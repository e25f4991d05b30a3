package peer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"newtop/trainer/optim"
)

// Every answer is what the model's closed forms say, as it is by whichever way vectors come.
func TestAnswers(t *testing.T) {
	for _, single := range []bool{false, true} {
		for _, maps := range []bool{false, true} {
			for _, n := range []int{1, 2, 17, 4096, 100_003} {
				t.Run(fmt.Sprintf("single=%v,map=%v,n=%d", single, maps, n), func(t *testing.T) {
					defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
					t.Run("", func(t *testing.T) { answers(t, &fake{n: n, single: single, maps: maps}) })
				})
			}
		}
	}
}

func answers(t *testing.T, f *fake) {
	c, err := greeted(t, f, Options{Map: 1})
	if err != nil {
		t.Fatal(err)
	}
	if (c.wire.mapped != nil) != f.maps {
		t.Skipf("mapped: %v", (c.wire.mapped != nil))
	}
	a := c.About()
	if a.Dim != f.n || a.Single != f.single || len(a.Blocks) != 2 || a.Blocks[1].Size() != 1 || a.Program != `Go\x1b[2J` || a.Rows != f.n || !a.Can(HasRows) {
		t.Errorf("about: %+v", a)
	}
	w, v, got, want := make([]float64, f.n), make([]float64, f.n), make([]float64, f.n), make([]float64, f.n)
	for i := range w {
		w[i], v[i] = float64(i%5)/4, float64(i%11)-5
	}
	same := func(what string, err error) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: %v, %v", what, err, slices.Equal(got, want))
		}
	}
	same("start", c.Start(got))
	if err := c.At(w, nil); err != nil {
		t.Fatal(err)
	}
	copy(want, w)
	same("get", c.Start(got))
	metrics, err := c.Loss(nil, nil)
	if err != nil || metrics.Loss != f.loss(w) || !math.IsNaN(metrics.Error) || !math.IsInf(metrics.RMSE, 1) {
		t.Errorf("loss: %+v, %v", metrics, err)
	}
	if metrics, err = c.Eval(v); err != nil || metrics.Loss != f.loss(v) {
		t.Errorf("eval: %+v, %v", metrics, err)
	}
	copy(want, f.gradient(w, nil))
	at, err := c.GradientTo(got)
	if same("gradient", err); at.Loss != f.loss(w) {
		t.Errorf("loss %g", at.Loss)
	}
	_, err = c.RowsGradientTo(got, w, nil)
	same("gradient of all rows", err)
	copy(want, f.gradient(v, []int{0, f.n - 1}))
	_, err = c.RowsGradientTo(got, v, []int{0, f.n - 1})
	same("rows", err)
	for i := range want {
		want[i] = f.curvature(i) * v[i]
	}
	same("hv", c.HessianTo(got, v))
	same("gnv", c.GaussNewtonTo(got, v))
	for i := range want {
		want[i] = f.curvature(i)
	}
	same("diag", c.DiagonalTo(got))
	if err := errors.Join(c.Set(v), c.SendEvent([]byte(`{"type":"epoch"}`))); err != nil || !slices.Equal(f.set, v) || len(f.events) != 1 || f.events[0] != `{"type":"epoch"}` {
		t.Errorf("set and tell: %v, %q", err, f.events)
	}
	if c.Spent() < 20*time.Millisecond || c.Spent() > 40*time.Millisecond {
		t.Errorf("spent %v", c.Spent())
	}
}

// Factors come in the order of the layers, from numbers that are drawn as the peer says; a point may be over some rows.
func TestFactorsOfAPeer(t *testing.T) {
	layer := func(block, kind string, bias bool) map[string]any {
		return map[string]any{"block": block, "kind": kind, "bias": bias}
	}
	blocks := []any{}
	for name, shape := range map[string][]int{"a": {3, 2, 2}, "b": {3}, "c": {5, 2}, "d": {7}} {
		blocks = append(blocks, map[string]any{"name": name, "shape": shape})
	}
	slices.SortFunc(blocks, func(x, y any) int {
		return strings.Compare(x.(map[string]any)["name"].(string), y.(map[string]any)["name"].(string))
	})
	has := []string{"grad", "gnv", "rows", "sample", "factors"}
	good := []any{layer("a", "matrix", true), layer("c", "table", false), layer("d", "diagonal", false)}
	for _, maps := range []bool{false, true} {
		c, err := greeted(t, &fake{n: 32, maps: maps, keys: map[string]any{"blocks": blocks, "has": has, "rows": 9,
			"factors": map[string]any{"draws": 2, "normal": true, "layers": good}}}, Options{Map: 1})
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(c)
		if err != nil {
			t.Fatal(err)
		}
		matrices := m.FactorMatrices()
		if got, want := fmt.Sprint(matrices), "[{1 0 3 4 0 true false false} {3 2 5 2 15 false false true} {4 3 1 7 25 false true false}]"; got != want {
			t.Errorf("%v, want %v", got, want)
		}
		w, all := make([]float64, 32), []optim.Factors{{Inputs: make([]float64, 25), Outputs: make([]float64, 1)},
			{Inputs: make([]float64, 4), Outputs: make([]float64, 5)}, {Inputs: make([]float64, 7), Outputs: make([]float64, 1)}}
		for i := range w {
			w[i] = float64(i) / 8
		}
		rng := rand.New(rand.NewPCG(1, 2))
		m.RowsFactorsTo(all, w, []int{4, 1}, rng)
		rng = rand.New(rand.NewPCG(1, 2))
		var last float64
		for range 2 * 2 {
			last = rng.NormFloat64()
		}
		for i, f := range all {
			for j, x := range [][]float64{f.Inputs, f.Outputs} {
				for _, got := range x {
					if want := w[2*i+j] + 2 + last; got != want {
						t.Fatalf("factor %d of layer %d is %g, want %g", j, i, got, want)
					}
				}
			}
		}
		l, g := m.BindSample([]int{3, 5}), make([]float64, 32)
		l.Update(w)
		if l.GradientTo(g); l.Rows() != 2 || g[3] == 0 || g[4] != 0 || l.EvaluateAt(w).Loss == 0 {
			t.Errorf("the gradient of rows 3 and 5: %v", g)
		}
	}
	for want, layers := range map[string][]any{
		"not matrix, table": {layer("a", "cube", false)}, "no block of that name": {layer("c", "table", false), layer("a", "matrix", true)},
		"don't follow": {layer("c", "matrix", true)}, "of shape [7]": {layer("d", "table", false)}, "no layers": {},
	} {
		_, err := greeted(t, &fake{n: 32, keys: map[string]any{"blocks": blocks, "has": has, "factors": map[string]any{"draws": 1, "layers": layers}}}, Options{})
		told(t, err, want)
	}
}

// everything asks all there is, and returns the first error.
func everything(c *Client) error {
	x := make([]float64, c.About().Dim)
	_, gradient := c.GradientTo(x)
	_, loss := c.Loss(x, nil)
	return errors.Join(c.Start(x), c.At(x, nil), loss, gradient, c.HessianTo(x, x), c.DiagonalTo(x), c.Set(x))
}

// A peer that ends in the midst of any frame, at any byte, is told of in one line, which stays.
func TestPeerEndsAnywhere(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, op := range []string{"hello", "welcome", "get", "at", "loss", "grad", "hv", "diag", "set"} {
		for at, length := 0, 1; at < length; at += 1 + at/24 {
			f := &fake{n: 3, single: true}
			f.spoil = func(is string, b []byte) []byte {
				if is != op {
					return b
				}
				length = len(b)
				_, _ = f.conn.Write(b[:min(at, len(b))])
				return nil
			}
			t.Run("", func(t *testing.T) {
				c, err := greeted(t, f, Options{Answer: 10 * time.Second})
				if err == nil {
					err = everything(c)
				}
				told(t, err, "closed the connection")
			})
		}
	}
}

// told checks that all lines of an error are the same one.
func told(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	lines := strings.Split(err.Error(), "\n")
	for _, l := range lines {
		if l != lines[0] || !strings.Contains(l, want) || len(l) > 400 {
			t.Fatalf("%q, want %q", err, want)
		}
	}
}

func TestBadReplies(t *testing.T) {
	long := func(b []byte) []byte { b[6] = 0x11; return b }
	for _, c := range []struct {
		want  string
		spoil func(b []byte) []byte
	}{
		{`begins with "GARB"`, func(b []byte) []byte { return append([]byte("GARB"), b[4:]...) }},
		{"more than 1048576", long},
		{"more than 1099511627776", func(b []byte) []byte { b[14] = 1; return b }},
		{"vectors end at", func(b []byte) []byte { b[12] = 1; return b }},
		{"vectors end at", func(b []byte) []byte { b[8] -= 8; return b }},
		{"not a JSON object", func(b []byte) []byte { b[16] = '['; return b }},
		{"not UTF-8", func(b []byte) []byte { b[17] = 0xff; return b }},
		{"has id 77", func(b []byte) []byte { return replaced(b, `"id":4`, `"id":77`) }},
		{"id is", func(b []byte) []byte { return replaced(b, `"id":4`, `"id":4.5`) }},
		{"no id", func(b []byte) []byte { return replaced(b, `"id":4`, `"di":4`) }},
		{"no reply", func(b []byte) []byte { return replaced(b, `"id":4`, `"op":"step","id":4`) }},
		{"dtype", func(b []byte) []byte { return replaced(b, "F32", "F64") }},
		{"dtype", func(b []byte) []byte { return replaced(b, "F32", "BF16") }},
		{"shape [4]", func(b []byte) []byte { return replaced(b, `"shape":[3]`, `"shape":[4]`) }},
		{"shape [3 1]", func(b []byte) []byte { return replaced(b, `"shape":[3]`, `"shape":[3,1]`) }},
		{"shape []", func(b []byte) []byte { return replaced(b, `"shape":[3]`, `"shape":null`) }},
		{"not what it should be", func(b []byte) []byte { return replaced(b, `"shape":[3]`, `"shape":[3.5]`) }},
		{"not what it should be", func(b []byte) []byte { return replaced(b, `[64,76]`, `[64,76,80]`) }},
		{"multiple of 64", func(b []byte) []byte { return replaced(b, `[64,76]`, `[32,76]`) }},
		{"outside", func(b []byte) []byte { return replaced(b, `[64,76]`, `[-64,76]`) }},
		{"outside", func(b []byte) []byte { return replaced(b, `[64,76]`, `[128,76]`) }},
		{"has 76 bytes", func(b []byte) []byte { return replaced(b, `[64,76]`, `[0,76]`) }},
		{"no vector g", func(b []byte) []byte { return replaced(b, `"g":`, `"h":`) }},
		{"there is none", func(b []byte) []byte {
			b = replaced(b[:len(b)-76], `"data_offsets"`, `"map":true,"data_offsets"`)
			b[8] = 0
			return b
		}},
		{"no loss", func(b []byte) []byte { return replaced(b, `"loss":`, `"lost":`) }},
		{"loss is", func(b []byte) []byte { return replaced(b, `"loss":`, `"loss":"a lot","lost":`) }},
		{"loss is", func(b []byte) []byte { return replaced(b, `"loss":`, `"loss":1e999,"lost":`) }},
		{"ms is", func(b []byte) []byte { return replaced(b, `2.5`, `[]`) }},
	} {
		t.Run(c.want, func(t *testing.T) {
			f := &fake{n: 3, single: true}
			f.spoil = func(op string, b []byte) []byte {
				if op == "grad" {
					return c.spoil(b)
				}
				return b
			}
			client, err := greeted(t, f, Options{Answer: 10 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			x := make([]float64, 3)
			for range 2 {
				if err := client.At(x, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := client.Start(x); err != nil { // id 3
				t.Fatal(err)
			}
			_, err = client.GradientTo(x)
			told(t, err, c.want)
			told(t, everything(client), err.Error())
		})
	}
}

func TestBadHello(t *testing.T) {
	block := func(shape ...int) []any { return []any{map[string]any{"name": "a", "shape": shape}} }
	for _, c := range []struct {
		want string
		keys map[string]any
	}{
		{"first frame", map[string]any{"op": "step"}},
		{"first frame", map[string]any{"op": "error", "error": 3}},
		{"peer: TypeError: a line", map[string]any{"op": "error", "error": map[string]any{"kind": "failed", "message": "TypeError: a line"}}},
		{"protocol is missing", map[string]any{"protocol": nil}},
		{"versions 2 to 3", map[string]any{"protocol": []int{2, 3}}},
		{"protocol is [1]", map[string]any{"protocol": []int{1}}},
		{"protocol is", map[string]any{"protocol": "1"}},
		{"mode is", map[string]any{"mode": "asleep"}},
		{"n is 0", map[string]any{"n": 0}},
		{"n is 0", map[string]any{"n": nil}},
		{"n is -3", map[string]any{"n": -3}},
		{"n is", map[string]any{"n": 2.5}},
		{"more than a body", map[string]any{"n": 1 << 39}},
		{"dtype is", map[string]any{"dtype": "BF16"}},
		{"dtype is", map[string]any{"dtype": "I64"}},
		{"has", map[string]any{"has": nil}},
		{"has", map[string]any{"has": "grad"}},
		{"0 weights of 3", map[string]any{"blocks": nil}},
		{"2 weights of 3", map[string]any{"blocks": block(2)}},
		{"0 weights of 3", map[string]any{"blocks": block(1<<40, 1<<40, 0)}},
		{"more than the 3", map[string]any{"blocks": block(4)}},
		{"more than the 3", map[string]any{"blocks": block(1<<32, 1<<32)}},
		{"below 0", map[string]any{"blocks": block(-1, -3)}},
		{"two blocks", map[string]any{"blocks": append(block(1), block(2)...)}},
		{"rows is -1", map[string]any{"rows": -1}},
		{"the batches have 2 rows of 3", map[string]any{"batches": []int{1, 1}}},
		{"the batches have more than the 3 rows", map[string]any{"batches": []int{2, 2}}},
		{"one has none", map[string]any{"batches": []int{3, 0}}},
		{"name is", map[string]any{"name": 3}},
		{"map is", map[string]any{"map": "yes"}},
		{"findings is", map[string]any{"findings": 3}},
		{"peer: compiled (net): use _orig_mod", map[string]any{"name": nil, "findings": []any{map[string]any{"what": "compiled", "where": "net", "remedy": "use _orig_mod", "fatal": true}}}},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, err := greeted(t, &fake{n: 3, keys: c.keys}, Options{Answer: 10 * time.Second})
			told(t, err, c.want)
		})
	}
}

func TestRefusals(t *testing.T) {
	f := &fake{n: 3, refuse: map[string]string{"hv": "unsupported", "gnv": "memory"}, keys: map[string]any{"has": []string{"grad", "hv", "gnv"}}}
	c, err := greeted(t, f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 3)
	if err := c.DiagonalTo(x); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if err := c.HessianTo(x, x); !errors.Is(err, ErrUnsupported) || err.Error() != `quadratic: hv: not supported: too\nmuch` {
		t.Error(err)
	}
	if err := c.At(x, nil); err != nil {
		t.Error(err)
	}
	bad := c.GaussNewtonTo(x, x)
	if bad == nil || bad.Error() != `quadratic: no memory for gnv: too\nmuch` {
		t.Error(bad)
	}
	if err := c.At(x, nil); err != bad {
		t.Error(err)
	}
	if err := c.Set(x); err != nil || f.set == nil {
		t.Error("a peer that failed does not get its weights:", err)
	}
}
