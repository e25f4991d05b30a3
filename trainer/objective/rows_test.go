package objective

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/models/reduce"
)

// tableFile writes a CSV file of so many rows with numbers, words and classes.
func tableFile(t *testing.T, rows int) string {
	t.Helper()
	t.Setenv("NEWTOP_STATE_DIR", t.TempDir())
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("height,colour,weight,kind\n")
	for range rows {
		fmt.Fprintf(&text, "%.6f,%s,%.3f,%s\n", r.NormFloat64(), []string{"red", "green", "blue"}[r.IntN(3)],
			r.ExpFloat64(), []string{"oak", "ash", "elm", "yew"}[r.IntN(4)])
	}
	file := filepath.Join(t.TempDir(), "trees.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// source is data that problems of several processes are made of.
type source struct {
	data   string
	test   string
	decide string // rows to decide by
	signed bool   // classes coded as −1 and 1
}

// problem returns the source's problem.
func (s source) problem(t *testing.T) *Problem {
	t.Helper()
	data, err := datasets.Load(s.data, datasets.Options{Test: s.test, Validation: s.decide, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if s.signed {
		data.Encode(-1, 1)
	}
	network, err := models.NewNetwork(models.Chain(data.Inputs(), nil, data.Outputs(), models.Tanh, models.Identity, models.SquaredError, models.SkipNone))
	if err != nil {
		t.Fatal(err)
	}
	return NewProblem(data, network, models.Init{})
}

// picked is what Select should return: row after row of the whole, or of what folds leave of it.
func picked(m *mat.Dense, rows Rows, first, last int) *mat.Dense {
	total, columns := m.Dims()
	if rows.Folds > 0 {
		left := mat.NewDense(total, columns, nil)
		n := 0
		for i := range total {
			if i%rows.Folds != rows.Fold-1 {
				left.SetRow(n, m.RawRowView(i))
				n++
			}
		}
		rows.Folds = 0
		return picked(left.Slice(0, n, 0, columns).(*mat.Dense), rows, first, last)
	}
	out := mat.NewDense(last-first, columns, nil)
	for j := first; j < last; j++ {
		i := rows.First + j*max(1, rows.Step)
		if rows.Count > 0 {
			i = j * total / rows.Count
		}
		out.SetRow(j-first, m.RawRowView(i))
	}
	return out
}

// sameNumbers compares bit by bit.
func sameNumbers(m models.Matrix, b *mat.Dense) bool {
	a := m.(*mat.Dense)
	rows, columns := a.Dims()
	if r, c := b.Dims(); r != rows || c != columns {
		return false
	}
	for i := range rows {
		for j := range columns {
			if math.Float64bits(a.At(i, j)) != math.Float64bits(b.At(i, j)) {
				return false
			}
		}
	}
	return true
}

// TestSelect: whatever rows are asked for are those of the whole.
func TestSelect(t *testing.T) {
	sources := []source{{data: "sine", test: "0.3", decide: "0.4"}, {data: "spirals", signed: true, decide: "500"}, {data: tableFile(t, 900)}}
	selections := []Rows{
		{}, {Part: datasets.Test}, {First: 5}, {First: 4}, {First: 3, Part: datasets.Test}, {First: 1, Step: 3}, {Step: 2}, {First: 6, Step: 7, Part: datasets.Test},
		{Count: 40}, {Count: 123}, {Count: 17, Part: datasets.Test}, {First: 2, Step: 50},
		{Part: datasets.Validation}, {First: 3, Part: datasets.Validation}, {Count: 11, Part: datasets.Validation},
		{Folds: 4, Fold: 1}, {Folds: 4, Fold: 4}, {Folds: 2, Fold: 1, First: 3}, {Folds: 5, Fold: 3, First: 2, Step: 3}, {Folds: 3, Fold: 2, Count: 50},
	}
	for _, c := range sources {
		p := c.problem(t)
		for _, rows := range selections {
			if rows.Part == datasets.Validation && c.decide == "" {
				continue
			}
			checkSelect(t, fmt.Sprintf("%s, %+v", c.data, rows), p, rows)
		}
	}
}

func checkSelect(t *testing.T, name string, p *Problem, rows Rows) {
	t.Helper()
	n := p.Of(rows)
	own, end := reduce.NewTree(n).Rows(1, 3)
	for _, r := range [][2]int{{own, end}, {0, n}, {n / 3, n/3 + 1}, {n - 1, n}, {n, n}} {
		x, y := p.Select(rows, r[0], r[1])
		if r[0] == r[1] {
			if x != nil || y != nil {
				t.Errorf("%s: no rows are %v", name, x)
			}
			continue
		}
		from := p.Split(rows.Part)
		if !sameNumbers(x, picked(from.Inputs, rows, r[0], r[1])) || !sameNumbers(y, picked(from.Targets, rows, r[0], r[1])) {
			t.Errorf("%s: rows [%d, %d) are not those of the whole", name, r[0], r[1])
		}
	}
}
