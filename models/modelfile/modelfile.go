// Package modelfile writes trained networks to files that other programs read, and reads them back: safetensors, with
// everything about the network in its metadata, and ONNX, a graph that computes from raw inputs.
package modelfile

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"newtop/internal/atomicfile"
	"newtop/internal/safetensors"
	"newtop/models"
	"newtop/models/reduce"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Model is a trained network with what its users need to feed it and to read it.
type Model struct {
	Network *models.Network
	Weights [][]float64 // of each net of a committee, whose mean output counts; one for a single net
	Inputs  []Column    // of the network's columns, in order: its inputs, and behind them its features
	Outputs []Column    // of its outputs
	Classes []string    // names, one for each output; nil for regression
	Table   []Field     // how the fields of a CSV row become the inputs; nil: one number each, in order
	// Residuals are, of each net of a committee and each output of a regression, how far the net is from the targets of
	// the rows that it alone was not trained on, in the data's units and ascending; nil: not known.
	Residuals [][][]float64
	Meta      map[string]string // what else is known: data, run, epoch, optimizer, seed, loss, test_error, …

	// Tensors are those of a model that another program has, in the order of its weights; Network is nil then. Its file
	// has them by their names, and Read does not read it.
	Tensors []Tensor
}

// Tensor is a part of the weights of a model that another program has.
type Tensor struct {
	Name  string
	Shape []int
}

// writeTensors writes the weights of a model that another program has.
func writeTensors(w io.Writer, m *Model) error {
	rest := m.Weights[0]
	f := safetensors.File{Metadata: m.Meta}
	for _, t := range m.Tensors {
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		if n > len(rest) {
			return fmt.Errorf("%d weights: expected as many as the tensors have", len(m.Weights[0]))
		}
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: t.Name, Shape: t.Shape, Data: rest[:n]})
		rest = rest[n:]
	}
	return safetensors.Encode(w, &f)
}

// Column is an input or an output: value = (raw − Offset)/Scale.
type Column struct {
	Name   string  `json:"name"`
	Offset float64 `json:"offset"`
	Scale  float64 `json:"scale"`
}

// Field is one column of a table as it was trained on; datasets/csv says what its parts mean. An empty Kind is words,
// the categories in the order of their inputs, each 1 where the field is that word, or a number where there are none.
type Field struct {
	Name    string    `json:"name"`
	Kind    string    `json:"kind,omitempty"`
	Words   []string  `json:"words,omitempty"`
	Order   string    `json:"order,omitempty"`
	Other   bool      `json:"other,omitempty"`
	Missing bool      `json:"missing,omitempty"`
	Fill    []float64 `json:"fill,omitempty"`
	Means   []float64 `json:"means,omitempty"`

	NA       []string `json:"na,omitempty"`
	Numerals string   `json:"numerals,omitempty"`
	Numbers  bool     `json:"numbers,omitempty"`

	Range []float64 `json:"range,omitempty"`
	Rare  []string  `json:"rare,omitzero"`
}

// FormatError says what is wrong with a file. Position is a part of it, as an offset or the name of a tensor, and may
// be empty; Found and Expected are phrases.
type FormatError struct{ File, Position, Found, Expected string }

func (e *FormatError) Error() string {
	position := e.File
	if e.Position != "" {
		position += ": " + e.Position
	}
	return fmt.Sprintf("%s: found %s, expected %s", position, e.Found, e.Expected)
}

// The names of the formats.
const (
	Safetensors = "safetensors"
	ONNX        = "onnx"
)

// Format returns Safetensors or ONNX for a path, or an error that says which extensions there are.
func Format(path string) (string, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".safetensors":
		return Safetensors, nil
	case ".onnx":
		return ONNX, nil
	}
	return "", fmt.Errorf("%q: expected a file name that ends in .safetensors or .onnx", path)
}

