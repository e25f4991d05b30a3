package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	reflection "reflect"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// cuts are ranges of the splits by which a set is read in parts.
func cuts(s Sizes) []Ranges {
	train, decide, test := s[Train], s[Validation], s[Test]
	return []Ranges{
		{{0, train}, {0, decide}, {0, test}},
		{{0, 1}, {0, 0}, {0, 0}},
		{{train - 1, train}, {decide, decide}, {test, test}},
		{{train / 3, 2*train/3 + 1}, {decide / 2, decide}, {test / 4, test/4 + 1}},
		{{1, train}, {0, decide / 3}, {test / 2, test}},
	}
}

// checkKeep loads a set by parts and holds each to the same rows of the whole.
func checkKeep(t *testing.T, name string, o Options) {
	t.Helper()
	whole := mustLoad(t, name, o)
	for part := range Part(Parts) {
		if s := whole.Split(part); s.Total() != s.Rows() {
			t.Errorf("a whole set has %d of %d %s rows", s.Rows(), s.Total(), part)
		}
	}
	for _, cut := range cuts(whole.sizes()) {
		calls := 0
		o.Keep = func(s Sizes) Ranges {
			calls++
			if s != whole.sizes() {
				t.Errorf("Keep was told of %d rows, not %d", s, whole.sizes())
			}
			return cut
		}
		part, err := Load(name, o)
		if err != nil {
			t.Fatalf("%v: %v", cut, err)
		}
		if calls == 0 {
			t.Error("Keep was not called")
		}
		t.Run(fmt.Sprint(cut), func(t *testing.T) { checkPart(t, part, whole, cut) })
	}
}

// checkPart holds a part of a set to the rows of the whole, to the bit, before and after they are coded anew.
func checkPart(t *testing.T, part, whole *Dataset, cut Ranges) {
	rest, want := *part, *whole
	for part := range Part(Parts) {
		*rest.Split(part), *want.Split(part) = Split{}, Split{}
	}
	if !reflection.DeepEqual(rest, want) {
		t.Errorf("what is beside the rows is\n%+v, not\n%+v", rest, want)
	}
	if part.Inputs() != whole.Inputs() || part.Outputs() != whole.Outputs() {
		t.Errorf("%d inputs and %d outputs", part.Inputs(), part.Outputs())
	}
	again := &Dataset{Classes: whole.Classes}
	for p, r := range cut {
		checkSplit(t, part.Split(Part(p)), whole.Split(Part(p)), r)
		again.Split(Part(p)).Labels = whole.Split(Part(p)).Labels
	}
	if whole.Classes == nil {
		return
	}
	again.Encode(-1, 1)
	part.Encode(-1, 1)
	for p, r := range cut {
		checkRows(t, "targets after Encode", part.Split(Part(p)).Targets, again.Split(Part(p)).Targets, r)
	}
}

func checkSplit(t *testing.T, part, whole *Split, r Range) {
	t.Helper()
	wantFirst, wantAll := r.First, whole.Rows()
	if r.Rows() == whole.Rows() {
		wantFirst, wantAll = 0, 0
	}
	if part.Rows() != r.Rows() || part.Total() != whole.Rows() || part.First != wantFirst || part.All != wantAll {
		t.Errorf("%d rows from %d of %d (%d)", part.Rows(), part.First, part.Total(), part.All)
	}
	checkRows(t, "inputs", part.Inputs, whole.Inputs, r)
	checkRows(t, "targets", part.Targets, whole.Targets, r)
	if (part.Labels == nil) != (whole.Labels == nil) || whole.Labels != nil && !slices.Equal(part.Labels, whole.Labels[r.First:r.Last]) {
		t.Errorf("labels %v", part.Labels)
	}
	if (part.Features == nil) != (whole.Features == nil) {
		t.Errorf("features %v", part.Features)
	} else if whole.Features != nil {
		checkRows(t, "features", part.Features, whole.Features, r)
	}
}

func checkRows(t *testing.T, what string, part, whole *mat.Dense, r Range) {
	t.Helper()
	rows, columns := part.Dims()
	if rows != r.Rows() || rows > 0 && columns != whole.RawMatrix().Cols {
		t.Fatalf("%s are %d × %d", what, rows, columns)
	}
	for i := range rows {
		for j, v := range part.RawRowView(i) {
			if want := whole.At(r.First+i, j); math.Float64bits(v) != math.Float64bits(want) {
				t.Fatalf("%s: row %d column %d is %v, not %v", what, r.First+i, j, v, want)
			}
		}
	}
}

func TestKeepOfGeneratedSets(t *testing.T) {
	for _, info := range List() {
		if info.Kind != Generated {
			continue
		}
		o := Options{Seed: 3, Rows: 128}
		t.Run(info.Name, func(t *testing.T) { checkKeep(t, info.Name, o) })
		o.Validation = "0.3"
		t.Run(info.Name+" with rows to decide by", func(t *testing.T) { checkKeep(t, info.Name, o) })
	}
	t.Run("parity drawn", func(t *testing.T) { checkKeep(t, "parity", Options{Seed: 3, Test: "0.25"}) })
}

