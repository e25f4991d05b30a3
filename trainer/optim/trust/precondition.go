package trust

import (
	"math"
	"slices"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// Floor bounds the preconditioner's spread: a weight that no output feels has a zero in
// diag(JᵀJ), and M must be positive definite.
var Floor = &optim.Number{
	Key: "floor", Meaning: "smallest entry of diag(JᵀJ), relative to its largest", Default: 1e-3, Max: 1, Open: true,
}

// Preconditioner chooses M.
var Preconditioner = &optim.Choice{
	Key: "preconditioner", Meaning: "M = I, or the floored diag(JᵀJ)",
	Choices: []string{"none", preconditionerJacobi}, Source: mizutani + "algorithm E has jacobi",
}

const preconditionerJacobi = "jacobi"

func scaled(s *optim.Settings) bool { return Preconditioner.Of(s) == preconditionerJacobi }

func always(*optim.Settings) bool { return true }

// part says which part of the rows an inner solve works on: the whole is part 0 of 1.
type part struct{ index, of int }

// jacobi is the preconditioner diag(JᵀJ), floored, with what it was made from.
type jacobi struct {
	Diagonal []float64 `archive:"diagonal"`
	At       []float64 `archive:"diagonal at"` // the weights
	Index    int       `archive:"diagonal part"`
	Parts    int       `archive:"diagonal parts"`
	Floor    float64   `archive:"diagonal floor"`
}

// of returns the diagonal at w. It is computed once for each place.
func (j *jacobi) of(o optim.GaussNewtonObjective, rows part, w []float64, floor float64) []float64 {
	if floor == j.Floor && rows == (part{j.Index, j.Parts}) && slices.Equal(j.At, w) {
		return j.Diagonal
	}
	if len(j.Diagonal) != len(w) {
		j.Diagonal = make([]float64, len(w))
	}
	o.GaussNewtonDiagTo(j.Diagonal, w)
	j.At, j.Index, j.Parts, j.Floor = append(j.At[:0], w...), rows.index, rows.of, floor
	largest := 0.0
	for _, m := range j.Diagonal {
		if vector.Finite(m) {
			largest = max(largest, m)
		}
	}
	minimum := floor * largest
	if !(minimum >= optim.MinNormal) { // no output feels any weight: there is nothing to scale by
		minimum = 1
	}
	for i, m := range j.Diagonal {
		if !(m >= minimum) || math.IsInf(m, 1) {
			j.Diagonal[i] = minimum
		}
	}
	return j.Diagonal
}
