package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/reader"
	"newtop/datasets/csv/schema"
)

// kinds is a table with a column of every kind, with missing values in each, in rows of two years.
func kinds(rows int) string {
	rng := rand.New(rand.NewPCG(11, 12))
	var b strings.Builder
	b.WriteString("id,age,place,city,seen,paid,constant,price,kind\n")
	some := func(share float64, text string) string {
		if rng.Float64() < share {
			return []string{"", "?", "NA", "null"}[rng.IntN(4)]
		}
		return text
	}
	for i := range rows {
		place := []string{"north", "south", "east"}[rng.IntN(3)]
		if rng.Float64() < 0.02 {
			place = fmt.Sprintf("hut %d", rng.IntN(5))
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,%s,%s,1,%s,%s\n", i+1, some(0.2, fmt.Sprint(rng.IntN(90))), some(0.1, place),
			some(0.05, fmt.Sprintf("city %d", int(100*rng.Float64()))),
			some(0.1, fmt.Sprintf("%d/%d/2024 %02d:%02d", 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60))),
			some(0.1, []string{"Yes", "no"}[rng.IntN(2)]), some(0.03, fmt.Sprintf("%.3f", 10+rng.NormFloat64())), []string{"a", "b", "c"}[rng.IntN(3)])
	}
	return b.String()
}

// What is read whole and for predictions is the same to the bit, whatever columns become and stands in for missing values,
// and whichever rows decide.
func TestKindsOfColumns(t *testing.T) {
	text := kinds(1500)
	for _, missing := range []string{"", lex.MissingMean, lex.MissingMedian, lex.MissingDrop} {
		for _, o := range []Options{
			{Target: "price", Validation: "0.2"}, {Target: "kind", Folds: 4, Fold: 2}, {Target: "paid"}, {Target: "place", Validation: "100", Test: "0.3"},
		} {
			o.Seed, o.Columns.Missing = 5, missing
			t.Run(fmt.Sprintf("%s %s", missing, o.Target), func(t *testing.T) {
				t.Setenv("NEWTOP_CACHE", t.TempDir())
				path := write(t, t.TempDir(), "t.csv", []byte(text))
				d := mustLoad(t, path, o)
				checkReader(t, text, d)
				for _, f := range d.Table.Fields {
					want := map[string]string{"id": schema.LeftOut, "city": schema.Statistics, "seen": schema.Time, "paid": schema.Boolean, "constant": schema.LeftOut}[f.Name]
					if f.Kind != want {
						t.Errorf("%s is %q, expected %q", f.Name, f.Kind, want)
					}
				}
			})
		}
	}
}

// checkReader holds the rows that a Reader makes of a table to those that were loaded and not trained on, in whatever order.
func checkReader(t *testing.T, text string, d *Dataset) {
	t.Helper()
	r, err := reader.New(strings.NewReader(text), "t.csv", d.Table, false)
	if err != nil {
		t.Fatal(err)
	}
	there := make(map[string]bool)
	raw := make([]float64, r.Inputs())
	for {
		target, err := r.Read(raw)
		if err != nil {
			break
		}
		if target != "" {
			d.InputScaling.ValueTo(raw, raw)
			there[fmt.Sprint(raw, classOnly(d, target))] = true
		}
	}
	for _, s := range []*Split{&d.Validation, &d.Test} {
		for i := range s.Rows() {
			class := ""
			if d.Classes != nil {
				class = d.Classes[s.Labels[i]]
			}
			if !there[fmt.Sprint(s.Inputs.RawRowView(i), class)] {
				t.Fatalf("no row to predict is %v of class %q; %q", s.Inputs.RawRowView(i), class, r.Notes())
			}
		}
	}
}

// classOnly is a target that is a class.
func classOnly(d *Dataset, target string) string {
	if d.Classes == nil {
		return ""
	}
	return target
}

// rawRows are the rows of a part with their targets, as they were before scaling.
func rawRows(d *Dataset, s *Split) (rows [][]float64) {
	for i := range s.Rows() {
		row := raw(d, s, i)
		target := make([]float64, d.Outputs())
		d.TargetScaling.RawTo(target, s.Targets.RawRowView(i))
		rows = append(rows, append(row, target...))
	}
	return rows
}

