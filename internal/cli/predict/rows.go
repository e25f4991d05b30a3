package predict

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"newtop/datasets"
	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/reader"
	"newtop/datasets/csv/schema"
	"newtop/datasets/fault"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/models/modelfile"
)

// rowSource gives raw rows one by one.
type rowSource interface {
	// read stores a row's inputs and says what is true of it. After the last row it returns io.EOF.
	read(raw []float64) (truth, error)
	// unused returns the names of the columns that pass through to the output.
	unused() []string
	// truthful reports whether what is true of rows may be known.
	truthful() bool
	// waiting reports whether the next row is not there yet.
	waiting() bool
	// notes says what was decided for the user so far, a line each.
	notes() []string
	io.Closer
}

// open finds the rows: standard input, a data set, a file, or where no data are named those of the model's run.
func (f *rowFlags) open(cmd *cobra.Command, model *job.Model, data string) (rowSource, error) {
	m := model.Model
	known := data == "" || slices.ContainsFunc(datasets.List(), func(i datasets.Info) bool { return i.Name == data })
	switch {
	case known && cmd.Flags().Changed("target"):
		return nil, flags.Usagef("--target %s: expected no target with a data set, which has its own",
			f.target)
	case data == "":
		d, err := model.Data()
		if err != nil {
			return nil, err
		}
		return f.rowsOf(m, d)
	case known:
		return f.openSet(m, data)
	case cmd.Flags().Changed("rows"):
		return nil, flags.Usagef("--rows %s: expected it with a data set; a table has no test rows of its own", f.rows)
	case data == "-":
		return f.openTable(m, io.NopCloser(cmd.InOrStdin()), "standard input", "")
	}
	paths := []string{data}
	if f.dir != "" && !filepath.IsAbs(data) {
		paths = append(paths, filepath.Join(f.dir, data))
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err == nil {
			return f.openFile(m, file, path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	_, err := datasets.Load(data, datasets.Options{Dir: f.dir}) // for what it says of a name that is neither
	if err == nil {
		err = flags.Usagef("%s: expected one CSV file, or - for standard input", data)
	}
	return nil, err
}

// tableRows are the rows of a CSV text.
type tableRows struct {
	*reader.Reader
	io.Closer
	file  string
	model *modelfile.Model
}

// openFile is openTable of a file, which may be packed by gzip and of another format than CSV.
func (f *rowFlags) openFile(m *modelfile.Model, file *os.File, path string) (rowSource, error) {
	text, separator, err := datasets.Text(file, path, lex.Options{})
	if err != nil {
		file.Close()
		return nil, err
	}
	return f.openTable(m, text, path, separator)
}

func (f *rowFlags) openTable(m *modelfile.Model, r io.ReadCloser, file, separator string) (rowSource, error) {
	info := &schema.Table{Separator: separator, Target: m.Meta["target"], Header: m.Meta["header"],
		Missing: m.Meta["missing"], Decimal: m.Meta["decimal"], Thousands: m.Meta["thousands"],
		TargetNumerals: m.Meta["target_numerals"], TargetNumbers: m.Meta["target_numbers"] != ""}
	if marks := m.Meta["target_na"]; marks != "" {
		info.TargetNA = strings.Split(marks, "|")
	}
	info.TargetColumn, _ = strconv.Atoi(m.Meta["target_column"]) // 0 where the model has none
	if f.target != "" {
		info.Target, info.TargetColumn = f.target, 0
	}
	for _, field := range m.Table {
		info.Fields = append(info.Fields, schema.Field(field))
	}
	inputs := m.Inputs
	if m.Table != nil {
		inputs = inputs[m.Network.Inputs():]
	}
	for _, c := range inputs {
		info.Fields = append(info.Fields, schema.Field{Name: c.Name})
	}
	rows, err := reader.New(r, file, info, f.target != "")
	if err == nil && rows.Target() != "" && m.Classes == nil && len(m.Outputs) != 1 {
		err = flags.Usagef("%s has a target %q: expected none, as the model has %d outputs", file, rows.Target(),
			len(m.Outputs))
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return &tableRows{rows, r, file, m}, nil
}

func (t *tableRows) truthful() bool   { return t.Target() != "" }
func (t *tableRows) unused() []string { return t.Unused() }
func (t *tableRows) waiting() bool    { return t.Waiting() }

// notes are those of the reader.
func (t *tableRows) notes() []string { return t.Notes() }

func (t *tableRows) read(raw []float64) (truth, error) {
	text, err := t.Read(raw)
	if err != nil || text == "" {
		return truth{row: t.Row(), unused: t.UnusedFields()}, err
	}
	out := truth{row: t.Row(), unused: t.UnusedFields(), known: true, text: text, line: t.Line()}
	wrong := &fault.FormatError{File: t.file, Line: t.Line(), Column: t.Target(), Found: fmt.Sprintf("%.40q", text)}
	if t.model.Classes == nil {
		v, ok := t.Number(text)
		if !ok {
			wrong.Expected = "a number"
			return out, wrong
		}
		out.values = []float64{v}
		return out, nil
	}
	class, ok := className(t.model.Classes, text)
	if v, is := t.Number(text); !ok && is { // $10 of a class 10
		class = slices.Index(t.model.Classes, strconv.FormatFloat(v, 'f', -1, 64))
		ok = class >= 0
	}
	if !ok {
		wrong.Expected = "one of the classes " + print.Names(t.model.Classes)
		return out, wrong
	}
	out.class = class
	return out, nil
}

// setRows are the rows of a data set.
type setRows struct {
	set    *datasets.Dataset
	model  *modelfile.Model
	splits []*datasets.Split
	next   int   // row of the first split
	row    int   // rows that were read
	class  []int // the model's, of each of the set's
}

func (f *rowFlags) openSet(m *modelfile.Model, name string) (rowSource, error) {
	o := datasets.Options{Dir: f.dir, Seed: 1}
	if m.Meta["data"] == name {
		o.Test = m.Meta["test"] // the rows that were tested on, if others than usual
	}
	d, err := datasets.Load(name, o)
	if err != nil {
		return nil, err
	}
	return f.rowsOf(m, d)
}

// rowsOf returns the rows of a set that --rows asks for.
func (f *rowFlags) rowsOf(m *modelfile.Model, d *datasets.Dataset) (rowSource, error) {
	if err := flags.OneOf("--rows", f.rows, rowChoices...); err != nil {
		return nil, err
	}
	name := d.Name
	names := slices.Clone(d.InputNames)
	if m.Network.Columns() > m.Network.Inputs() {
		for _, feature := range d.Features {
			names = append(names, feature.Name)
		}
	}
	if !slices.Equal(names, columnNames(m.Inputs)) {
		return nil, fmt.Errorf("%s has the inputs %s: expected those of the model, %s", name, print.Names(names),
			print.Names(columnNames(m.Inputs)))
	}
	rows := &setRows{set: d, model: m}
	for _, part := range []struct {
		name  string
		split *datasets.Split
	}{{"train", &d.Train}, {"validation", &d.Validation}, {"test", &d.Test}} {
		if (f.rows == part.name || f.rows == "all") && part.split.Rows() > 0 {
			rows.splits = append(rows.splits, part.split)
		}
	}
	if len(rows.splits) == 0 {
		return nil, flags.Usagef("--rows %s: %s has none: expected other rows", f.rows, name)
	}
	return rows, rows.match(name)
}

// match makes sure that the set has the model's targets.
func (r *setRows) match(name string) error {
	names := r.set.TargetNames
	wrong := fmt.Errorf("%s has the targets %s: expected those of the model, %s", name, print.Names(names),
		print.Names(columnNames(r.model.Outputs)))
	if (r.set.Classes == nil) != (r.model.Classes == nil) {
		return wrong
	}
	for j, target := range names {
		class := slices.Index(r.model.Classes, target)
		if r.set.Classes != nil && class < 0 || r.set.Classes == nil &&
			(j >= len(r.model.Outputs) || r.model.Outputs[j].Name != target) {
			return wrong
		}
		r.class = append(r.class, class)
	}
	if r.set.Classes == nil && len(names) != len(r.model.Outputs) {
		return wrong
	}
	return nil
}

func columnNames(columns []modelfile.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

func (r *setRows) truthful() bool   { return true }
func (r *setRows) unused() []string { return nil }
func (r *setRows) waiting() bool    { return false }
func (r *setRows) Close() error     { return nil }

// notes are none: a set is what it was in training.
func (r *setRows) notes() []string { return nil }

func (r *setRows) read(raw []float64) (truth, error) {
	for len(r.splits) > 0 && r.next == r.splits[0].Rows() {
		r.splits, r.next = r.splits[1:], 0
	}
	if len(r.splits) == 0 {
		return truth{}, io.EOF
	}
	s, i := r.splits[0], r.next
	r.next++
	inputs := r.set.Inputs()
	r.set.InputScaling.RawTo(raw[:inputs], s.Inputs.RawRowView(i))
	for k := range raw[inputs:] {
		raw[inputs+k] = s.Features.At(i, k)
	}
	r.row++
	t := truth{row: r.row, known: true}
	if r.model.Classes != nil {
		t.class, t.text = r.class[s.Labels[i]], r.set.Classes[s.Labels[i]]
		return t, nil
	}
	t.values = make([]float64, r.set.Outputs())
	r.set.TargetScaling.RawTo(t.values, s.Targets.RawRowView(i))
	return t, nil
}
