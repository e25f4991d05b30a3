package analysis

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/internal/score"
	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// Bounds of what an ErrorsEvent shows.
const (
	maxWorst     = 64   // rows
	maxResiduals = 2048 // of each output
)

// errorsChunk is how many rows' outputs are there at once, for each thread.
const errorsChunk = 1024

// Errors passes the rows of a problem through what outputsTo computes, with that many threads, and gathers where the
// outputs are wrong and their scores. poll is called in between; an error of it ends the analysis.
func Errors(p *objective.Problem, c event.ShowErrors, threads int, outputsTo func(dst, x *mat.Dense),
	poll func() error) (event.ErrorsEvent, error) {
	g := newGathering(p, c)
	err := walk(p, partOf(c), threads, outputsTo, func(row int, x, t, u []float64) { g.add(row, x, t, u) }, poll)
	return g.finish(), err
}

// Scores is Errors for the scores of a part alone.
func Scores(p *objective.Problem, part datasets.Part, threads int, outputsTo func(dst, x *mat.Dense),
	poll func() error) (event.Scores, error) {
	s := score.NewScorer(kindOf(p), p.Network.Outputs())
	err := walk(p, part, threads, outputsTo, func(_ int, _, t, u []float64) { s.Add(t, u) }, poll)
	return s.Scores(splitOf(part)), err
}

// walk calls add with the inputs, targets and outputs of each row of a part.
func walk(p *objective.Problem, of datasets.Part, threads int, outputsTo func(dst, x *mat.Dense),
	add func(row int, x, t, u []float64), poll func() error) error {
	step := errorsChunk * threads
	u := mat.NewDense(max(1, min(p.Of(objective.Rows{Part: of}), step)), p.Network.Outputs(), nil)
	return p.Walk(of, step, func(first int, x, t *mat.Dense) error {
		rows, _ := x.Dims()
		part := models.Doubles(u, 0, rows)
		outputsTo(part, x)
		for i := range rows {
			add(first+i, x.RawRowView(i), t.RawRowView(i), part.RawRowView(i))
		}
		return poll()
	})
}

// splitOf names a part as events do.
func splitOf(part datasets.Part) string {
	if part == datasets.Train {
		return "train"
	}
	return part.String()
}

// kindOf returns what the rows of a problem mean.
func kindOf(p *objective.Problem) score.Kind {
	return score.Kind{Classes: p.Data.Classes, Probabilities: p.Network.Probabilities(),
		Units: p.Data.TargetScaling.Scale, Positive: p.Data.Positive()}
}

// partOf returns the rows that are asked for.
func partOf(c event.ShowErrors) datasets.Part {
	if c.Train {
		return datasets.Train
	}
	return datasets.Test
}

// gathering is an ErrorsEvent in progress.
type gathering struct {
	*score.Gathering
	problem      *objective.Problem
	part         datasets.Part
	rows         int // of the part
	event        event.ErrorsEvent
	residualRows int // how many rows residuals are of
}

func newGathering(p *objective.Problem, c event.ShowErrors) *gathering {
	g := &gathering{
		Gathering: score.Gather(kindOf(p), p.Network.Outputs(), min(c.Worst, maxWorst), p.Network.RowLoss),
		problem:   p, part: partOf(c), rows: p.Of(objective.Rows{Part: partOf(c)}),
		event: event.ErrorsEvent{Train: c.Train, Classes: p.Data.Classes},
	}
	if p.Data.Classes == nil {
		g.residualRows = min(g.rows, maxResiduals)
		g.event.Residuals = make([][]event.Float, p.Network.Outputs())
	}
	return g
}

// add takes the inputs, targets and outputs of the next row.
func (g *gathering) add(row int, x, t, u []float64) {
	g.Add(row, x, t, u)
	if g.event.Residuals == nil {
		return
	}
	if taken := len(g.event.Residuals[0]); taken < g.residualRows && row == taken*g.rows/g.residualRows {
		for k := range g.event.Residuals {
			g.event.Residuals[k] = append(g.event.Residuals[k],
				event.Float((u[k]-t[k])*g.problem.Data.TargetScaling.Scale[k]))
		}
	}
}

// finish describes the worst rows in the units of the data.
func (g *gathering) finish() event.ErrorsEvent {
	e, data := g.event, g.problem.Data
	e.Scores = []event.Scores{g.Scores(splitOf(g.part))}
	e.Confusion = g.Confusion
	height, width := imageSize(g.problem)
	raw := func(scaling *datasets.Scaling, value []float64) []event.Float {
		dst := make([]float64, len(value))
		scaling.RawTo(dst, value)
		return event.Floats(dst)
	}
	for _, b := range g.Worst {
		w := event.WorstRow{Row: b.Row, Loss: event.Float(b.Loss), Target: -1, Output: b.Output, Height: height,
			Width: width}
		w.Inputs = raw(&data.InputScaling, b.Inputs[:data.Inputs()])
		if e.Confusion != nil {
			w.Target = floats.MaxIdx(b.Targets)
		} else {
			w.Targets = raw(&data.TargetScaling, b.Targets)
			w.Outputs = raw(&data.TargetScaling, b.Outputs)
		}
		e.Worst = append(e.Worst, w)
	}
	return e
}