func TestKeepOfWrongRows(t *testing.T) {
	for _, cut := range []Ranges{
		{Train: {0, 0}, Test: {0, 1}}, {Train: {-1, 1}, Test: {0, 1}}, {Train: {0, 401}, Test: {0, 1}}, {Train: {2, 1}, Test: {0, 1}},
		{Train: {0, 1}, Test: {-1, 0}}, {Train: {0, 1}, Test: {0, 101}}, {Train: {0, 1}, Test: {3, 2}}, {Train: {0, 1}, Validation: {0, 1}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v did not panic", cut)
				}
			}()
			_, err := Load("sine", Options{Keep: func(Sizes) Ranges { return cut }})
			t.Errorf("%v: %v", cut, err)
		}()
	}
}

func TestKeepOfUCILetter(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, letterFile, letterText())
	for _, tc := range []struct {
		o   Options
		cut Ranges
	}{
		{Options{Dir: dir}, Ranges{Train: {5000, 9000}, Test: {3990, 4000}}},
		{Options{Dir: dir, Rows: 1000, Test: "0.3"}, Ranges{Train: {699, 700}}},
		{Options{Dir: dir, Folds: 4, Fold: 2}, Ranges{Train: {3, 11}, Validation: {100, 200}, Test: {0, 1}}},
	} {
		whole := mustLoad(t, "letter", tc.o)
		tc.o.Keep = func(Sizes) Ranges { return tc.cut }
		part, err := Load("letter", tc.o)
		if err != nil {
			t.Fatal(err)
		}
		checkPart(t, part, whole, tc.cut)
	}
}

// letterText is a file like UCI letter recognition's, of numbers that do not mean anything.
func letterText() []byte {
	var text []byte
	rng := rand.New(rand.NewPCG(1, 2))
	for range letterRows {
		text = append(text, 'A'+byte(rng.IntN(26)))
		for range attributes {
			text = fmt.Appendf(text, ",%d", rng.IntN(16))
		}
		text = append(text, '\n')
	}
	return text
}

func TestKeepOfImages(t *testing.T) {
	images, labels := pictures(31)
	for _, gz := range []bool{false, true} {
		for name, o := range map[string]Options{"as it is": {}, "across files": {Test: "40"}, "first rows": {Rows: 20}, "to decide by": {Validation: "7"}} {
			t.Run(fmt.Sprintf("%s, gzip=%t", name, gz), func(t *testing.T) {
				o.Dir = t.TempDir()
				for _, prefix := range []string{"train", "t10k"} {
					p := pairOf("mnist/" + prefix)
					if gz {
						write(t, o.Dir, p.images+".gz", packed(t, images))
						write(t, o.Dir, p.labels+".gz", packed(t, labels))
					} else {
						write(t, o.Dir, p.images, images)
						write(t, o.Dir, p.labels, labels)
					}
				}
				checkKeep(t, "mnist", o)
			})
		}
	}
}

// A few rows of a file of 3 GB, most of it a hole, cost little memory, though the whole is refused.
func TestKeepOfGreatImages(t *testing.T) {
	const rows = 4_000_000
	dir := t.TempDir()
	for _, f := range []struct {
		name   string
		header []byte
		size   int64
	}{
		{"train-images-idx3-ubyte", idxBytes(nil, rows, 28, 28), rows * 28 * 28},
		{"train-labels-idx1-ubyte", idxBytes(nil, rows), rows},
		{"t10k-images-idx3-ubyte", idxBytes(nil, 20, 28, 28), 20 * 28 * 28},
		{"t10k-labels-idx1-ubyte", idxBytes(nil, 20), 20},
	} {
		path := write(t, dir, "mnist/"+f.name, f.header)
		if err := os.Truncate(path, int64(len(f.header))+f.size); err != nil {
			t.Skipf("no files with holes here: %v", err)
		}
		if f.name == "train-images-idx3-ubyte" {
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteAt([]byte{51}, int64(len(f.header))+3_000_000*28*28+5); err != nil {
				t.Fatal(err)
			}
			file.Close()
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := Load("mnist", Options{Dir: dir, Keep: func(s Sizes) Ranges {
		return Ranges{Train: {3_000_000, 3_000_010}, Test: {s[Test] - 1, s[Test]}}
	}})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes allocated", used)
	}
	if d.Train.Total() != rows || d.Test.Total() != 20 || d.Train.Inputs.At(0, 5) != 0.2 || d.Test.Rows() != 1 {
		t.Errorf("%d + %d rows, %v", d.Train.Total(), d.Test.Total(), d.Train.Inputs.At(0, 5))
	}
	_, err = Load("mnist", Options{Dir: dir})
	checkFormatError(t, err)
	_, err = Load("mnist", Options{Dir: dir, Keep: func(Sizes) Ranges { return Ranges{Train: {0, 2_000_000}} }})
	checkFormatError(t, err)
}