// Write writes m to path, in the format that its extension names, and replaces what is there as a whole. It returns
// an error where m is incomplete or has weights that are no finite numbers.
func Write(path string, m *Model) (bytes int64, err error) {
	format, err := Format(path)
	if err != nil {
		return 0, err
	}
	write := WriteSafetensors
	switch {
	case format == ONNX && m.Tensors != nil:
		return 0, fmt.Errorf("%q: expected .safetensors for the weights of another program's model", path)
	case format == ONNX:
		write = WriteONNX
	case m.Tensors != nil:
		write = writeTensors
	}
	return atomicfile.Write(path, func(w io.Writer) error { return write(w, m) })
}

// Writable returns an error unless Write could write a file there: an unknown extension, a directory that is not there
// or not to be written to, or something that is no regular file. It leaves nothing behind.
func Writable(path string) error {
	if _, err := Format(path); err != nil {
		return err
	}
	return atomicfile.Check(path)
}

// WriteSafetensors writes m with all its numbers as they are.
func WriteSafetensors(w io.Writer, m *Model) error {
	if err := m.check(); err != nil {
		return err
	}
	metadata, err := m.metadata()
	if err != nil {
		return err
	}
	tensors := modelTensors(m)
	metadata[keyCRC] = checksum(metadata, tensors)
	return safetensors.Encode(w, &safetensors.File{Metadata: metadata, Tensors: tensors})
}

// maxFile is how many bytes a saved model has at most, as ONNX has it.
const maxFile = 2 << 30

// Read reads what Write wrote, in either format, whatever the file's name. It returns a *FormatError or a
// *safetensors.FormatError for anything else.
func Read(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &FormatError{File: path, Found: "no regular file", Expected: "a saved model"}
	}
	if info.Size() > maxFile { // which may take no room on the disk
		return nil, &FormatError{File: path, Found: fmt.Sprintf("%d bytes", info.Size()),
			Expected: fmt.Sprintf("a saved model of at most %d", int64(maxFile))}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(text, path)
}

// Decode is Read for a text in memory; name is for errors.
func Decode(text []byte, name string) (*Model, error) {
	const lengthBytes = 8 // before the header of safetensors
	if len(text) > lengthBytes && text[lengthBytes] == '{' {
		file, err := safetensors.Decode(text, name)
		if err != nil {
			return nil, err
		}
		return fromTensors(file, name)
	}
	return readONNX(text, name)
}

// check returns an error unless m is complete and its parts fit each other.
func (m *Model) check() error {
	if m.Network == nil || len(m.Weights) == 0 {
		return fmt.Errorf("a model without a network or weights")
	}
	for _, w := range m.Weights {
		if len(w) != m.Network.Dim() {
			return fmt.Errorf("%d weights: expected %d as the network has", len(w), m.Network.Dim())
		}
		for _, v := range w {
			if !finite(v) {
				return fmt.Errorf("a weight is %g: expected finite weights", v)
			}
		}
	}
	if err := checkColumns("input", m.Inputs, m.Network.Columns()); err != nil {
		return err
	}
	if err := checkColumns("output", m.Outputs, m.Network.Outputs()); err != nil {
		return err
	}
	if m.Classes != nil && len(m.Classes) != m.Network.Outputs() {
		return fmt.Errorf("%d classes: expected %d as the network has outputs", len(m.Classes), m.Network.Outputs())
	}
	inputs := 0
	for i := range m.Table {
		if err := m.Table[i].check(); err != nil {
			return err
		}
		inputs += m.Table[i].Inputs()
	}
	if err := m.checkResiduals(); err != nil {
		return err
	}
	if m.Table != nil && inputs != m.Network.Inputs() {
		return fmt.Errorf("a table of %d inputs: expected %d as the network has", inputs, m.Network.Inputs())
	}
	return nil
}

func (m *Model) checkResiduals() error {
	if m.Residuals != nil && len(m.Residuals) != len(m.Weights) {
		return fmt.Errorf("residuals of %d nets: expected those of %d", len(m.Residuals), len(m.Weights))
	}
	for _, of := range m.Residuals {
		if len(of) != m.Network.Outputs() {
			return fmt.Errorf("residuals of %d outputs: expected those of %d", len(of), m.Network.Outputs())
		}
		for _, list := range of {
			if !slices.IsSorted(list) || len(list) > 0 && !(list[0] >= 0 && finite(list[len(list)-1])) {
				return fmt.Errorf("residuals that are not finite or not ascending: expected numbers ≥ 0 that are")
			}
		}
	}
	return nil
}

