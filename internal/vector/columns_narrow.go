package vector

import "newtop/internal/kernel"

// Where a row is shorter than a vector, reading a row would overlap what was just written of the row before it, and
// wait until that has reached the cache. Functions that work in place then go along the matrix as if it were one long
// vector, with what is one number a column repeated. An element gets the same bits.

// isNarrow says whether a row of cols numbers is shorter than the kernel's vectors.
func isNarrow[F Float](cols int) bool {
	lanes := 32 / size[F]()
	return cols < lanes || cols < 2*lanes && active == kernel.AVX512
}

// repeated is how many numbers of repeated rows there are at most.
const repeated = 64

// repeat fills all with the first numbers of row, row, row …, whole ones, and returns them: no more than n.
func repeat[F Float](all *[repeated]F, row []F, n int) []F {
	n = min(n, repeated/len(row)*len(row))
	for i := 0; i < n; i += len(row) {
		for j, v := range row { // copy takes longer
			all[i+j] = v
		}
	}
	return all[:n]
}

func softmaxNarrow[F Float](sum, top, x []F) {
	if len(sum) == 1 {
		softmaxColumn(data(sum), data(top), data(x), len(x))
		return
	}
	var all [repeated]F
	tops := repeat(&all, top[:len(sum)], len(x))
	for i := 0; i < len(x); i += len(tops) {
		part := x[i:min(i+len(tops), len(x))]
		softmaxPower(data(part), data(tops), len(part))
	}
	ColumnSums(sum, x)
	sums := repeat(&all, sum, len(x))
	for i := 0; i < len(x); i += len(sums) {
		part := x[i:min(i+len(sums), len(x))]
		softmaxShare(data(part), data(sums), len(part))
	}
}

func centerNarrow[F Float](mean, dst, u, x []F) {
	var all [repeated]F
	means := repeat(&all, mean, len(dst))
	for i := 0; i < len(dst); i += len(means) {
		n := min(len(means), len(dst)-i)
		center(data(means), data(dst[i:]), data(u[i:]), data(x[i:]), n)
	}
}
