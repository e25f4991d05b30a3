package bench

import (
	"cmp"
	"context"
	_ "embed" // for tablesScript
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"newtop/trainer/event"
)

// The names of newtop's own rows, and of the last that tables.py writes.
const (
	newtop   = "newtop"
	lastPeer = "tuned XGBoost"
)

// tablesScript makes the tables and has the peers learn from them.
//
//go:embed tables.py
var tablesScript string

// testShare is the share of a table's rows that each split tests on, as tables.py draws them, and mostWork bounds the
// gradients over all rows of a small table.
const (
	testShare = 0.25
	mostWork  = 15000
)

// TableOptions say what to compare.
type TableOptions struct {
	Python  string       // that has scikit-learn, pandas and XGBoost; empty: the first of python3 and /usr/bin/python3 that has
	Newtop  string       // the program
	Seeds   int          // splits of each table, 1 at least
	Work    float64      // of newtop tune: gradients of single rows, table's rows × gradients over them
	Only    []string     // names of tables; nil: all
	Journal string       // a file that keeps the scores, of which none is measured again; empty: none
	Live    func(string) // is told of each score as it comes
}

// Tables are newtop tune and its peers on the same rows.
type Tables struct {
	Machine Machine       `json:"machine"`
	Peers   string        `json:"peers"` // their versions
	Work    float64       `json:"work"`
	Tables  []TableResult `json:"tables"`
}

// TableResult is what methods make of a table.
type TableResult struct {
	Name    string        `json:"name"`
	Rows    int           `json:"rows"`
	Columns int           `json:"columns"`
	Classes int           `json:"classes"` // 0 for regression
	Methods []TableMethod `json:"methods"`
}

// TableMethod is a method's error on the test rows of each split, as a fraction, or its RMSE.
type TableMethod struct {
	Name   string    `json:"name"`
	Scores []float64 `json:"scores"`
	Mean   float64   `json:"mean"`
	// Less is the mean of newtop's scores less this method's, split by split, Spread its standard error, and Differs whether
	// Student's t is beyond the two-sided 5 % bound. Splits share rows, so the variance of the mean of n differences is not
	// a part of 1/n of theirs but of 1/n + test rows/training rows (Nadeau & Bengio 2003, Inference for the generalization
	// error, eq. 12).
	Less    event.Float `json:"newtop_less"`
	Spread  event.Float `json:"standard_error"`
	Differs bool        `json:"differs"`
}

// tableScore is a line of the journal.
type tableScore struct {
	Table   string  `json:"table"`
	Seed    int     `json:"seed"`
	Method  string  `json:"method"`
	Score   float64 `json:"score"`
	Seconds float64 `json:"seconds"`
	Work    float64 `json:"work,omitempty"` // of newtop
}

// Of returns a method's figures, nil where it did not run.
func (t *TableResult) Of(name string) *TableMethod {
	if i := slices.IndexFunc(t.Methods, func(m TableMethod) bool { return m.Name == name }); i >= 0 {
		return &t.Methods[i]
	}
	return nil
}

// MeasureTables splits each table by each seed, has the peers and newtop tune learn from the same rows, and holds them to
// the same others. It returns the context's error if that ends first.
func MeasureTables(ctx context.Context, o TableOptions) (*Tables, error) {
	python, err := pythonWith(ctx, o.Python, "sklearn", "pandas", "xgboost")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "newtop-tables-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := tableWork{o: &o, dir: dir, script: filepath.Join(dir, "tables.py"), python: python, done: make(map[string][]*tableScore)}
	if err := os.WriteFile(w.script, []byte(tablesScript), 0o600); err != nil {
		return nil, err
	}
	err = readJournal(o.Journal, func(s *tableScore) {
		if s.Method != newtop || s.Work == o.Work {
			w.add(s)
		}
	})
	if err != nil {
		return nil, err
	}
	out := &Tables{Machine: Here(0), Work: o.Work}
	if err := w.run(ctx, []string{"versions"}, func(text []byte) error { out.Peers = string(text); return nil }); err != nil {
		return nil, err
	}
	if out.Tables, err = w.list(ctx); err != nil {
		return nil, err
	}
	for seed := range o.Seeds {
		for i := range out.Tables {
			if err := w.measure(ctx, &out.Tables[i], seed+1); err != nil {
				return nil, fmt.Errorf("%s: %w", splitName(out.Tables[i].Name, seed+1), err)
			}
		}
	}
	for i := range out.Tables {
		out.Tables[i].compare()
	}
	return out, nil
}

func splitName(table string, seed int) string { return fmt.Sprintf("%s, seed %d", table, seed) }

// tableWork is the comparison under way.
type tableWork struct {
	o                   *TableOptions
	dir, script, python string
	done                map[string][]*tableScore // by split
}

// add notes a score in the place of an earlier one.
func (w *tableWork) add(s *tableScore) {
	split := splitName(s.Table, s.Seed)
	w.done[split] = append(slices.DeleteFunc(w.done[split], func(of *tableScore) bool { return of.Method == s.Method }), s)
}

