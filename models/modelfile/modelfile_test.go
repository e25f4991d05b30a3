package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"newtop/internal/safetensors"
	"newtop/models"

	"gonum.org/v1/gonum/mat"
)

// text returns m in a format.
func text(tb testing.TB, write func(io.Writer, *Model) error, m *Model) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := write(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// sameModel fails unless two models are equal to the bit.
func sameModel(t *testing.T, got, want *Model) {
	t.Helper()
	if !reflect.DeepEqual(got.Network.Architecture(), want.Network.Architecture()) || got.Network.Precision() != want.Network.Precision() {
		t.Errorf("the network is %+v, expected %+v", got.Network.Architecture(), want.Network.Architecture())
	}
	bits := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	}
	if !slices.EqualFunc(got.Weights, want.Weights, bits) {
		t.Error("other weights")
	}
	if !reflect.DeepEqual(got.Inputs, want.Inputs) || !reflect.DeepEqual(got.Outputs, want.Outputs) ||
		!reflect.DeepEqual(got.Classes, want.Classes) || !reflect.DeepEqual(got.Table, want.Table) || !reflect.DeepEqual(got.Meta, want.Meta) {
		t.Errorf("got %+v %+v %v %v %v", got.Inputs, got.Outputs, got.Classes, got.Table, got.Meta)
	}
}

func TestEveryModelComesBackToTheBit(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			s.model.Weights[0][0] = math.Copysign(0, -1)
			s.model.Weights[0][1] = math.SmallestNonzeroFloat64
			for i, write := range []func(io.Writer, *Model) error{WriteSafetensors, WriteONNX, WriteSafetensors} {
				s.model.Network = s.model.Network.In(models.Precision(i / 2)) // float32 in the end
				b := text(t, write, s.model)
				if !bytes.Equal(b, text(t, write, s.model)) {
					t.Error("twice the same model, other bytes")
				}
				m, err := Decode(b, "m")
				if err != nil {
					t.Fatal(err)
				}
				sameModel(t, m, s.model)
			}
		})
	}
}

// everyField is a table with a column of every kind, of five inputs in all; Go's words for each, and back.
func everyField() [][]Field {
	return [][]Field{
		{{Name: "size"}, {Name: "colour", Words: []string{"red\x07", "<blue>"}}, {Name: "x"}, {Name: "only", Words: []string{"one"}}},
		{{Name: "id", Kind: "left out"}, {Name: "x", Fill: []float64{0.1}, Missing: true}, {Name: "w", Words: []string{"a", "ü"}, Other: true}},
		{{Name: "d", Kind: "date", Order: "day-month-year", Fill: []float64{2000.5, 6, 3}}, {Name: "b", Kind: "boolean", Fill: []float64{1.0 / 3}, Missing: true}},
		{{Name: "m", Kind: "date", Order: "year-month", Fill: []float64{2000.5, 6}}, {Name: "a"}, {Name: "b"}, {Name: "c"}},
		{{Name: "t", Kind: "time", Order: "year-month-day", Missing: true, Fill: []float64{1, 2, 3, 4.5}}},
		{{Name: "c", Kind: "statistics", Words: []string{"x"}, Means: []float64{1e-300, -2, 1.0 / 7, 4, 5, 6}}, {Name: "w", Words: []string{"a"}, Missing: true}, {Name: "y"}},
	}
}

func TestEveryFieldComesBack(t *testing.T) {
	for i, table := range everyField() {
		m := samples(t)[0].model
		m.Table = table
		for _, write := range []func(io.Writer, *Model) error{WriteSafetensors, WriteONNX} {
			got, err := Decode(text(t, write, m), "m")
			if err != nil {
				t.Fatal(i, err)
			}
			sameModel(t, got, m)
		}
	}
}

// A file of a version before has names and words alone, and is read as ever.
func TestFieldsOfBefore(t *testing.T) {
	m := samples(t)[0].model
	m.Table = make([]Field, 5)
	file := text(t, WriteSafetensors, m)
	f, err := safetensors.Decode(file, "m")
	if err != nil {
		t.Fatal(err)
	}
	f.Metadata[keyTable] = `[{"name":"size"},{"name":"colour","words":["blue","red"]},{"name":"weight"},{"name":"only","words":["one"]}]`
	f.Metadata[keyCRC] = checksum(f.Metadata, f.Tensors)
	var b bytes.Buffer
	if err := safetensors.Encode(&b, f); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b.Bytes(), "m")
	if err != nil {
		t.Fatal(err)
	}
	want := []Field{{Name: "size"}, {Name: "colour", Words: []string{"blue", "red"}}, {Name: "weight"}, {Name: "only", Words: []string{"one"}}}
	if !reflect.DeepEqual(got.Table, want) {
		t.Errorf("%+v", got.Table)
	}
}

