package trainer

import (
	"context"
	"fmt"
	"math"
	"strings"

	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/analysis"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// Loss is the loss over training rows at weights that nobody changes, for those who look at its curvature.
type Loss struct {
	objective.Linearization
	Name    string
	Layers  []Layer
	Total   int           // training rows, of which it may be over some
	Notes   []string      // what people should know before they trust it
	Printed <-chan string // lines of the program that has the model; nil: it is newtop's
	problem *objective.Problem
	pool    *reduce.Pool
}

// Layer is where the weights of a layer lie.
type Layer struct {
	Name    string
	Tensors []string // their names
	Weights []optim.Span
}

// OpenLoss returns the loss of a recorded run at the weights that it ends with, or with no checkpoint that of a model
// which another program has, as it has it. It is over a share of the training rows, evenly spaced, 1 for all. The
// caller closes it. The context ends the wait for a program.
func OpenLoss(ctx context.Context, c config.Config, from *checkpoint.Checkpoint, share float64) (l *Loss,
	err error) {
	c.TargetError = 0 // which the weights do not depend on
	place := workplace.Workplace{Config: &c}
	loaded := <-place.StartLoading(ctx)
	if loaded.Err != nil {
		return nil, loaded.Err
	}
	l = &Loss{Name: loaded.Problem.Data.Name, problem: loaded.Problem, pool: reduce.NewPool(c.Threads)}
	if err := objective.CatchFailure(func() error { return l.start(ctx, &loaded.Config, from, share) }); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// start computes the loss at the weights.
func (l *Loss) start(ctx context.Context, c *config.Config, from *checkpoint.Checkpoint, share float64) error {
	p := l.problem
	weights := [][]float64{make([]float64, p.Dim())}
	if from == nil {
		p.InitTo(weights[0], nil)
	} else {
		err := checkFingerprint(ctx, p, from.Fingerprint, objective.StartFingerprint(p))
		if err == nil {
			weights, _, err = trajectory.EndOf(from, c, p.Dim())
		}
		if err != nil {
			return err
		}
	}
	if len(weights) > 1 {
		l.Notes = append(l.Notes, fmt.Sprintf("the first of %d nets", len(weights)))
	}
	if m, ok := p.External.(*workplace.ExternalModel); ok {
		l.Printed = m.Printed
		l.Notes = append(l.Notes, m.Notes()...)
		l.nameLayers(m)
	} else {
		l.countLayers()
	}
	var rows objective.Rows
	if l.Total = p.Train.Rows(); share < 1 {
		rows.Count = max(1, int(math.Round(share*float64(l.Total))))
	}
	l.Linearization = p.Minimized(p.Bind(rows,
		models.Options{Pool: l.pool, Memory: c.Memory, Double: true, Products: true}))
	l.Update(weights[0])
	return nil
}

// nameLayers makes a layer of the tensors whose names are alike up to the last dot.
func (l *Loss) nameLayers(m *workplace.ExternalModel) {
	offset, at := 0, map[string]int{}
	for i := range m.About().Blocks {
		b := &m.About().Blocks[i]
		name := b.Name
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			name = name[:dot]
		}
		k, known := at[name]
		if !known {
			k = len(l.Layers)
			at[name], l.Layers = k, append(l.Layers, Layer{Name: name})
		}
		l.Layers[k].add(b.Name, offset, offset+b.Size())
		offset += b.Size()
	}
}

// countLayers makes a layer of the weights and biases that lead to one, and of the gates behind them.
func (l *Loss) countLayers() {
	blocks, n := l.problem.Blocks(), l.problem.Dim()
	for i, b := range blocks {
		if i > 0 && b.To == blocks[i-1].To {
			continue
		}
		end := n
		for _, next := range blocks[i:] {
			if next.To != b.To {
				end = next.Offset
				break
			}
		}
		name := fmt.Sprintf("layer%d", len(l.Layers)+1)
		l.Layers = append(l.Layers, Layer{Name: name})
		l.Layers[len(l.Layers)-1].add(name, b.Offset, end)
	}
}

// add appends a tensor.
func (l *Layer) add(name string, from, to int) {
	l.Tensors = append(l.Tensors, name)
	if last := len(l.Weights) - 1; last >= 0 && l.Weights[last].Last == from {
		l.Weights[last].Last = to
	} else if to > from {
		l.Weights = append(l.Weights, optim.Span{First: from, Last: to})
	}
}

// Offers returns an error if the model has no products with one of analysis.SpectrumOperators.
func (l *Loss) Offers(operator string) error {
	if l.problem.External == nil || operator != analysis.SpectrumOperators[1] {
		return nil
	}
	return l.problem.External.Offers(optim.NeedsGaussNewton)
}

// Close gives back what the loss needs, and ends a program that was started for it.
func (l *Loss) Close() error {
	l.pool.Close()
	return l.problem.Close()
}
