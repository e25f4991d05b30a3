package vector

import "fmt"

// The functions of columns: x is a matrix without gaps of some rows (nodes) of len(first argument) columns (rows of
// data) each, and every column is on its own.

// rows returns how many rows of cols numbers n of them are.
func rows(n, cols int) int {
	if n == 0 {
		return 0
	}
	if cols == 0 || n%cols != 0 {
		panic(fmt.Sprintf("vector: %d numbers in rows of %d", n, cols))
	}
	return n / cols
}

// ColumnMax stores the largest number of every column in top, by > alone, so that a NaN counts only in the first
// row. There must be one.
func ColumnMax[F Float](top, x []F) {
	cols := len(top)
	n := rows(len(x), cols)
	if fast(cols, len(x)) {
		columnMax(data(top), data(x), n, cols)
		return
	}
	copy(top, x)
	for i := cols; i < len(x); i += cols {
		for j, v := range x[i : i+cols] {
			if v > top[j] {
				top[j] = v
			}
		}
	}
}

// ColumnArgMax stores in at the number of the row where every column of x has its largest number, the first of
// equals, or NaN if one of the column's numbers is NaN; top receives what ColumnMax finds.
func ColumnArgMax[F Float](at, top, x []F) {
	cols := len(at)
	n := rows(len(x), cols)
	if fast(cols, min(len(x), len(top))) {
		columnArgMax(data(at), data(top), data(x), n, cols)
		return
	}
	copy(top, x[:cols])
	clear(at)
	for i := 0; i < len(x); i += cols {
		for j, v := range x[i : i+cols] {
			switch {
			case v > top[j]:
				at[j], top[j] = F(i/cols)+0*at[j], v
			case v != v:
				at[j] = v
			}
		}
	}
}

// ColumnSums stores the sum of every column of x in dst.
func ColumnSums[F Float](dst, x []F) {
	cols := len(dst)
	n := rows(len(x), cols)
	if accelerated() {
		columnSums(data(dst), data(x), n, cols)
		return
	}
	clear(dst)
	for i := 0; i < len(x); i += cols {
		for j, v := range x[i : i+cols] {
			dst[j] += v
		}
	}
}

// ColumnDots stores ⟨x, y⟩ of every column in dst.
func ColumnDots[F Float](dst, x, y []F) {
	cols := len(dst)
	n := rows(len(x), cols)
	if fast(len(x), len(y)) {
		columnDots(data(dst), data(x), data(y), n, cols)
		return
	}
	clear(dst)
	for i := 0; i < len(x); i += cols {
		y := y[i : i+cols]
		for j, v := range x[i : i+cols] {
			dst[j] += v * y[j]
		}
	}
}

// ColumnSoftmax replaces every column of x by e^(x − top) / Σ e^(x − top) and stores the sum in sum; top is the
// column's maximum as ColumnMax finds it.
func ColumnSoftmax[F Float](sum, top, x []F) {
	cols := len(sum)
	n := rows(len(x), cols)
	if fast(cols, len(top)) {
		if isNarrow[F](cols) {
			softmaxNarrow(sum, top, x)
			return
		}
		columnSoftmax(data(sum), data(top), data(x), n, cols)
		return
	}
	for i := 0; i < len(x); i += cols {
		for j, v := range x[i : i+cols] {
			x[i+j] = F(exponential(float64(v - top[j])))
		}
	}
	ColumnSums(sum, x)
	for i := 0; i < len(x); i += cols {
		for j := range x[i : i+cols] {
			x[i+j] /= sum[j]
		}
	}
}

// ColumnCenter stores u∘(x − mean) in dst, mean being one number a column.
func ColumnCenter[F Float](mean, dst, u, x []F) {
	cols := len(mean)
	n := rows(len(dst), cols)
	if fast(len(dst), min(len(u), len(x))) {
		if isNarrow[F](cols) && (data(dst) == data(x) || data(dst) == data(u)) {
			centerNarrow(mean, dst, u, x)
			return
		}
		columnCenter(data(mean), data(dst), data(u), data(x), n, cols)
		return
	}
	for i := 0; i < len(dst); i += cols {
		for j, m := range mean {
			dst[i+j] = u[i+j] * (x[i+j] - m)
		}
	}
}
