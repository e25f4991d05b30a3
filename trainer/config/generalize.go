package config

import (
	"newtop/datasets"
)

// balanced is the one way of ClassWeights.
const balanced = "balanced"

// TargetCoding codes classes for what a network is trained on: how its outputs want them, and on the training rows as
// LabelSmoothing and ClassWeights say. Other rows are what predictions are held against, and stay whole.
type TargetCoding struct {
	Low, High float64   // of the outputs
	Smoothing float64   // ε
	Weights   []float64 // of each class's rows; nil: 1
}

// Encode codes the classes of a data set again: with K classes, a row of class c and weight s has the targets
//
//	t_k = s·(low + (high − low)·((1 − ε)·[k = c] + ε/K))
//
// After softmax, where low is 0 and high 1, the cross-entropy −Σ t_k log u_k is then s times the row's, and so are its
// derivatives.
func (t *TargetCoding) Encode(d *datasets.Dataset) {
	if t.Low != 0 || t.High != 1 {
		d.Encode(t.Low, t.High)
	}
	if t.Smoothing == 0 && t.Weights == nil {
		return
	}
	rest := t.Smoothing / float64(len(d.Classes))
	off := t.Low + (t.High-t.Low)*rest
	on := t.Low + (t.High-t.Low)*(1-t.Smoothing+rest)
	for i, label := range d.Train.Labels {
		weight := 1.0
		if t.Weights != nil {
			weight = t.Weights[label]
		}
		row := d.Train.Targets.RawRowView(i)
		for k := range row {
			row[k] = weight * off
		}
		row[label] = weight * on
	}
}

// ClassWeights returns n/(K·n_c) for each of K classes that are among n rows n_c times, so that all of them count alike
// and the mean weight of the rows is 1. A class that is not there has none.
func ClassWeights(counts []int, rows int) []float64 {
	classes := 0
	for _, n := range counts {
		if n > 0 {
			classes++
		}
	}
	weights := make([]float64, len(counts))
	for i, n := range counts {
		if n > 0 {
			weights[i] = float64(rows) / (float64(classes) * float64(n))
		}
	}
	return weights
}
