package optim

import (
	"math"
	"slices"
)

// Floor bounds the preconditioner's spread: a weight that no output feels has a zero in
// diag(JᵀJ), and M must be positive definite.
var Floor = &Number{
	Key: "floor", Meaning: "smallest entry of diag(JᵀJ), relative to its largest", Default: 1e-3, Max: 1, Open: true,
}

// Preconditioner chooses M.
var Preconditioner = &Choice{
	Key: "preconditioner", Meaning: "M = I, or the floored diag(JᵀJ)",
	Choices: []string{"none", preconditionerJacobi}, Source: mizutani + "algorithm E has jacobi",
}

const preconditionerJacobi = "jacobi"

// part says which part of the rows an inner solve works on: the whole is part 0 of 1.
type part struct{ index, of int }

// jacobi is the preconditioner diag(JᵀJ), floored, with what it was made from.
type jacobi struct {
	diagonal []float64
	at       []float64 // the weights; nil: none yet
	rows     part
	floor    float64
}

// of returns the diagonal at w. It is computed once for each place.
func (j *jacobi) of(o GaussNewtonObjective, rows part, w []float64, floor float64) []float64 {
	if floor == j.floor && rows == j.rows && slices.Equal(j.at, w) {
		return j.diagonal
	}
	if len(j.diagonal) != len(w) {
		j.diagonal = make([]float64, len(w))
	}
	o.GaussNewtonDiagTo(j.diagonal, w)
	j.at, j.rows, j.floor = append(j.at[:0], w...), rows, floor
	largest := 0.0
	for _, m := range j.diagonal {
		if finite(m) {
			largest = max(largest, m)
		}
	}
	least := floor * largest
	if !(least >= minNormal) { // no output feels any weight: there is nothing to scale by
		least = 1
	}
	for i, m := range j.diagonal {
		if !(m >= least) || math.IsInf(m, 1) {
			j.diagonal[i] = least
		}
	}
	return j.diagonal
}

func (j *jacobi) remember(m *Archive, weights int) {
	if !m.Has("preconditioner", j.at != nil) {
		return
	}
	m.Vector("diagonal", &j.diagonal, weights)
	m.Vector("diagonal at", &j.at, weights)
	m.Count("diagonal part", &j.rows.index, MostCount)
	m.Count("diagonal parts", &j.rows.of, MostCount)
	m.Number("diagonal floor", &j.floor)
}
