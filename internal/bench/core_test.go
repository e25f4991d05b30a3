package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
	"time"

	"newtop/models"
)

// small measures everything on a small problem.
func small(t *testing.T, o Options) *Core {
	t.Helper()
	o.Budget, o.Rows = time.Millisecond, 400
	c, err := MeasureCore(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCoreMeasuresEverything(t *testing.T) {
	var parts []string
	c := small(t, Options{Threads: 2, Progress: func(what string) { parts = append(parts, what) }})
	if len(parts) != 6 {
		t.Errorf("told of %q", parts)
	}
	m := c.Machine
	if m.Threads != 2 || m.Kernel == "" || m.Cores < 1 || !positive(m.PeakGFLOPS, m.PeakAllGFLOPS, c.Seconds) {
		t.Errorf("the machine is %+v", m)
	}
	if len(c.Products) != len(letterShapes)+2 || len(c.Functions) < 11 {
		t.Errorf("%d products, %d functions", len(c.Products), len(c.Functions))
	}
	for _, p := range c.Products {
		if !positive(p.GFLOPS, p.PeakShare) || p.BestGFLOPS < p.GFLOPS {
			t.Errorf("product %+v", p)
		}
	}
	for _, f := range c.Functions {
		if !positive(f.BestNS) || f.MedianNS < f.BestNS {
			t.Errorf("function %+v", f)
		}
	}
	for _, e := range c.Epochs {
		if !positive(e.BestMS, e.RowsPerSecond, e.GFLOPS) || e.Rows != 400 {
			t.Errorf("epoch %+v", e)
		}
	}
	checkLetter(t, c.Letter)
	checkScaling(t, c.Scaling, []int{50, 100, 200, 400, 800, 1600})
}

func checkLetter(t *testing.T, list []Letter) {
	t.Helper()
	if len(list) != 4 {
		t.Fatalf("%d tables", len(list))
	}
	for i, l := range list {
		if want := (Letter{Threads: 2 - i%2, Kept: i < 2, Rows: 400, Weights: 6066, Passes: l.Passes}); !reflect.DeepEqual(l, want) {
			t.Errorf("table %d is %+v", i, l)
		}
		for _, p := range l.Passes {
			if !positive(p.BestMS, p.GFLOPS, p.Gradients) || p.MedianMS < p.BestMS {
				t.Errorf("pass %+v", p)
			}
			if alone := l.Passes[1]; alone.Name != passAlone {
				t.Errorf("the second pass is %s", alone.Name)
			}
			if p.Name == passGradient && p.Gradients != 1 {
				t.Errorf("a gradient is %g gradients", p.Gradients)
			}
			if bounded := wantedGradients[p.Name] > 0 && i == 0; bounded != (p.Goal != nil) {
				t.Errorf("goal of %+v in table %d", p, i)
			}
		}
	}
}

func checkScaling(t *testing.T, list []Scaling, rows []int) {
	t.Helper()
	if len(list) != 4 {
		t.Fatalf("%d fits", len(list))
	}
	for _, s := range list {
		for i, p := range s.Points {
			if s.With == withRows && p.Size != rows[i] || i > 0 && p.Size <= s.Points[i-1].Size || !positive(p.BestMS) {
				t.Errorf("%s with %s: point %+v", s.Pass, s.With, p)
			}
		}
		if len(s.Points) != len(rows) || s.Goal == nil || s.Goal.Holds != (s.Exponent <= wantedExponent) {
			t.Errorf("%s with %s: %d points, goal %+v of %g", s.Pass, s.With, len(s.Points), s.Goal, s.Exponent)
		}
	}
}

// TestCoreJSON reads what it writes, and wants every key to be plain.
func TestCoreJSON(t *testing.T) {
	c := small(t, Options{Threads: 1, Quick: true})
	if len(c.Letter) != 2 || !c.Letter[0].Kept || c.Letter[1].Kept || len(c.Scaling[0].Points) != 4 {
		t.Errorf("one thread, quickly: %+v", c)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var again Core
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c, &again) {
		t.Errorf("wrote %+v\nread %+v", c, &again)
	}
	for _, key := range regexp.MustCompile(`"([^"]*)":`).FindAllStringSubmatch(string(text), -1) {
		if !regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(key[1]) {
			t.Errorf("key %q", key[1])
		}
	}
}

// TestRecomputedPassesCost holds the count of multiplications that a product does for passes that are not kept
// against those of the layers: 16-70-50-26 forward, and backward through all but the first.
func TestRecomputedPassesCost(t *testing.T) {
	cost := newProblem(1, 1).net.Cost()
	const want = (16*70 + 70*50 + 50*26) + (70*50 + 50*26)
	if anew := cost.Gradient - cost.Loss; anew != want {
		t.Errorf("%g multiplications: expected %d", anew, want)
	}
}

// TestGradientsKeepWhatIsAskedOfThem: in every round but the first, which warms up, the passes are kept of the
// gradient that products follow, and not of the one that stands alone.
func TestGradientsKeepWhatIsAskedOfThem(t *testing.T) {
	p := newProblem(1, 200)
	l, alone := p.bind(200, models.Options{}), p.bind(200, models.Options{})
	for round := range 3 {
		for _, f := range p.passes(l, alone) {
			f.call()
			if round > 0 && !l.Current() || f.name == passAlone && alone.Current() {
				t.Errorf("round %d, after %s: kept %v, alone %v", round, f.name, l.Current(), alone.Current())
			}
		}
	}
}

func TestProblemIsTheSameEveryTime(t *testing.T) {
	a, b := newProblem(0.5, 300), newProblem(0.5, 300)
	la, lb := a.bind(300, models.Options{}), b.bind(300, models.Options{Memory: nothing})
	if la.Loss() != lb.Loss() || a.net.Inputs() != 8 || a.net.Outputs() != 13 {
		t.Errorf("losses %g and %g of %d-…-%d", la.Loss(), lb.Loss(), a.net.Inputs(), a.net.Outputs())
	}
	if la.RetainedRows() != 300 || lb.RetainedRows() != 0 {
		t.Errorf("kept %d and %d rows of 300", la.RetainedRows(), lb.RetainedRows())
	}
}

func TestCPUModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpuinfo")
	if err := os.WriteFile(path, []byte("processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: A Chip: 3 GHz\n\nmodel\t\t: 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := cpuModel(path); got != "A Chip: 3 GHz (family 25, model 17)" {
		t.Errorf("read %q", got)
	}
	if got := cpuModel(path + ".none"); got != "" {
		t.Errorf("read %q from no file", got)
	}
}