func checkColumns(what string, columns []Column, want int) error {
	if len(columns) != want {
		return fmt.Errorf("%d %ss are described: expected %d as the network has", len(columns), what, want)
	}
	for _, c := range columns {
		if !finite(c.Offset) || !finite(c.Scale) || c.Scale == 0 {
			return fmt.Errorf("%s %.40q has offset %g and scale %g: expected finite numbers, the scale not 0", what,
				c.Name, c.Offset, c.Scale)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// PredictTo stores in dst, rows × outputs, what the network makes of raw inputs, rows × Inputs: probabilities or
// scores for classes, values in the data's own units for regression.
func (m *Model) PredictTo(dst, raw *mat.Dense) { m.NewPredictor(nil).To(dst, nil, raw) }

// Predictor computes what a model makes of rows, by a pool of threads. One goroutine uses it at a time.
type Predictor struct {
	model *Model
	nets  []*models.Outputs
}

// NewPredictor returns a Predictor on a pool; nil: on the caller alone.
func (m *Model) NewPredictor(pool *reduce.Pool) *Predictor {
	p := &Predictor{model: m}
	for _, w := range m.Weights {
		p.nets = append(p.nets, m.Network.NewOutputs(w, pool))
	}
	return p
}

// To is PredictTo that stores in each, unless it is nil, what each net of a committee makes of the rows by itself.
func (p *Predictor) To(dst *mat.Dense, each []*mat.Dense, raw *mat.Dense) {
	m := p.model
	rows, columns := raw.Dims()
	if columns != len(m.Inputs) {
		panic(fmt.Sprintf("modelfile: PredictTo: raw has %d columns, the model %d", columns, len(m.Inputs)))
	}
	if r, c := dst.Dims(); r != rows || c != len(m.Outputs) {
		panic(fmt.Sprintf("modelfile: PredictTo: dst is %d × %d, expected %d × %d", r, c, rows, len(m.Outputs)))
	}
	x := mat.NewDense(rows, columns, nil)
	m.ScaleTo(x, raw)
	p.outputsTo(dst, each, x)
	for _, u := range append([]*mat.Dense{dst}, each...) {
		for i := range rows {
			row := u.RawRowView(i)
			for j, v := range row {
				row[j] = v*m.Outputs[j].Scale + m.Outputs[j].Offset
			}
		}
	}
}

// ScaleTo stores in x the inputs as the network takes them, of raw ones; they may be the same.
func (m *Model) ScaleTo(x, raw *mat.Dense) {
	rows, _ := raw.Dims()
	for i := range rows {
		row := x.RawRowView(i)
		for j, v := range raw.RawRowView(i) {
			row[j] = (v - m.Inputs[j].Offset) / m.Inputs[j].Scale
		}
	}
}

// OutputsTo stores the net's outputs for scaled inputs, or the mean of a committee's, in dst.
func (m *Model) OutputsTo(dst, x *mat.Dense) { m.NewPredictor(nil).outputsTo(dst, nil, x) }

// outputsTo is OutputsTo that stores those of each net in each, unless it is nil.
func (p *Predictor) outputsTo(dst *mat.Dense, each []*mat.Dense, x *mat.Dense) {
	if len(p.nets) == 1 {
		p.nets[0].To(dst, x)
		if each != nil {
			each[0].Copy(dst)
		}
		return
	}
	rows, outputs := dst.Dims()
	dst.Zero()
	var u *mat.Dense
	share := 1 / float64(len(p.nets))
	for k, net := range p.nets {
		switch {
		case each != nil:
			u = each[k]
		case u == nil:
			u = mat.NewDense(rows, outputs, nil)
		}
		net.To(u, x)
		for i := range rows {
			floats.AddScaled(dst.RawRowView(i), share, u.RawRowView(i))
		}
	}
}
