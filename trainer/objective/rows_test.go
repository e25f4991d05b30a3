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
	parts  int    // blocks of rows that a method goes through
}

// problem is that of process rank of size.
func (s source) problem(t *testing.T, rank, size int) *Problem {
	t.Helper()
	load := func(keep datasets.Keep) (*datasets.Dataset, error) {
		data, err := datasets.Load(s.data, datasets.Options{Test: s.test, Validation: s.decide, Seed: 1, Keep: keep})
		if err == nil && s.signed {
			data.Encode(-1, 1)
		}
		return data, err
	}
	share := Share{Rank: rank, Size: size}
	data, err := load(share.Keep(max(1, s.parts)))
	if err != nil {
		t.Fatal(err)
	}
	network, err := models.NewNetwork(models.Chain(data.Inputs(), nil, data.Outputs(), models.Tanh, models.Identity, models.SquaredError, models.SkipNone))
	if err != nil {
		t.Fatal(err)
	}
	return NewProblem(data, network, models.Init{}, share, load)
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

// TestSelect: whatever rows a process is asked for are those of the whole, wherever its own are.
func TestSelect(t *testing.T) {
	sources := []source{{data: "sine", test: "0.3", decide: "0.4"}, {data: "spirals", signed: true, parts: 3, decide: "500"}, {data: tableFile(t, 900)}}
	selections := []Rows{
		{}, {Part: datasets.Test}, {First: 5}, {First: 4}, {First: 3, Part: datasets.Test}, {First: 1, Step: 3}, {Step: 2}, {First: 6, Step: 7, Part: datasets.Test},
		{Count: 40}, {Count: 123}, {Count: 17, Part: datasets.Test}, {First: 2, Step: 50},
		{Part: datasets.Validation}, {First: 3, Part: datasets.Validation}, {Count: 11, Part: datasets.Validation},
		{Folds: 4, Fold: 1}, {Folds: 4, Fold: 4}, {Folds: 2, Fold: 1, First: 3}, {Folds: 5, Fold: 3, First: 2, Step: 3}, {Folds: 3, Fold: 2, Count: 50},
	}
	for _, c := range sources {
		whole := c.problem(t, 0, 1)
		for size := 1; size <= 3; size++ {
			for rank := range size {
				for _, rows := range selections {
					if rows.Part == datasets.Validation && c.decide == "" {
						continue
					}
					p := c.problem(t, rank, size) // anew, so that nothing lies about
					if rows.First%2 == 1 {
						p.Room = 1000
					}
					name := fmt.Sprintf("%s, process %d of %d, %+v", c.data, rank, size, rows)
					checkSelect(t, name, whole, p, rows, rank, size)
				}
			}
		}
	}
}

func checkSelect(t *testing.T, name string, whole, p *Problem, rows Rows, rank, size int) {
	t.Helper()
	n := whole.Of(rows)
	if p.Of(rows) != n {
		t.Fatalf("%s: %d rows, expected %d", name, p.Of(rows), n)
	}
	own, end := reduce.NewTree(n).Rows(rank, size)
	for _, r := range [][2]int{{own, end}, {0, n}, {n / 3, n/3 + 1}, {n - 1, n}, {own, end}, {n, n}} {
		x, y, err := p.Select(rows, r[0], r[1])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r[0] == r[1] {
			if x != nil || y != nil {
				t.Errorf("%s: no rows are %v", name, x)
			}
			continue
		}
		from := whole.Split(rows.Part)
		if !sameNumbers(x, picked(from.Inputs, rows, r[0], r[1])) || !sameNumbers(y, picked(from.Targets, rows, r[0], r[1])) {
			t.Errorf("%s: rows [%d, %d) are not those of the whole", name, r[0], r[1])
		}
	}
}

// TestPartsAreWhole: the leaves of all processes are all rows, blocks that are asked for from the start are views, and the
// network is the whole's.
func TestPartsAreWhole(t *testing.T) {
	c := source{data: "spirals", parts: 5}
	whole := c.problem(t, 0, 1)
	for _, size := range []int{2, 4} {
		next := [2]int{}
		for rank := range size {
			p := c.problem(t, rank, size)
			if p.NetworkDigest() != whole.NetworkDigest() {
				t.Errorf("process %d of %d has another network", rank, size)
			}
			if p.Train.Total() != whole.Train.Rows() || p.Test.Total() != whole.Test.Rows() {
				t.Errorf("process %d of %d: %d and %d rows", rank, size, p.Train.Total(), p.Test.Total())
			}
			first, last := reduce.NewTree(whole.Train.Rows()).Rows(rank, size)
			if p.Train.First != first || p.Train.Rows() != last-first || first != next[0] {
				t.Errorf("process %d of %d has rows from %d, %d of them; expected [%d, %d)", rank, size, p.Train.First, p.Train.Rows(), first, last)
			}
			next[0], next[1] = last, next[1]+p.Test.Rows()
			before := p.around[datasets.Train].Inputs
			for i := range 5 {
				part := Rows{}.part(i, 5)
				first, last := reduce.NewTree(p.Of(part)).Rows(rank, size)
				if x, _, err := p.Select(part, first, last); err != nil || p.around[datasets.Train].Inputs != before {
					t.Errorf("process %d of %d: block %d was read again: %v, %v", rank, size, i, x, err)
				}
			}
		}
		if next != [2]int{whole.Train.Rows(), whole.Test.Rows()} {
			t.Errorf("%d processes have %d rows", size, next)
		}
	}
}

// TestDataThatChange while a run goes on are seen when rows are read again.
func TestDataThatChange(t *testing.T) {
	file := tableFile(t, 900)
	p := source{data: file}.problem(t, 0, 3)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		string(text) + "1,red,2,oak\n1,red,2,oak\n":       "found 7",
		strings.ReplaceAll(string(text), "\n0.", "\n10."): "its inputs are scaled in another way",
	} {
		if err := os.WriteFile(file, []byte(change), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Select(Rows{}, 500, 600); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}
