package cholesky

import (
	"math"
	"sync"

	"newtop/internal/vector"
	"newtop/models/blas"
)

// factoring is a Factorize under way. The caller's goroutine and those it has started draw tiles from it until none is
// left or the work is stopped; then they end, and the caller waits for them.
type factoring struct {
	*Factor
	tiles int // along the diagonal
	all   int // multiply-adds
	parts int // of the work

	watch    func(part, parts int) error // called by the caller's goroutine alone, as reported and err are its
	reported int                         // parts
	err      error

	mu         sync.Mutex // of what follows
	changed    sync.Cond  // a tile is done, or the work is stopped
	i, j       int        // the tile to be drawn next
	done       []int      // how many tiles of each row of tiles, from the left
	count      int        // multiply-adds done
	stopped    bool
	indefinite bool
}

func newFactoring(c *Factor, watch func(part, parts int) error) *factoring {
	f := &factoring{Factor: c, watch: watch, tiles: (c.a.N + tileSize - 1) / tileSize}
	f.changed.L = &f.mu
	f.done = make([]int, f.tiles)
	for j := range f.tiles {
		f.all += f.size(j) * (c.a.N - j*tileSize) * (j*tileSize + f.size(j))
	}
	f.parts = (f.all + partSize - 1) / partSize
	return f
}

// size returns how many rows row i of tiles has.
func (f *factoring) size(i int) int { return min(tileSize, f.a.N-i*tileSize) }

// draw returns the next tile, and whether there is one.
func (f *factoring) draw() (i, j int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, j = f.i, f.j
	if f.stopped || j == f.tiles {
		return 0, 0, false
	}
	if f.i++; f.i == f.tiles {
		f.j++
		f.i = f.j
	}
	return i, j, true
}

// await waits until that many tiles of row i are done. It returns false where the work was stopped before.
func (f *factoring) await(i, count int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.done[i] < count && !f.stopped {
		f.changed.Wait()
	}
	return !f.stopped
}

// finish says that the next tile of row i is done.
func (f *factoring) finish(i int) {
	f.mu.Lock()
	f.done[i]++
	f.mu.Unlock()
	f.changed.Broadcast()
}

// stop ends the work.
func (f *factoring) stop(indefinite bool) {
	f.mu.Lock()
	f.stopped, f.indefinite = true, f.indefinite || indefinite
	f.mu.Unlock()
	f.changed.Broadcast()
}

// add counts multiply-adds, and returns all that were done.
func (f *factoring) add(count int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count += count
	return f.count
}

// report tells the watcher of the parts that are done and were not reported.
func (f *factoring) report(count int) {
	for f.watch != nil && f.err == nil && f.reported < f.parts-1 && (f.reported+1)*partSize <= count {
		f.reported++
		if f.err = f.watch(f.reported, f.parts); f.err != nil {
			f.stop(false)
		}
	}
}

// tileWork is what one worker does.
type tileWork struct {
	*factoring
	*tileSpace
	reports bool // whether it is the caller's goroutine
}

// run computes tiles as long as there are any.
func (w *tileWork) run() {
	for {
		i, j, ok := w.draw()
		if !ok || !w.tile(i, j) {
			return
		}
		w.finish(i)
	}
}

