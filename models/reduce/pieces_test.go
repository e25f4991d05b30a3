package reduce

import (
	"fmt"
	"slices"
	"testing"
)

// TestPieces: the mean of vectors that are computed piece by piece, some in single precision, is Sum's to the bit, for any
// number of threads.
func TestPieces(t *testing.T) {
	const rows, cols = 5, 7 // of the vectors' first part; three numbers follow
	pieces := []Piece{{0, 2, 4, cols}, {2 * cols, 3, 4, cols}, {4, rows, 3, cols}, {rows * cols, 1, 3, 3}}
	value := func(block, i int) float64 { return 1 / float64(1+block*block+3*i) }
	for _, blocks := range []int{1, 2, 11, 32, 70} {
		count := blocks*BlockRows - 5
		for _, threads := range []int{1, 3} {
			pool := NewPool(threads)
			r := NewReducer(count, rows*cols+3, 1, pool, nil)
			want, got := make([]float64, rows*cols+3), make([]float64, rows*cols+3)
			r.Sum(0, len(want), func(_ int, sum []float64, first, last int) {
				for i := range want {
					sum[i] = 0
					for block := first; block < last; block++ {
						sum[i] += value(block, i)
					}
					sum[i] = float64(float32(sum[i]))
				}
			}).To(want)
			r.Pieces(pieces, func(_, piece int, sum []float64, first, last int) []float32 {
				p, single := pieces[piece], make([]float32, len(sum))
				clear(sum)
				for i := range sum {
					for block := first; block < last; block++ {
						sum[i] += value(block, p.First+i/p.Cols*p.Stride+i%p.Cols)
					}
					single[i] = float32(sum[i])
					sum[i] = float64(single[i])
				}
				if piece%2 == 0 {
					return nil
				}
				sum[0]++
				return single
			}).To(got)
			pool.Close()
			if !slices.Equal(got, want) {
				t.Errorf("%d blocks, %d threads: %v, expected %v", blocks, threads, got, want)
			}
		}
	}
}

func TestPiecesNeedAllRows(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != "reduce: Pieces where other processes have rows" {
			t.Errorf("panicked with %q", got)
		}
	}()
	NewReducer(BlockRows, 3, 0, nil, &Part{Rows: BlockRows, Size: 1}).Pieces(nil, nil)
}
