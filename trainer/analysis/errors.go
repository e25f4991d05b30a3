package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// Bounds of what an ErrorsEvent shows.
const (
	MaxWorst     = 64   // rows
	MaxResiduals = 2048 // of each output
)

// errorsChunk is how many rows' outputs are there at once, for each thread.
const errorsChunk = 1024

// Errors passes the rows of a problem through what outputsTo computes, with so many threads, and gathers where the outputs are
// wrong. poll is called in between; an error of it ends the analysis.
func Errors(p *objective.Problem, c event.ShowErrors, threads int, outputsTo func(dst, x *mat.Dense), poll func() error) (event.ErrorsEvent, error) {
	step := errorsChunk * threads
	g := newGathering(p, c)
	u := mat.NewDense(min(g.rows, step), p.Network.Outputs(), nil)
	err := p.Walk(PartOf(c), step, func(first int, x, t *mat.Dense) error {
		rows, _ := x.Dims()
		part := models.Doubles(u, 0, rows)
		outputsTo(part, x)
		for i := range rows {
			g.add(first+i, x.RawRowView(i), t.RawRowView(i), part.RawRowView(i))
		}
		return poll()
	})
	return g.finish(), err
}

// PartOf returns the rows that are asked for.
func PartOf(c event.ShowErrors) datasets.Part {
	if c.Train {
		return datasets.Train
	}
	return datasets.Test
}

// gathering is an ErrorsEvent under way.
type gathering struct {
	problem *objective.Problem
	rows    int // of the split
	event   event.ErrorsEvent
	most    int
	shown   int   // how many rows residuals are of
	worst   []bad // downwards
}

// bad is a row that may be among the worst.
type bad struct {
	row                      int
	loss                     float64
	output                   int // class
	inputs, targets, outputs []float64
}

func newGathering(p *objective.Problem, c event.ShowErrors) *gathering {
	g := &gathering{
		problem: p, rows: p.Of(objective.Rows{Part: PartOf(c)}),
		event: event.ErrorsEvent{Train: c.Train, Classes: p.Data.Classes},
		most:  min(max(0, c.Worst), MaxWorst),
	}
	if classes := len(p.Data.Classes); classes > 0 {
		counts := make([]int, classes*classes)
		for i := range classes {
			g.event.Confusion = append(g.event.Confusion, counts[i*classes:][:classes])
		}
		return g
	}
	g.shown = min(g.rows, MaxResiduals)
	g.event.Residuals = make([][]event.Float, p.Network.Outputs())
	return g
}

// add takes the inputs, targets and outputs of the next row.
func (g *gathering) add(row int, x, t, u []float64) {
	b := bad{row: row, loss: g.problem.Network.RowLoss(u, t), output: -1}
	if g.event.Confusion != nil {
		if !floats.HasNaN(u) {
			b.output = floats.MaxIdx(u)
			g.event.Confusion[floats.MaxIdx(t)][b.output]++
		}
	} else if taken := len(g.event.Residuals[0]); taken < g.shown && row == taken*g.rows/g.shown {
		for k := range g.event.Residuals {
			g.event.Residuals[k] = append(g.event.Residuals[k], event.Float((u[k]-t[k])*g.problem.Data.TargetScaling.Scale[k]))
		}
	}
	g.rank(b, x, t, u)
}

// rank puts a row in its place among the worst, if it has one there. A loss that is no number is the worst of all, and
// of equals the first row comes first.
func (g *gathering) rank(b bad, x, t, u []float64) {
	key := func(b *bad) float64 {
		if math.IsNaN(b.loss) {
			return math.Inf(1)
		}
		return b.loss
	}
	i := len(g.worst)
	for i > 0 && key(&b) > key(&g.worst[i-1]) {
		i--
	}
	if i == g.most {
		return
	}
	if len(g.worst) == g.most {
		last := &g.worst[g.most-1]
		b.inputs, b.targets, b.outputs = last.inputs, last.targets, last.outputs
		g.worst = g.worst[:g.most-1]
	}
	b.inputs, b.targets, b.outputs = append(b.inputs[:0], x...), append(b.targets[:0], t...), append(b.outputs[:0], u...)
	g.worst = slices.Insert(g.worst, i, b)
}

// finish describes the worst rows in the units of the data.
func (g *gathering) finish() event.ErrorsEvent {
	e, data := g.event, g.problem.Data
	height, width := imageSize(g.problem)
	raw := func(scaling *datasets.Scaling, value []float64) []event.Float {
		dst := make([]float64, len(value))
		scaling.RawTo(dst, value)
		return event.Floats(dst)
	}
	for _, b := range g.worst {
		w := event.WorstRow{Row: b.row, Loss: event.Float(b.loss), Target: -1, Output: b.output, Height: height, Width: width}
		w.Inputs = raw(&data.InputScaling, b.inputs[:data.Inputs()])
		if e.Confusion != nil {
			w.Target = floats.MaxIdx(b.targets)
		} else {
			w.Targets = raw(&data.TargetScaling, b.targets)
			w.Outputs = raw(&data.TargetScaling, b.outputs)
		}
		e.Worst = append(e.Worst, w)
	}
	return e
}
