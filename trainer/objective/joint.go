package objective

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
)

// Joint is the problem of a committee whose nets are each trained on other rows, by which their inputs and targets are
// coded. Its embedded Problem has all rows, with the inputs of all nets and a network that takes these: WeightsOf has
// the weights with which it is one of the nets.
type Joint struct {
	*Problem
	Nets  []*Problem // what each net is trained on and decided by
	Folds *datasets.Folds
}

// NewJoint returns the problem of nets, each of which has the network of all, the problem of f.All.
func NewJoint(f *datasets.Folds, all *Problem) (*Joint, error) {
	j := &Joint{Problem: all, Folds: f}
	for _, d := range f.Sets {
		net := NewProblem(d, all.Network, all.Init)
		net.L2, net.Noise = all.L2, all.Noise
		j.Nets = append(j.Nets, net)
	}
	a := all.Network.Architecture()
	a.Inputs = f.Joint.Inputs()
	for i := range a.Connections {
		a.Connections[i].Sources = nil // a net's weight that is not there is 0
	}
	wide, err := models.NewNetwork(a)
	if err != nil {
		return nil, err
	}
	if wide = wide.In(all.Network.Precision()); f.Joint != f.All {
		j.Problem = NewProblem(f.Joint, wide, all.Init)
	} else {
		p := *all
		j.Problem, p.Network = &p, wide
	}
	return j, nil
}

// minResiduals is the least number of residuals of which a tenth can be left out.
const minResiduals = 9

// Residuals returns, of each net and output of a regression, how far the nets with such weights are from the targets of
// the rows that each decides by, in the data's units to six digits and ascending; nil for classes, and for few rows.
func (j *Joint) Residuals(weights [][]float64) (all [][][]float64) {
	if j.Data.Classes != nil || len(j.Folds.Of) < minResiduals {
		return nil
	}
	outputs := j.Network.Outputs()
	for k, net := range j.Nets {
		s := &net.Validation
		u, t := mat.NewDense(s.Rows(), outputs, nil), make([]float64, outputs)
		net.Network.OutputTo(u, weights[k], s.X)
		of := make([][]float64, outputs)
		for i := range s.Rows() {
			models.RowTo(t, s.T, i)
			for c, v := range t {
				r := math.Abs(u.At(i, c)-v) * net.Data.TargetScaling.Scale[c]
				r, _ = strconv.ParseFloat(strconv.FormatFloat(r, 'g', 6, 64), 64) // which FormatFloat wrote
				of[c] = append(of[c], r)
			}
		}
		for c := range of {
			slices.Sort(of[c])
		}
		all = append(all, of)
	}
	return all
}

// WeightsOf returns the weights with which the joint network has the outputs of net k with weights w. For input i of
// the net, x = (raw − o)/s, and the joint column X = (raw − O)/S of it, w·x = w·S/s·X + w·(O − o)/s. What is added to
// raw where a value is missing goes to the weight of the input that says so. The outputs of a regression are scaled to
// the joint targets in the same way.
func (j *Joint) WeightsOf(k int, w []float64) []float64 {
	net, out, last := j.Nets[k], make([]float64, j.Network.Dim()), len(j.Network.Biases())
	joint, own := &j.Folds.Joint.InputScaling, &net.Data.InputScaling
	for i, b := range net.Network.Biases() {
		copy(out[j.Network.Biases()[i].Offset:], w[b.Offset:][:b.Nodes])
	}
	for n, b := range net.Network.Blocks() {
		to, bias, next := j.Network.Blocks()[n], out[j.Network.Biases()[b.To-1].Offset:], w[b.Offset:]
		for r := range b.Rows {
			row := out[to.Offset+r*to.Cols:][:to.Cols]
			for i := range b.Cols {
				if b.Sources != nil && !slices.Contains(b.Sources.Of(r), i) {
					continue
				}
				v, in := next[0], datasets.JointInput{Column: i, Mark: -1}
				if next = next[1:]; b.From == 0 {
					in = j.Folds.Inputs[k][i]
					bias[r] += v * ((joint.Offset[in.Column] - own.Offset[i]) / own.Scale[i])
					if in.Mark >= 0 {
						row[in.Mark] += v * (in.Shift / own.Scale[i])
					}
					v *= joint.Scale[in.Column] / own.Scale[i]
				}
				row[in.Column] += v
			}
			if s := &net.Data.TargetScaling; b.To == last && j.Data.Classes == nil {
				floats.Scale(s.Scale[r]/j.Data.TargetScaling.Scale[r], row)
			}
		}
	}
	bias := out[j.Network.Biases()[last-1].Offset:]
	for r, s := 0, &j.Data.TargetScaling; j.Data.Classes == nil && r < len(s.Scale); r++ {
		of := &net.Data.TargetScaling
		bias[r] = (bias[r]*of.Scale[r] + of.Offset[r] - s.Offset[r]) / s.Scale[r]
	}
	return out
}
