package papers

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/trainer"
)

// made is a run with given test accuracies, epoch by epoch from the start, of a second each.
func made(accuracies ...float64) *outcome {
	o := &outcome{trainRows: bplsRows, testRows: 100_000}
	for i, a := range accuracies {
		o.points = append(o.points, point{epoch: i, elapsed: float64(i), wrong: 1 - a, testErr: 1 - a})
	}
	return o
}

func TestWithin(t *testing.T) {
	o := made(0.1, 0.5, 0.4, 0.8)
	for seconds, want := range map[float64]float64{0: 0.1, 0.9: 0.1, 1: 0.5, 2.5: 0.5, 3: 0.8, 99: 0.8} {
		if train, test := within(o, seconds); math.Abs(test-want) > 1e-15 || test != train {
			t.Errorf("in %v s %v and %v, want %v", seconds, train, test, want)
		}
	}
	if v := timeTo(o, 0.5); v != 1 {
		t.Errorf("%v s to 0.5", v)
	}
	if v := timeTo(o, 0.9); !math.IsNaN(v) {
		t.Errorf("%v s to 0.9", v)
	}
	if v := epochTime(o); v != 1 {
		t.Errorf("%v s an epoch", v)
	}
}

// imagined is a study of two columns.
func imagined(bpls, adam []*outcome) *bplsStudy {
	s := &bplsStudy{bplsSet: bplsSets[0], runs: map[string][]*outcome{"BPLS": bpls, "Adam": adam}, factor: 10}
	s.columns = append(s.columns, bplsColumns[0], bplsColumns[2])
	return s
}

func TestBPLSStatements(t *testing.T) {
	quick := func(seconds float64, accuracies ...float64) *outcome {
		o := made(accuracies...)
		for i := range o.points {
			o.points[i].elapsed *= seconds
		}
		return o
	}
	good := []*outcome{made(0.1, 0.8, 0.91), made(0.1, 0.8, 0.912), made(0.1, 0.8, 0.914)}
	bad := []*outcome{made(0.1, 0.3, 0.4), made(0.1, 0.31, 0.41), made(0.1, 0.3, 0.42)}
	slow := []*outcome{quick(5000, 0.1, 0.92), quick(5001, 0.1, 0.92), quick(5002, 0.1, 0.92)}
	for _, all := range [][]*outcome{good, bad, slow} { // equal times of three trials decide nothing
		for k, o := range all {
			for i := range o.points {
				o.points[i].elapsed *= 1 + 0.0001*float64(k)
			}
		}
	}
	for _, test := range []struct {
		name       string
		bpls, adam []*outcome
		want       []Verdict // paper's, matches, 1,000 times an epoch, 1,000 times to the accuracy, epochs, of which three are equal
	}{
		{"good and fast", good, slow, []Verdict{Holds, Holds, Holds, Holds, Open}},
		{"good", good, bad, []Verdict{Holds, Holds, Fails, Open, Open}},
		{"bad", bad, good, []Verdict{Fails, Fails, Fails, Fails, Open}},
	} {
		got := bplsStatements([]*bplsStudy{imagined(test.bpls, test.adam)})
		if len(got) != len(test.want) {
			t.Fatalf("%s: %d statements", test.name, len(got))
		}
		for i, want := range test.want {
			if got[i].Holds != want || got[i].Found == "" {
				t.Errorf("%s: %+v, want %d", test.name, got[i], want)
			}
		}
	}
}

// Fewer images than the paper's decide nothing.
func TestSubsetsDecideNothing(t *testing.T) {
	good := []*outcome{made(0.1, 0.8, 0.91), made(0.1, 0.8, 0.912), made(0.1, 0.8, 0.914)}
	good[0].trainRows = 8000
	for _, s := range bplsStatements([]*bplsStudy{imagined(good, good)}) {
		if s.Holds != Open {
			t.Errorf("%+v", s)
		}
	}
}

func TestPaired(t *testing.T) {
	for _, test := range []struct {
		own, other []float64
		want       Verdict
	}{
		{[]float64{0.9, 0.91, 0.92}, []float64{0.8, 0.811, 0.82}, Holds},
		{[]float64{0.9, 0.91, 0.92}, []float64{0.8, 0.811}, Holds}, // the seeds that both have
		{[]float64{0.9, 0.91, 0.92}, []float64{0.95, 0.961, 0.97}, Fails},
		{[]float64{0.9, 0.91, 0.92}, []float64{0.9, 0.91, 0.921}, Open},
		{[]float64{0.9}, []float64{0.8}, Open},
		{nil, []float64{0.8}, Open},
	} {
		if got := paired(test.own, test.other, 0, 10_000); got != test.want {
			t.Errorf("%v beside %v: %d, want %d", test.own, test.other, got, test.want)
		}
	}
}