// The names that docs/runs.md promises, and which numbers of the flat vector they have.
func TestNamesOfTensors(t *testing.T) {
	a := sparseNet()
	network, err := models.NewNetwork(a)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Network: network, Weights: [][]float64{make([]float64, network.Dim())}, Inputs: make([]Column, 5), Outputs: make([]Column, 2)}
	for i := range m.Weights[0] {
		m.Weights[0][i] = float64(i)
	}
	for _, list := range [][]Column{m.Inputs, m.Outputs} {
		for j := range list {
			list[j].Scale = 1
		}
	}
	f, err := safetensors.Decode(text(t, WriteSafetensors, m), "m")
	if err != nil {
		t.Fatal(err)
	}
	// By hand: 12 weights and 6 biases of layer 1; of layer 2 one weight from the inputs and six from layer 1, and 4
	// biases; of layer 3 one from layer 1, 2 × 4 from layer 2, and 2 biases.
	want := map[string]string{
		"layer1.from0.weight.values": "[12] 0", "layer1.bias": "[6] 12", "layer1.from0.columns": "[12] 0", "layer1.from0.rows": "[7] 0",
		"layer2.from0.weight.values": "[1] 18", "layer2.from0.columns": "[1] 2", "layer2.from0.rows": "[5] 0",
		"layer2.from1.weight.values": "[6] 19", "layer2.from1.columns": "[6] 0", "layer2.from1.rows": "[5] 0", "layer2.bias": "[4] 25",
		"layer3.from1.weight.values": "[1] 29", "layer3.from1.columns": "[1] 1", "layer3.from1.rows": "[3] 0",
		"layer3.from2.weight": "[2 4] 30", "layer3.bias": "[2] 38",
	}
	for _, tensor := range f.Tensors {
		first := 0.0
		if tensor.Ints != nil {
			first = float64(tensor.Ints[0])
		} else {
			first = tensor.Data[0]
		}
		if got := fmt.Sprint(tensor.Shape, first); got != want[tensor.Name] {
			t.Errorf("%s is %s, expected %s", tensor.Name, got, want[tensor.Name])
		}
		delete(want, tensor.Name)
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}

// PredictTo against the definition, on a net that is small enough to write down.
func TestPredictTo(t *testing.T) {
	network, err := models.NewNetwork(models.Chain(2, nil, 1, models.Tanh, models.Identity, models.SquaredError, models.SkipNone))
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Network: network, Weights: [][]float64{{2, -1, 0.5}, {4, 1, -0.5}},
		Inputs: []Column{{"a", 10, 2}, {"b", 0, 0.5}}, Outputs: []Column{{"y", 100, 8}}}
	dst := mat.NewDense(1, 1, nil)
	m.PredictTo(dst, mat.NewDense(1, 2, []float64{16, 1}))
	// x = (3, 2): 2·3 − 2 + ½ = 4.5 and 4·3 + 2 − ½ = 13.5; their mean 9 is 8·9 + 100.
	if got := dst.At(0, 0); got != 172 {
		t.Errorf("got %g, expected 172", got)
	}
}