// run runs the script and decodes each line that it prints.
func (w *tableWork) run(ctx context.Context, args []string, line func(text []byte) error) (err error) {
	_, failed := runProgram(ctx, w.python, append([]string{w.script}, args...), func(text string) {
		if err == nil {
			err = line([]byte(text))
		}
	})
	if failed != nil {
		return failed
	}
	return err
}

// list returns the tables that were asked for.
func (w *tableWork) list(ctx context.Context) (list []TableResult, err error) {
	var names []string
	err = w.run(ctx, []string{"list"}, func(text []byte) error {
		var t TableResult
		err := json.Unmarshal(text, &t)
		names = append(names, t.Name)
		if w.o.Only == nil || slices.Contains(w.o.Only, t.Name) {
			list = append(list, t)
		}
		return err
	})
	for _, name := range w.o.Only {
		if err == nil && !slices.Contains(names, name) {
			err = fmt.Errorf("no table %q: expected some of %s", name, strings.Join(names, ", "))
		}
	}
	return list, err
}

// measure has all methods learn from one split of a table.
func (w *tableWork) measure(ctx context.Context, t *TableResult, seed int) error {
	split := splitName(t.Name, seed)
	note := func(s *tableScore) error {
		s.Table, s.Seed = t.Name, seed
		w.add(s)
		w.o.Live(fmt.Sprintf("%s: %s %.4g in %.3g s", split, s.Method, s.Score, s.Seconds))
		return keepInJournal(w.o.Journal, s)
	}
	has := func(method string) bool {
		return slices.ContainsFunc(w.done[split], func(s *tableScore) bool { return s.Method == method })
	}
	arguments := []string{t.Name, strconv.Itoa(seed), w.dir}
	if !has(lastPeer) {
		err := w.run(ctx, append([]string{"peers"}, arguments...), func(text []byte) error {
			var s tableScore
			if err := json.Unmarshal(text, &s); err != nil {
				return err
			}
			return note(&s)
		})
		if err != nil {
			return err
		}
	}
	if !has(newtop) {
		err := w.run(ctx, append([]string{"make"}, arguments...), func([]byte) error { return nil })
		if err != nil {
			return err
		}
		began := time.Now()
		score, err := w.tune(ctx, t, seed)
		if err == nil {
			err = note(&tableScore{Method: newtop, Score: score, Seconds: time.Since(began).Seconds(), Work: w.o.Work})
		}
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(w.done[split], func(a, b *tableScore) int { // the peers first
		return cmp.Compare(strings.Count(a.Method, newtop), strings.Count(b.Method, newtop))
	})
	for _, s := range w.done[split] {
		m := t.Of(s.Method)
		if m == nil {
			t.Methods = append(t.Methods, TableMethod{Name: s.Method})
			m = &t.Methods[len(t.Methods)-1]
		}
		m.Scores = append(m.Scores, s.Score)
	}
	return nil
}

// tune returns what newtop's best setting has on the test rows.
func (w *tableWork) tune(ctx context.Context, t *TableResult, seed int) (float64, error) {
	args := []string{"tune", "--data", filepath.Join(w.dir, "train.csv"), "--test", filepath.Join(w.dir, "test.csv"), "--target", "target",
		"--budget", "0", "--most", fmt.Sprintf("%.6g", min(mostWork, w.o.Work/float64(t.Rows))), "--parallel", "1",
		"--seed", strconv.Itoa(seed), "--format", "jsonl", "--record", filepath.Join(w.dir, "runs.db")}
	last := ""
	if _, err := runProgram(ctx, w.o.Newtop, args, func(text string) { last = text }); err != nil {
		return math.NaN(), err
	}
	var board struct{ Best []struct{ Test event.Float } }
	if err := json.Unmarshal([]byte(last), &board); err != nil || len(board.Best) == 0 || !board.Best[0].Test.Finite() {
		return math.NaN(), fmt.Errorf("newtop tune told no test figure: %.200s", last)
	}
	return float64(board.Best[0].Test), nil
}

// compare fills in the means, and how far newtop's is below each.
func (t *TableResult) compare() {
	own := t.Of(newtop)
	for i := range t.Methods {
		m := &t.Methods[i]
		m.Mean = stat.Mean(m.Scores, nil)
		differences := make([]float64, len(m.Scores))
		for k, v := range m.Scores {
			differences[k] = own.Scores[k] - v
		}
		mean, deviation := stat.MeanStdDev(differences, nil)
		n := float64(len(differences))
		spread := deviation * math.Sqrt(1/n+testShare/(1-testShare))
		m.Less, m.Spread = event.Float(mean), event.Float(spread)
		m.Differs = n > 1 && math.Abs(mean) > spread*distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
	}
}

// BestPeer returns the one with the least mean.
func (t *TableResult) BestPeer() (best *TableMethod) {
	for i := range t.Methods {
		if m := &t.Methods[i]; m.Name != newtop && (best == nil || m.Mean < best.Mean) {
			best = m
		}
	}
	return best
}
