// Package analysis computes what viewers ask to see of a run's weights: the ends of a spectrum, the loss along a step,
// where outputs are wrong, a block of weights. It only reads them.
package analysis

import (
	"slices"

	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// Weights returns the block of weights w from one layer to another, and whether there is one.
func Weights(p *objective.Problem, w []float64, to, from int) (event.WeightsEvent, bool) {
	blocks := p.Blocks()
	i := slices.IndexFunc(blocks, func(b models.Block) bool { return b.To == to && b.From == from })
	if i < 0 {
		return event.WeightsEvent{}, false
	}
	b := &blocks[i]
	e := event.WeightsEvent{To: to, From: from, Rows: b.Rows, Cols: b.Cols, Values: dense(b, w)}
	if from == 0 {
		e.Height, e.Width = imageSize(p)
	}
	return e, true
}

// dense returns the weights of a block row by row, NaN where a sparse one has none.
func dense(b *models.Block, w []float64) []event.Float {
	w = w[b.Offset:][:b.Size()]
	if b.Sources == nil {
		return event.Floats(w)
	}
	out := slices.Repeat([]event.Float{event.Absent}, b.Rows*b.Cols)
	k := 0
	for i := range b.Rows {
		for _, j := range b.Sources.Of(i) {
			out[i*b.Cols+j] = event.Float(w[k])
			k++
		}
	}
	return out
}

// imageSize returns the size of the images that the inputs are, or zeros.
func imageSize(p *objective.Problem) (height, width int) {
	if image := p.Data.Image; image != nil {
		return image.Height, image.Width
	}
	return 0, 0
}