// tile computes L_ij by way of its transpose T, of which all is turned round until it is solved for:
//
//	T = −(A + μI)_ji + Σ_{k<j} L_jk·L_ikᵀ      L_ijᵀ = −L_jj⁻¹·T
//
// It returns false where the work ends.
func (w *tileWork) tile(i, j int) bool {
	rows, cols := w.size(j), w.size(i)
	for r := range rows {
		row := j*tileSize + r
		vector.Scale(w.t[r*cols:][:cols], -1, w.a.Data[row*w.a.Stride+i*tileSize:][:cols])
		if i == j {
			w.t[r*cols+r] -= w.shift
		}
	}
	for k := range j {
		if !w.await(i, k+1) || !w.await(j, k+1) {
			return false
		}
		for p := k * tileSize; p < (k+1)*tileSize; p += tileDepth {
			w.subtract(i, j, p)
		}
		if !w.progress(rows * cols * tileSize) {
			return false
		}
	}
	if i == j {
		if !w.solve(rows, cols, blas.Term[float64]{A: w.t[:], RowStride: 1, ColStride: cols},
			w.diagonal[j*tileSize:][:rows], true) {
			w.stop(true)
			return false
		}
		w.storeCorner(j)
	} else {
		if !w.await(j, j+1) {
			return false
		}
		corner := w.a.Data[j*tileSize*w.a.Stride+j*tileSize:]
		w.solve(rows, cols, blas.Term[float64]{A: corner, RowStride: w.a.Stride, ColStride: 1},
			w.diagonal[j*tileSize:][:rows], false)
		blas.Transpose(w.a.Data[i*tileSize*w.a.Stride+j*tileSize:], w.a.Stride, w.t[:], cols, rows, cols)
	}
	return w.progress(rows * cols * rows)
}

// progress counts multiply-adds, and returns false where the watcher ends the work.
func (w *tileWork) progress(count int) bool {
	count = w.add(count)
	if w.reports {
		w.report(count)
	}
	return !w.reports || w.err == nil
}

// subtract adds what tileDepth columns of L from column p on add to T; of a tile on the diagonal only what is above it
// counts.
func (w *tileWork) subtract(i, j, p int) {
	const stride = tileDepth + tileGap
	rows, cols := w.size(j), w.size(i)
	for r := range rows {
		copy(w.left[r*stride:][:tileDepth], w.row(j*tileSize + r)[p:])
	}
	for s := 0; s < cols; s += tileStep {
		width, height := min(tileStep, cols-s), rows
		if i == j {
			height = s + width
		}
		blas.Transpose(w.right[:], width, w.a.Data[(i*tileSize+s)*w.a.Stride+p:], w.a.Stride, width, tileDepth)
		one := [1]blas.Term[float64]{{A: w.left[:], RowStride: stride, ColStride: 1, B: w.right[:], Stride: width,
			K: tileDepth}}
		blas.Sum(w.t[s:], height, width, cols, blas.Add, nil, one[:])
	}
}

// solve replaces T by −L_jj⁻¹·T for the L_jj whose rows are those of corner and whose diagonal is given. If T is the
// corner itself, whose factor is on the way and of which only the upper triangle counts, it stores the diagonal, and
// returns false where that is not positive.
func (w *tileWork) solve(rows, cols int, corner blas.Term[float64], diagonal []float64, itself bool) bool {
	from := 0
	for b := 0; b < rows; b += tileStep {
		end := min(rows, b+tileStep)
		if itself {
			from = b
		}
		if b > 0 {
			one := [1]blas.Term[float64]{corner}
			one[0].A, one[0].B, one[0].Stride, one[0].K = corner.A[b*corner.RowStride:], w.t[from:], cols, b
			blas.Sum(w.t[b*cols+from:], end-b, cols-from, cols, blas.Add, nil, one[:])
		}
		for r := b; r < end; r++ {
			if itself {
				from = r
			}
			row := w.t[r*cols:][from:cols]
			for k := b; k < r; k++ {
				vector.Axpy(row, corner.A[r*corner.RowStride+k*corner.ColStride], w.t[k*cols:][from:cols])
			}
			if itself {
				if !(-row[0] > 0) {
					return false
				}
				diagonal[r] = math.Sqrt(-row[0])
			}
			vector.Scale(row, -1/diagonal[r], row)
		}
	}
	return true
}

// storeCorner stores what is below the diagonal of L_jj.
func (w *tileWork) storeCorner(j int) {
	size := w.size(j)
	for r := range size {
		row := w.row(j*tileSize + r)[j*tileSize:]
		for k := range row {
			row[k] = w.t[k*size+r]
		}
	}
}