// What stands in for missing values is the mean or the median of the training rows alone.
func TestMissingValues(t *testing.T) {
	text := "x,w,y\n"
	for i := range 40 {
		x, w := fmt.Sprint(i*i), "b"
		if i%4 == 1 {
			x = "NA"
		}
		if i%5 == 2 {
			w = ""
		} else if i%2 == 0 {
			w = "a"
		}
		text += fmt.Sprintf("%s,%s,%d.5\n", x, w, i)
	}
	path := write(t, t.TempDir(), "t.csv", []byte(text))
	for mode, names := range map[string][]string{
		"": {"x", "x missing", "w=a", "w=b", "w missing"}, "mean": {"x", "w=a", "w=b", "w missing"}, "median": {"x", "w=a", "w=b", "w missing"}, "drop": {"x", "w=a", "w=b"},
	} {
		d := mustLoad(t, path, Options{Seed: 4, Validation: "0.2", Columns: lex.Options{Missing: mode}})
		if !slices.Equal(d.InputNames, names) {
			t.Errorf("%s: inputs %q, expected %q", mode, d.InputNames, names)
		}
		place := slices.Index(d.InputNames, "x missing")
		// The training rows are known by their targets, and their numbers by these.
		var there []float64
		for _, row := range rawRows(d, &d.Train) {
			if i := int(math.Round(row[len(row)-1] - 0.5)); i%4 != 1 {
				there = append(there, float64(i*i))
			}
		}
		want := 0.0
		for _, v := range there {
			want += v / float64(len(there))
		}
		if mode == "median" {
			slices.Sort(there)
			want = (there[(len(there)-1)/2] + there[len(there)/2]) / 2
		}
		rows := 0
		for _, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
			rows += s.Rows()
			for _, row := range rawRows(d, s) {
				i := int(math.Round(row[len(row)-1] - 0.5))
				gap := i%4 == 1
				x := float64(i * i)
				if gap {
					x = want
				}
				if !scalar.EqualWithinAbsOrRel(row[0], x, 1e-9, 1e-9) || place >= 0 && (row[place] == 1) != gap {
					t.Errorf("%s: row %d is %v, expected %g", mode, i, row, x)
				}
				if no := row[len(names)-1] == 1; mode != "drop" && no != (i%5 == 2) {
					t.Errorf("%s: row %d is %v", mode, i, row)
				}
			}
		}
		if want := map[bool]int{true: 24, false: 40}[mode == "drop"]; rows != want {
			t.Errorf("%s: %d rows, expected %d", mode, rows, want)
		}
	}
}

// Rows without a target are left out, and it is told.
func TestMissingTargets(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range 60 {
		if i%3 == 0 {
			fmt.Fprintf(&text, "%d,\n", i*i)
		} else {
			fmt.Fprintf(&text, "%d,%g\n", i*i, float64(i)/8)
		}
	}
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	path := write(t, t.TempDir(), "t.csv", []byte(text.String()))
	d := mustLoad(t, path, Options{Seed: 2})
	if d.Train.Rows() != 32 || d.Test.Rows() != 8 || !slices.Contains(d.Notes, "20 rows without a target are left out") {
		t.Errorf("%d + %d rows, %q", d.Train.Rows(), d.Test.Rows(), d.Notes)
	}
	for _, s := range []*Split{&d.Train, &d.Test} {
		for _, row := range rawRows(d, s) {
			if math.Abs(row[0]-64*row[1]*row[1]) > 1e-6 {
				t.Errorf("row %v", row)
			}
		}
	}
}