func TestFormat(t *testing.T) {
	for path, want := range map[string]string{"a.onnx": ONNX, "x/y.SafeTensors": Safetensors, "a.onnx.txt": "", "onnx": "", "": "", ".onnx": ONNX} {
		got, err := Format(path)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}

func TestWriteReplacesAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	good := samples(t)[0].model
	for range 2 {
		size, err := Write(path, good)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || info.Size() != size {
			t.Fatalf("%d bytes, %v, %v", size, err, statErr)
		}
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := samples(t)[0].model
	bad.Weights[0][3] = math.NaN()
	if _, err := Write(path, bad); err == nil || !strings.Contains(err.Error(), "a weight is NaN: expected finite weights") {
		t.Errorf("NaN: %v", err)
	}
	link := filepath.Join(dir, "link.safetensors")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(link, good); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("what was there has changed: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); len(hidden) != 0 {
		t.Errorf("left behind: %v", hidden)
	}
}

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub.onnx"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Writable(filepath.Join(dir, "m.onnx")); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"m.pt", filepath.Join(dir, "sub.onnx"), filepath.Join(dir, "none", "m.onnx"), "/proc/m.onnx"} {
		_, err := Write(path, samples(t)[0].model)
		for _, err := range []error{err, Writable(path)} {
			if err == nil || strings.Contains(err.Error(), ".tmp") || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// Numbers that float32 has no room for, and files that ONNX has none for.
func TestONNXRefuses(t *testing.T) {
	m := samples(t)[0].model
	m.Weights[0][0] = 1e39
	if err := WriteONNX(io.Discard, m); err == nil || !strings.Contains(err.Error(), "expected a .safetensors file") {
		t.Errorf("1e39: %v", err)
	}
	a := sparseNet()
	a.Inputs = 1 << 27
	network, err := models.NewNetwork(a)
	if err != nil {
		t.Fatal(err)
	}
	large := &Model{Network: network, Weights: [][]float64{nil}}
	if size := large.onnxBytes(); size < maxBytes {
		t.Errorf("dense blocks of %d inputs are taken for %g bytes", a.Inputs, size)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"nothing", nil, "found no metadata of newtop's, expected a model that newtop saved"},
		{"a text", []byte("weights of a net"), "offset 0: found no protobuf field, expected a safetensors or ONNX file"},
		{"another's safetensors", tensorsOf(t, nil), "found no metadata of newtop's, expected a model that newtop saved"},
		{"another version", tensorsOf(t, func(f *safetensors.File) { f.Metadata["newtop"] = "2" }), `found version "2", expected version 1`},
		{"no network", tensorsOf(t, func(f *safetensors.File) { delete(f.Metadata, "network") }), "found network: 0 inputs: expected at least 1, expected a network"},
		{"broken JSON", tensorsOf(t, func(f *safetensors.File) { f.Metadata["inputs"] = "[{" }), `metadata "inputs": found unexpected end of JSON input, expected what newtop writes`},
		{"an unknown activation", replaced(t, "network", `"relu"`, `"step"`), `metadata "network": found unknown activation "step"`},
		{"a huge layer", replaced(t, "network", `"nodes":4`, `"nodes":1000000000`), "found other beginnings of rows, expected 1000000001 ascending numbers from 0 to 1"},
		{"a layer of less than nothing", replaced(t, "network", `"nodes":4`, `"nodes":-1`), "found other beginnings of rows"},
		{"a connection into nothing", replaced(t, "network", `"to":3,"from":1`, `"to":9,"from":1`), "found a connection to layer 9, expected 1 to 3"},
		{"no committee", tensorsOf(t, func(f *safetensors.File) { f.Metadata["committee"] = "0" }), `metadata "committee": found 0, expected 1 to`},
		{"a missing net", tensorsOf(t, func(f *safetensors.File) { f.Metadata["committee"] = "2" }), `tensor "nets.0.layer1.from0.weight.values": found none, expected one with shape [12]`},
		{"a missing tensor", tensorsOf(t, func(f *safetensors.File) { f.Tensors = f.Tensors[1:] }), `found none, expected one with shape`},
		{"another shape", tensorsOf(t, func(f *safetensors.File) { tensorIn(f, "layer3.from2.weight").Shape = []int{4, 2} }),
			`tensor "layer3.from2.weight": found shape [4 2], expected shape [2 4]`},
		{"whole numbers", tensorsOf(t, func(f *safetensors.File) { b := tensorIn(f, "layer3.bias"); b.Data, b.Ints = nil, []int64{1, 2} }),
			`tensor "layer3.bias": found whole numbers, expected F64`},
		{"one tensor more", tensorsOf(t, func(f *safetensors.File) {
			f.Tensors = append(f.Tensors, safetensors.Tensor{Name: "more", Shape: []int{0}})
		}), `tensor "more": found one of no layer, expected those of the network alone`},
		{"a column that is not there", tensorsOf(t, func(f *safetensors.File) { tensorIn(f, "layer1.from0.columns").Ints[11] = 5 }),
			"takes from node 5 of layer 0: expected 0 to 4"},
		{"unsorted columns", tensorsOf(t, func(f *safetensors.File) { tensorIn(f, "layer2.from1.columns").Ints[0] = 5 }), "takes from node 5 of layer 1 twice"},
		{"descending columns", tensorsOf(t, func(f *safetensors.File) { tensorIn(f, "layer2.from1.columns").Ints[2] = 5 }), "found unsorted columns in row 2"},
		{"rows beyond the columns", tensorsOf(t, func(f *safetensors.File) { tensorIn(f, "layer1.from0.rows").Ints[6] = 99 }), "expected 7 ascending numbers from 0 to 12"},
		{"rows that descend", tensorsOf(t, func(f *safetensors.File) { tensorIn(f, "layer1.from0.rows").Ints[3] = -9 }), "expected 7 ascending numbers from 0 to 12"},
		{"rows of fractions", tensorsOf(t, func(f *safetensors.File) {
			rows := tensorIn(f, "layer1.from0.rows")
			rows.Data, rows.Ints = make([]float64, len(rows.Ints)), nil
		}), "found other beginnings of rows"},
		{"a weight that is none", tensorsOf(t, func(f *safetensors.File) { tensorIn(f, "layer1.bias").Data[0] = math.NaN() }), "found a weight is NaN: expected finite weights"},
		{"too few inputs", replaced(t, "inputs", `{"name":"in 0","offset":0,"scale":1},`, ""), "4 inputs are described: expected 5"},
		{"a scale of 0", replaced(t, "outputs", `"scale":1`, `"scale":0`), `output "out 0" has offset 0 and scale 0`},
		{"too few classes", tensorsOf(t, func(f *safetensors.File) { f.Metadata["classes"] = `["a"]` }), "1 classes: expected 2"},
		{"a table of another net", tensorsOf(t, func(f *safetensors.File) { f.Metadata["table"] = `[{"name":"a"}]` }), "a table of 1 inputs: expected 5"},
		{"another's ONNX", onnxOf("other", "1"), "expected a model that newtop saved: other ONNX files are for other runtimes"},
		{"an ONNX without weights", onnxOf("newtop", "1"), "expected a model that newtop saved: other ONNX files are for other runtimes"},
		{"an ONNX with metadata twice", append(onnxOf("newtop", "1"), onnxOf("newtop", "1")...), "found metadata without a name of its own"},
		{"an ONNX with broken weights", append(onnxOf("newtop", "1"), onnxOf("weights", "!")...), `metadata "weights": found illegal base64`},
		{"an ONNX with cut weights", append(onnxOf("newtop", "1"), onnxOf("weights", "AAAA")...), `metadata "weights": offset 0: found 3 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(c.text, "file")
			if err == nil {
				t.Fatalf("got %v", m)
			}
			var ours *FormatError
			var below *safetensors.FormatError
			if !errors.As(err, &ours) && !errors.As(err, &below) {
				t.Errorf("%T", err)
			}
			if got := err.Error(); !strings.HasPrefix(got, "file: ") || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	sparse := filepath.Join(t.TempDir(), "sparse.safetensors")
	if err := os.WriteFile(sparse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 300<<30); err == nil { // where a file may have no room of its own
		if _, err := Read(sparse); err == nil || !strings.HasSuffix(err.Error(), "expected a saved model of at most 2147483648") {
			t.Errorf("a file of 300 GB without content: %v", err)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a directory: %v", err)
	}
}

// tensorsOf returns the sparse sample as safetensors, changed; nil: a file of another program.
func tensorsOf(t *testing.T, change func(*safetensors.File)) []byte {
	t.Helper()
	f := &safetensors.File{Tensors: []safetensors.Tensor{{Name: "a", Shape: []int{1}, Data: []float64{1}}}}
	if change != nil {
		list := samples(t)
		i := slices.IndexFunc(list, func(s sample) bool { return s.name == "sparse" })
		var err error
		if f, err = safetensors.Decode(text(t, WriteSafetensors, list[i].model), "m"); err != nil {
			t.Fatal(err)
		}
		delete(f.Metadata, keyChecksum) // as another program that changes it leaves them out
		delete(f.Metadata, keyCRC)
		change(f)
	}
	var b bytes.Buffer
	if err := safetensors.Encode(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tensorIn(f *safetensors.File, name string) *safetensors.Tensor {
	return &f.Tensors[slices.IndexFunc(f.Tensors, func(t safetensors.Tensor) bool { return t.Name == name })]
}

// replaced changes one text of the metadata.
func replaced(t *testing.T, key, old, new string) []byte {
	t.Helper()
	return tensorsOf(t, func(f *safetensors.File) {
		if !strings.Contains(f.Metadata[key], old) {
			t.Fatalf("%s has no %s", f.Metadata[key], old)
		}
		f.Metadata[key] = strings.Replace(f.Metadata[key], old, new, 1)
	})
}

// onnxOf is an ONNX file with one entry of metadata.
func onnxOf(key, value string) []byte {
	var m, entry message
	m.number(1, irVersion)
	entry.text(1, key)
	entry.text(2, value)
	m.message(14, entry)
	return m
}

func TestWriteRefusesWhatIsIncomplete(t *testing.T) {
	for name, spoil := range map[string]func(*Model){
		"without a network": func(m *Model) { m.Network = nil },
		"3 weights":         func(m *Model) { m.Weights[0] = m.Weights[0][:3] },
		"0 inputs":          func(m *Model) { m.Inputs = nil },
		"1 outputs":         func(m *Model) { m.Outputs = m.Outputs[:1] },
		"1 classes":         func(m *Model) { m.Classes = m.Classes[:1] },
		"a table of 1":      func(m *Model) { m.Table = make([]Field, 1) },
		"kind \"hour\"":     func(m *Model) { m.Table = []Field{{Kind: "hour"}} },
		"2 statistics of 1 words": func(m *Model) {
			m.Table = []Field{{Kind: "statistics", Words: []string{"a"}, Means: []float64{1, 2}}}
		},
		"1 statistics of 0 words":        func(m *Model) { m.Table = []Field{{Means: []float64{1}}} },
		"2 numbers for missing values":   func(m *Model) { m.Table = []Field{{Fill: []float64{1, 2}}} },
		"a number that is not finite":    func(m *Model) { m.Table = []Field{{Fill: []float64{math.NaN()}}} },
		"an input of a column":           func(m *Model) { m.Table = []Field{{Kind: "left out", Missing: true}} },
		"100001 words: expected at most": func(m *Model) { m.Table = []Field{{Words: make([]string, maxCategories+1)}} },
		`metadata "table"`:               func(m *Model) { m.Meta["table"] = "" },
		"expected UTF-8":                 func(m *Model) { m.Meta["run"] = "\xff" },
	} {
		m := samples(t)[0].model
		spoil(m)
		if err := WriteSafetensors(io.Discard, m); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A header can't make Decode allocate what the file has no room for.
func TestDecodeAllocatesLittle(t *testing.T) {
	wide := replaced(t, "network", `"inputs":5`, `"inputs":2000000000000`)
	layers, err := json.Marshal(make([]models.Layer, 5000))
	if err != nil {
		t.Fatal(err)
	}
	many := tensorsOf(t, func(f *safetensors.File) {
		f.Metadata["network"] = `{"inputs":1,"loss":"mse","layers":` + string(layers) + `}`
	})
	for name, text := range map[string][]byte{"inputs": wide, "layers": many} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Decode(text, name); err == nil {
			t.Errorf("%s: expected an error", name)
		}
		runtime.ReadMemStats(&after)
		if got, largest := after.TotalAlloc-before.TotalAlloc, uint64(20*len(text)+1<<20); got > largest {
			t.Errorf("%s: allocated %d bytes for %d", name, got, len(text))
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range samples(f) {
		if s.name == "sparse committee" || s.name == "mixture on a round feature" || s.name == "no hidden layer" {
			f.Add(text(f, WriteSafetensors, s.model))
			f.Add(text(f, WriteONNX, s.model))
		}
	}
	f.Add(onnxOf("newtop", "1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode(text, "f")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of several lines: %q", err)
			}
			return
		}
		var again bytes.Buffer
		if err := WriteSafetensors(&again, m); err != nil {
			t.Fatal(err)
		}
		twice, err := Decode(again.Bytes(), "f")
		if err != nil {
			t.Fatal(err)
		}
		sameModel(t, twice, m)
	})
}
