package bench

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On three splits newtop is 0.02 better than a, give or take 0.01 between splits, of which the mean's standard error has
// a third and another for the rows that splits share; always 0.1 better than b, and no different from itself.
func TestTablesCompare(t *testing.T) {
	r := TableResult{Methods: []TableMethod{
		{Name: "a", Scores: []float64{0.12, 0.23, 0.31}},
		{Name: "b", Scores: []float64{0.2, 0.3, 0.4}},
		{Name: "newtop", Scores: []float64{0.1, 0.2, 0.3}},
	}}
	r.compare()
	for i, want := range []struct {
		mean, less, spread float64
		differs            bool
	}{{0.22, -0.02, 0.01 * math.Sqrt(2./3), false}, {0.3, -0.1, 0, true}, {0.2, 0, 0, false}} {
		m := r.Methods[i]
		for _, c := range [][2]float64{{m.Mean, want.mean}, {float64(m.Less), want.less}, {float64(m.Spread), want.spread}} {
			if math.Abs(c[0]-c[1]) > 1e-12 || m.Differs != want.differs {
				t.Errorf("%s: %+v, expected %+v", m.Name, m, want)
			}
		}
	}
	if best := r.BestPeer(); best.Name != "a" || r.Of("d") != nil {
		t.Errorf("the best peer is %s", best.Name)
	}
}

// A journal that has the first split and half of the second one's peers: these run once more, newtop twice less.
func TestTablesGoOn(t *testing.T) {
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	program := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n[ \"$1\" = -c ] && exit\necho "+name+" $* >> "+calls+"\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := TableOptions{Seeds: 3, Work: 3e5, Only: []string{"iris"}, Journal: filepath.Join(dir, "journal"), Live: func(string) {}}
	o.Python = program("python", `case $2 in
versions) echo all of today;;
list) echo '{"name": "iris", "rows": 150, "columns": 4, "classes": 3}';;
peers) echo '{"method": "MLP", "score": 0.25}'; echo '{"method": "tuned XGBoost", "score": 0.5}';;
esac`)
	o.Newtop = program("newtop", `echo '{"best": [{"test": 0.125}]}'`)
	journal := `{"table":"iris","seed":1,"method":"MLP","score":0.75}
{"table":"iris","seed":1,"method":"tuned XGBoost","score":0.5}
{"table":"iris","seed":1,"method":"newtop","score":0.125,"work":3e5}
{"table":"iris","seed":2,"method":"newtop","score":0.25,"work":3e5}
{"table":"iris","seed":2,"method":"MLP","score":0.75}
{"table":"iris","seed":3,"method":"newtop","score":0.5,"work":3e6}
{"table":"iris","se`
	if err := os.WriteFile(o.Journal, []byte(journal+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := MeasureTables(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		methods := got.Tables[0].Methods
		if got.Peers != "all of today" || len(methods) != 3 || methods[0].Name != "MLP" || methods[0].Mean != 1.25/3 || methods[1].Mean != 0.5 ||
			methods[2].Mean != 0.5/3 {
			t.Errorf("came to %+v", got)
		}
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	list := string(text)
	if strings.Count(list, "tables.py peers iris 2 ") != 1 || strings.Count(list, "tables.py peers iris") != 2 ||
		strings.Count(list, "newtop tune") != 1 || !strings.Contains(list, " --budget 0 --most 2000 --parallel 1 --seed 3 ") {
		t.Errorf("ran\n%s", list)
	}
}