// Runs that end early keep what they ended with, and a row in which none goes on is empty.
func TestAccuracyOverEpochs(t *testing.T) {
	s := imagined([]*outcome{made(0.1, 0.5, 0.7), made(0.1, 0.4)}, []*outcome{made(0.1, 0.2, 0.3, 0.6)})
	s.columns[1].epochs = 3
	table := s.overEpochs("figure 7b", "test", func(p *point) float64 { return 1 - p.testErr })
	want := [][]float64{{0.45, 0.2}, {0.55, 0.3}, {math.NaN(), 0.6}, {1.5, 3}}
	for i, row := range table.Rows {
		for j, c := range row.Cells {
			if !(math.Abs(c.Value-want[i][j]) < 1e-12 || math.IsNaN(c.Value) && math.IsNaN(want[i][j])) {
				t.Errorf("%s, %s: %v, want %v", row.Name, table.Columns[j], c.Value, want[i][j])
			}
		}
	}
	if c := s.timeCell(&s.columns[0], 0.6); c.Bound != AtLeast || c.Value != 1.5 || c.Note != "1 of 2 reached it" {
		t.Errorf("%+v", c)
	}
	if len(table.Rows) != 4 {
		t.Errorf("%d rows", len(table.Rows))
	}
}

// The linear column is the linear model of plain least squares: on the spirals it is wrong on the same share of the
// rows as what gonum's QR factorization solves for.
func TestLinearColumnIsLeastSquares(t *testing.T) {
	r, err := BPLS(t.Context(), Options{Data: "spirals", Trials: 1, Quick: true, Threads: 1, Only: []string{"linear"}})
	if err != nil {
		t.Fatal(err)
	}
	config := trainer.Config{Data: "spirals"}
	p, err := trainer.Prepare(&config)
	if err != nil {
		t.Fatal(err)
	}
	affine := func(x *mat.Dense) *mat.Dense {
		rows, columns := x.Dims()
		ones := mat.NewDense(rows, 1, nil)
		ones.Apply(func(int, int, float64) float64 { return 1 }, ones)
		a := mat.NewDense(rows, columns+1, nil)
		a.Augment(x, ones)
		return a
	}
	var w, y mat.Dense
	if err := w.Solve(affine(p.Train.Inputs), p.Train.Targets); err != nil {
		t.Fatal(err)
	}
	y.Mul(affine(p.Test.Inputs), &w)
	right := 0
	for i, label := range p.Test.Labels {
		if floats.MaxIdx(y.RawRowView(i)) == label {
			right++
		}
	}
	want := float64(right) / float64(p.Test.Rows())
	for _, table := range r.Tables {
		if !strings.Contains(table.Title, "least squares alone") {
			continue
		}
		for j, name := range table.Columns {
			if got := table.Rows[1].Cells[j].Value; name == "linear" && math.Abs(got-want) > 1e-12 {
				t.Errorf("accuracy %v in the test, least squares %v", got, want)
			}
		}
		return
	}
	t.Errorf("no such table")
}

// A whole report on a small set of classes that is not the paper's.
func TestBPLSReport(t *testing.T) {
	r, err := BPLS(t.Context(), Options{Data: "parity", Trials: 2, Quick: true, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tables) != 8 || !strings.Contains(r.Data, "train on") {
		t.Errorf("%d tables of %s", len(r.Tables), r.Data)
	}
	for _, table := range r.Tables {
		for _, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) {
				t.Errorf("%s: %s has %d cells of %d", table.Title, row.Name, len(row.Cells), len(table.Columns))
			}
		}
	}
}

func TestBPLSRefuses(t *testing.T) {
	for _, o := range []Options{{Only: []string{"Newton"}}, {Data: "sine"}} {
		var wrong *trainer.ConfigError
		if _, err := BPLS(t.Context(), o); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := BPLS(ctx, Options{Data: "parity", Trials: 1}); r == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", r, err)
	}
}

// A part of the images is split as [T] splits the whole, and without any files there are digits.
func TestImagesThatAreThere(t *testing.T) {
	if testing.Short() {
		t.Skip("renders 10,000 digits")
	}
	sets, err := chosenSets(Options{DataDir: t.TempDir()})
	if err != nil || len(sets) != 1 || sets[0].name != "digits" || sets[0].rows != 8000 {
		t.Errorf("%+v, %v", sets, err)
	}
	dir := filepath.Join("..", "..", "..", "shared", "data")
	if _, err := os.Stat(filepath.Join(dir, "t10k-images-idx3-ubyte.gz")); err != nil {
		t.Skip("no ../shared/data with images")
	}
	sets, err = chosenSets(Options{DataDir: dir})
	if err != nil || len(sets) != 2 || sets[0].name != "mnist" || sets[1].config.Test != "0.2" {
		t.Errorf("%+v, %v", sets, err)
	}
}