// The rows of a file for testing are the test rows, and tell nothing of the columns.
func TestFileForTesting(t *testing.T) {
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	dir := t.TempDir()
	var train, test strings.Builder
	train.WriteString("x,w,y\n")
	test.WriteString("x,w,y\n")
	for i := range 50 {
		fmt.Fprintf(&train, "%d,%c,%g\n", i*i, 'a'+i%2, float64(i)/4)
		fmt.Fprintf(&test, "%s,%c,%g\n", []string{"?", "3"}[i%2], 'b'+i%2, float64(i))
	}
	path, testFiles := write(t, dir, "train.csv", []byte(train.String())), write(t, dir, "test.csv", []byte(test.String()))
	o := Options{Test: testFiles, Validation: "10"}
	d := mustLoad(t, path, o)
	if d.Train.Rows() != 40 || d.Validation.Rows() != 10 || d.Test.Rows() != 50 || !slices.Equal(d.InputNames, []string{"x", "w=a", "w=b"}) ||
		!strings.Contains(d.Title, "50 test rows of test.csv") {
		t.Fatalf("%d + %d + %d rows, %q, %s", d.Train.Rows(), d.Validation.Rows(), d.Test.Rows(), d.InputNames, d.Title)
	}
	for i, row := range rawRows(d, &d.Test) {
		x, b := d.InputScaling.Offset[0], 1-float64(i%2)
		if i%2 == 1 {
			x = 3
		}
		if math.Abs(row[0]-x) > 1e-9 || row[1] != 0 || row[2] != b || math.Abs(row[3]-float64(i)) > 1e-9 {
			t.Errorf("test row %d is %v", i, row)
		}
	}
	write(t, dir, "other.csv", []byte("x,v,y\n1,a,2\n"))
	for file, want := range map[string]string{"none.csv": `no file "none.csv"`, path: "another file", dir + "/other.csv": `found "v" for column 2, expected "w"`, "0": "from 1 to 49"} {
		if _, err := Load(path, Options{Test: file}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A number far outside the rest is suspected to stand for missing values, also where others are missing.
func TestSuspectedMarks(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 200 {
		a := fmt.Sprint(i % 37)
		if i%7 == 0 {
			a = []string{"-999", "?"}[i%2]
		}
		fmt.Fprintf(&text, "%s,%d,%d.5\n", a, i%31, i*i%11)
	}
	d := mustLoad(t, write(t, t.TempDir(), "t.csv", []byte(text.String())), Options{})
	want := `rows is far outside the rest, 0 … 36: if it stands for missing values, --table na.a=-999 takes it for that`
	if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, want) || !slices.Equal(d.Table.Fields[0].Range, []float64{-999, 36}) {
		t.Errorf("%s, %v", notes, d.Table.Fields[0].Range)
	}
}

// The statistics of a word in rows that are not trained on are those of all training rows, as a few lines of arithmetic have them; a
// training row's are of the other parts of five.
func TestTargetStatistics(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	var text strings.Builder
	text.WriteString("n,city,y\n")
	const rows = 3000
	city, y := make([]int, rows), make([]float64, rows)
	for i := range rows {
		city[i], y[i] = int(70*math.Sqrt(rng.Float64())), math.Round(100*rng.NormFloat64())/4
		fmt.Fprintf(&text, "%g,c%d,%g\n", float64(i)+0.5, city[i], y[i])
	}
	d := mustLoad(t, write(t, t.TempDir(), "t.csv", []byte(text.String())), Options{Seed: 8, Validation: "0.1"})
	if !slices.Equal(d.InputNames, []string{"n", "city: mean y"}) {
		t.Fatalf("inputs %q", d.InputNames)
	}
	ids := func(s *Split) (ids []int) {
		for i := range s.Rows() {
			ids = append(ids, int(raw(d, s, i)[0]))
		}
		return ids
	}
	train := ids(&d.Train)
	counts := make(map[int]int) // of all rows, as what is rare does not look at the target
	for i := range rows {
		counts[city[i]]++
	}
	rare := func(c int) bool { return counts[c] < 2 }
	// encoded is the smoothed mean of the training rows but those of one part.
	encoded := func(c, without int) float64 {
		var sum, n, all, count float64
		for k, i := range train {
			if k%5 == without {
				continue
			}
			all, count = all+y[i], count+1
			if city[i] == c || rare(c) && rare(city[i]) {
				sum, n = sum+y[i], n+1
			}
		}
		return (sum + 10*all/count) / (n + 10)
	}
	for part, s := range []*Split{&d.Train, &d.Validation, &d.Test} {
		for k, i := range ids(s) {
			if k%7 != 0 {
				continue
			}
			without := -1
			if part == 0 {
				without = k % 5
			}
			if got, want := raw(d, s, k)[1], encoded(city[i], without); !scalar.EqualWithinAbsOrRel(got, want, 1e-9, 1e-9) {
				t.Errorf("%s: row %d of city %d: %g, expected %g", Part(part), i, city[i], got, want)
			}
		}
	}
}
