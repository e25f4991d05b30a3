package datasets

import (
	"slices"

	"newtop/datasets/csv/lex"
	"newtop/datasets/csv/schema"
)

// Folds are the rows of a set for as many nets as there are parts of them. Each part is once what decides about a net,
// whose statistics of words, values for missing ones and scaling come of the other parts alone.
type Folds struct {
	All  *Dataset   // all rows that are not for testing are training rows
	Sets []*Dataset // each part is once the validation rows: what Load has with Options.Fold
	Of   []int      // the part of each training row of All, from 0
	// Joint has the rows of All with the inputs of all sets: what they share once, and the statistics of each. Inputs
	// says of each set which of these its own ones are.
	Joint  *Dataset
	Inputs [][]JointInput
}

// JointInput is an input of a set as it follows from Joint's raw ones: input Column, and Shift more where input Mark is
// 1, which says that the value is missing. A Mark of -1 is none.
type JointInput struct {
	Column, Mark int
	Shift        float64
}

// LoadFolds loads a set once for each of Options.Folds nets, and as a whole. It returns the errors of Load.
func LoadFolds(name string, o Options) (*Folds, error) {
	f := &Folds{Inputs: make([][]JointInput, o.Folds)}
	for o.Fold = 1; o.Fold <= o.Folds; o.Fold++ {
		d, err := Load(name, o)
		if err != nil {
			return nil, err
		}
		f.Sets = append(f.Sets, d)
	}
	o.Folds, o.Fold, o.Validation = 0, 0, ""
	var err error
	if f.All, err = Load(name, o); err != nil {
		return nil, err
	}
	f.Of, f.Joint = foldsOf(f.All.Train.Rows(), len(f.Sets), f.All.Train.Labels, o.Seed), f.All
	if f.All.Table != nil { // with inputs that say where values are missing, and a memory of its own
		o.Columns.Mark = o.Columns.Missing != "" && o.Columns.Missing != lex.MissingDrop
		if f.Joint, err = Load(name, o); err == nil {
			f.join(f.Joint.Table.Fields)
		}
		return f, err
	}
	for k := range f.Inputs {
		for j := range f.All.Inputs() {
			f.Inputs[k] = append(f.Inputs[k], JointInput{Column: j, Mark: -1})
		}
	}
	return f, nil
}

// origin is where an input of Joint comes from: an input of a set, or with -1 of Joint as it was loaded.
type origin struct{ set, input int }

// join puts the statistics of all sets in the place of Joint's own.
func (f *Folds) join(fields []schema.Field) {
	var from []origin
	at := 0
	f.Joint.InputNames = nil
	for i := range fields {
		field := &fields[i]
		first, inputs := len(from), field.Inputs()
		if field.Kind == schema.Statistics {
			var means []float64
			for word := 0; word < len(field.Means); word += inputs {
				for _, d := range f.Sets {
					means = append(means, d.Table.Fields[i].Means[word:word+inputs]...)
				}
			}
			field.Means = means
		}
		for k, d := range f.Sets {
			for j := range d.Table.Fields[i].Inputs() {
				in := JointInput{Column: first + j, Mark: -1}
				if field.Kind == schema.Statistics {
					in.Column = len(from)
					from = append(from, origin{k, len(f.Inputs[k])})
				} else if j < field.NumberInputs() && field.Missing {
					in.Mark, in.Shift = first+inputs-1, d.Table.Fields[i].Fill[j]-field.Fill[j]
				}
				f.Inputs[k] = append(f.Inputs[k], in)
			}
		}
		for j := 0; j < inputs && field.Kind != schema.Statistics; j++ {
			from = append(from, origin{-1, at + j})
		}
		at += inputs
		f.Joint.InputNames = append(f.Joint.InputNames, field.InputNames(f.Joint.Table.Target, f.Joint.Classes)...)
	}
	f.gather(from)
}

// gather makes Joint's inputs, scaled as where they come from.
func (f *Folds) gather(from []origin) {
	loaded := *f.Joint
	f.Joint.Train.Inputs = newDense(loaded.Train.Rows(), len(from))
	f.Joint.Test.Inputs = newDense(loaded.Test.Rows(), len(from))
	f.Joint.InputScaling = Scaling{Kind: loaded.InputScaling.Kind}
	for j, o := range from {
		d, next := &loaded, [Parts]int{}
		if o.set >= 0 {
			d = f.Sets[o.set]
		}
		s := &f.Joint.InputScaling
		s.Offset = append(s.Offset, d.InputScaling.Offset[o.input])
		s.Scale = append(s.Scale, d.InputScaling.Scale[o.input])
		if slices.Contains(d.InputScaling.Constant, o.input) {
			s.Constant = append(s.Constant, j)
		}
		for i, part := range f.Of {
			of := Train
			if part == o.set {
				of = Validation
			}
			f.Joint.Train.Inputs.Set(i, j, d.Split(of).Inputs.At(next[of], o.input))
			next[of]++
		}
		for i := range loaded.Test.Rows() {
			f.Joint.Test.Inputs.Set(i, j, d.Test.Inputs.At(i, o.input))
		}
	}
}

// RescaleTargets scales the targets of a regression in another way.
func (d *Dataset) RescaleTargets(s *Scaling) {
	for part := range Part(Parts) {
		for i := range d.Split(part).Rows() {
			row := d.Split(part).Targets.RawRowView(i)
			d.TargetScaling.RawTo(row, row)
			s.ValueTo(row, row)
		}
	}
	d.TargetScaling = *s
}
