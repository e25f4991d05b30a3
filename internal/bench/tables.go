package bench

import (
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

	"newtop/trainer/event"
)

const newtop = "newtop" // the source of its own rows

// tablesScript makes the tables and has scikit-learn's methods learn from them.
//
//go:embed tables.py
var tablesScript string

// TableOptions say what to compare.
type TableOptions struct {
	Python string        // that has scikit-learn and pandas; empty: the first of python3 and /usr/bin/python3 that has
	Newtop string        // the program
	Seeds  int           // splits of each table, 1 at least
	Budget time.Duration // of newtop tune
	Only   []string      // names of tables; nil: all
	Live   func(string)  // is told of each figure as it comes
}

// Tables are newtop tune and scikit-learn's methods on the same rows.
type Tables struct {
	Machine Machine       `json:"machine"`
	Budget  float64       `json:"budget"` // seconds
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
	// Behind is how far the mean is above the best method's, and Spread the standard error of the differences over the
	// splits.
	Behind event.Float `json:"behind"`
	Spread event.Float `json:"spread"`
}

// WithinOne reports whether the method is the best or no more than one standard error behind it.
func (m *TableMethod) WithinOne() bool {
	return m.Behind == 0 || float64(m.Behind) <= float64(m.Spread)
}

// Of returns a method's figures, nil where it did not run.
func (t *TableResult) Of(name string) *TableMethod {
	if i := slices.IndexFunc(t.Methods, func(m TableMethod) bool { return m.Name == name }); i >= 0 {
		return &t.Methods[i]
	}
	return nil
}

// MeasureTables splits each table by each seed, has scikit-learn's methods and newtop tune learn from the same rows, and
// holds them to the same others. It returns the context's error if that ends first.
func MeasureTables(ctx context.Context, o TableOptions) (*Tables, error) {
	python, err := pythonWith(ctx, o.Python, "sklearn", "pandas")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "newtop-tables-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := tableWork{o: &o, dir: dir, script: filepath.Join(dir, "tables.py"), python: python}
	if err := os.WriteFile(w.script, []byte(tablesScript), 0o600); err != nil {
		return nil, err
	}
	out := &Tables{Machine: Here(0), Budget: o.Budget.Seconds()}
	list, err := w.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		for seed := range o.Seeds {
			if err := w.measure(ctx, &t, seed+1); err != nil {
				return nil, fmt.Errorf("%s, seed %d: %w", t.Name, seed+1, err)
			}
		}
		t.compare()
		out.Tables = append(out.Tables, t)
	}
	return out, nil
}

// tableWork is the comparison under way.
type tableWork struct {
	o                   *TableOptions
	dir, script, python string
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
	err := w.run(ctx, []string{"make", t.Name, strconv.Itoa(seed), w.dir}, func([]byte) error { return nil })
	if err != nil {
		return err
	}
	err = w.run(ctx, []string{"peers", w.dir}, func(text []byte) error {
		var s struct {
			Method         string
			Score, Seconds float64
		}
		err := json.Unmarshal(text, &s)
		w.note(t, seed, s.Method, s.Score, s.Seconds)
		return err
	})
	if err != nil {
		return err
	}
	began := time.Now()
	score, err := w.tune(ctx, seed)
	w.note(t, seed, newtop, score, time.Since(began).Seconds())
	return err
}

// tune returns what newtop's best setting has on the test rows.
func (w *tableWork) tune(ctx context.Context, seed int) (float64, error) {
	args := []string{"tune", "--data", filepath.Join(w.dir, "train.csv"), "--test", filepath.Join(w.dir, "test.csv"), "--target", "target",
		"--budget", w.o.Budget.String(), "--seed", strconv.Itoa(seed), "--format", "jsonl", "--record", filepath.Join(w.dir, "runs.db")}
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

func (w *tableWork) note(t *TableResult, seed int, name string, score, seconds float64) {
	m := t.Of(name)
	if m == nil {
		t.Methods = append(t.Methods, TableMethod{Name: name})
		m = &t.Methods[len(t.Methods)-1]
	}
	m.Scores = append(m.Scores, score)
	w.o.Live(fmt.Sprintf("%s, seed %d: %s %.4g in %.3g s", t.Name, seed, name, score, seconds))
}

// compare fills in the means and how far each method is behind the best.
func (t *TableResult) compare() {
	for i := range t.Methods {
		t.Methods[i].Mean = stat.Mean(t.Methods[i].Scores, nil)
	}
	best := slices.MinFunc(t.Methods, func(a, b TableMethod) int {
		if a.Mean < b.Mean {
			return -1
		}
		return 1
	})
	for i := range t.Methods {
		m := &t.Methods[i]
		differences := make([]float64, len(m.Scores))
		for k, v := range m.Scores {
			differences[k] = v - best.Scores[k]
		}
		m.Behind = event.Float(m.Mean - best.Mean)
		m.Spread = event.Float(stat.StdErr(stat.StdDev(differences, nil), float64(len(differences))))
	}
}

// Text writes the mean and its standard error, of fractions in per cent.
func (m *TableMethod) Text(share bool) string {
	mean, spread := m.Mean, stat.StdErr(stat.StdDev(m.Scores, nil), float64(len(m.Scores)))
	if share {
		mean, spread = 100*mean, 100*spread
	}
	if math.IsNaN(spread) {
		return fmt.Sprintf("%.4g", mean)
	}
	digits := 1
	if spread < 0.1 {
		digits = 3
	} else if spread < 1 {
		digits = 2
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, mean, digits, spread)
}
