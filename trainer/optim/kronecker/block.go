// Package kronecker has the methods that scale the gradient of a block of weights from both of its sides: by matrices
// of the size of its outputs and of its inputs, whose Kronecker product stands for the curvature of all of its weights.
package kronecker

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"newtop/internal/vector"
	"newtop/trainer/optim"
)

// block is a matrix among the weights as these methods see it: W of m × n with its biases, if it has any, as the last
// column. What belongs to it lies row by row in vectors of the length of all weights, from number at on.
type block struct {
	optim.Matrix
	m, n, at int
}

// matricesOf returns the blocks of an objective that has matrices.
func matricesOf(o optim.Objective, n int) (all []block, rest []optim.Span) {
	return blocksOf(o.(optim.MatrixObjective).Matrices(), n)
}

// blocksOf returns matrices among n weights, and the numbers that are in none of them.
func blocksOf(matrices []optim.Matrix, n int) (all []block, rest []optim.Span) {
	at, next := 0, 0
	for _, m := range matrices {
		b := block{Matrix: m, m: m.Rows, n: m.Cols, at: at}
		if m.Biased {
			b.n++
		}
		if b.Offset > next {
			rest = append(rest, optim.Span{First: next, Last: b.Offset})
		}
		at += b.size()
		next = b.Offset + b.size()
		all = append(all, b)
	}
	if next < n {
		rest = append(rest, optim.Span{First: next, Last: n})
	}
	return all, rest
}

// size returns how many numbers the block has.
func (b *block) size() int { return b.m * b.n }

// of returns the block's part of a vector.
func (b *block) of(x []float64) []float64 { return x[b.at:][:b.size():b.size()] }

// gather stores the block, out of the flat vector of all weights, in dst, m × n.
func (b *block) gather(dst, flat []float64) {
	if !b.Biased {
		copy(dst, flat[b.Offset:])
		return
	}
	biases := flat[b.Offset+b.Rows*b.Cols:]
	for i := range b.m {
		row := dst[i*b.n:][:b.n]
		copy(row, flat[b.Offset+i*b.Cols:][:b.Cols])
		row[b.Cols] = biases[i]
	}
}

// add adds a times rows [from, to) of x, m × n, to the block in the flat vector of all weights.
func (b *block) add(flat []float64, a float64, x []float64, from, to int) {
	for i := from; i < to; i++ {
		row := x[i*b.n:][:b.n]
		vector.Axpy(flat[b.Offset+i*b.Cols:][:b.Cols], a, row[:b.Cols])
		if b.Biased {
			flat[b.Offset+b.Rows*b.Cols+i] += a * row[b.Cols]
		}
	}
}

// matrix returns rows × cols numbers as gonum's BLAS has them.
func matrix(x []float64, rows, cols, stride int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: x}
}

// leftTo stores rows [from, to) of AX, or with Trans of AᵀX, in dst, for A of m × m and X of the block's size.
func (b *block) leftTo(dst []float64, trans blas.Transpose, a, x []float64, from, to int) {
	rows := matrix(a[from*b.m:], to-from, b.m, b.m)
	if trans == blas.Trans {
		rows = matrix(a[from:], b.m, to-from, b.m)
	}
	blas64.Gemm(trans, blas.NoTrans, 1, rows, matrix(x, b.m, b.n, b.n), 0, matrix(dst[from*b.n:], to-from, b.n, b.n))
}

// rightTo stores rows [from, to) of XB in dst, for X of the block's size and B of n × n.
func (b *block) rightTo(dst, x, right []float64, from, to int) {
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(x[from*b.n:], to-from, b.n, b.n), matrix(right, b.n, b.n, b.n),
		0, matrix(dst[from*b.n:], to-from, b.n, b.n))
}

// transposeTo stores the transpose of x, rows × cols, in dst. It goes in squares that a cache line's numbers share.
func transposeTo(dst, x []float64, rows, cols int) {
	const edge = 8
	for i := 0; i < rows; i += edge {
		for j := 0; j < cols; j += edge {
			for r := i; r < min(i+edge, rows); r++ {
				for c, v := range x[r*cols+j : r*cols+min(j+edge, cols)] {
					dst[(j+c)*rows+r] = v
				}
			}
		}
	}
}

// tasks are pieces of work that threads share. What comes of them does not depend on who does which.
type tasks struct {
	all []func()
	run func(worker, i int)
}

func (t *tasks) add(f func()) { t.all = append(t.all, f) }

// do does them, by the threads of the state.
func (t *tasks) do(s *optim.State) {
	if s.Run == nil || len(t.all) < 2 {
		for _, f := range t.all {
			f()
		}
		return
	}
	if t.run == nil {
		t.run = func(_, i int) { t.all[i]() }
	}
	s.Run(len(t.all), t.run)
}

// taskSize is about how many multiplications a task has: some 10 µs of them.
const taskSize = 1 << 18

// strips calls f for strips of rows of a matrix of that many rows, of which each costs some multiplications.
func strips(rows, cost int, f func(from, to int)) {
	each := max(1, taskSize/max(cost, 1))
	each = min((each+7)&^7, rows) // whole registers
	for from := 0; from < rows; from += each {
		f(from, min(from+each, rows))
	}
}
