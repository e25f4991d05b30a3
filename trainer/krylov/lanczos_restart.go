package krylov

import "newtop/internal/vector"

// restart makes room in a full basis by thick restarting (Wu & Simon 2000, §2). Ritz vectors y_i = Vᵀs_i take the place
// of the rows, outermost ones of both ends. Since
//
//	H y_i = θ_i y_i + β_m s_mi w/β_m
//
// T becomes the diagonal of their θ with the arms β_m s_mi to the next row, which is w; after it the process continues
// as before.
func (l *lanczos) restart() {
	kept, old := l.outermost()
	m := len(l.theta)
	l.rotate(kept)
	l.basis, l.alpha, l.beta, l.arms = l.basis[:len(kept)], l.alpha[:0], l.beta[:0], nil
	for j, i := range kept {
		l.alpha = append(l.alpha, l.theta[i])
		if j > 0 {
			l.beta = append(l.beta, 0)
		}
		if l.last > 0 {
			l.arms = append(l.arms, l.last*l.vectors[(m-1)*m+i])
		}
	}
	l.block = old
	l.restarts++
}

// outermost returns which Ritz pairs a restart keeps. First come the old ones, of rows before the basis began again:
// they are exact, and one that is not wanted now never will be, as later ones only move outwards (Parlett 1998, §10.1).
// Half of the room beyond what is wanted goes to the pairs next to the wanted ones, which brings these in faster, at an
// end that is good to the other end's. Where nothing couples the basis to the rest, only the wanted ones stay.
func (l *lanczos) outermost() (kept []int, old int) {
	m := len(l.theta)
	top, bottom := l.wanted()
	var fresh []int
	low, high := 0, 0
	for i := range m {
		switch {
		case l.last > 0 && (!l.renewed || l.fresh(i)):
			fresh = append(fresh, i)
			if i < bottom {
				low++
			} else if i >= m-top {
				high++
			}
		case i < bottom || i >= m-top:
			kept = append(kept, i)
		}
	}
	old = len(kept)
	goodLow, goodHigh := l.good()
	if high = max(high, 1); !l.o.TopOnly {
		low = max(low, 1)
	}
	room := l.maxBasis - 2 - (l.maxBasis-l.pairs-3)/2 - old
	for low+high < min(room, len(fresh)) {
		if goodHigh && !goodLow || goodLow == goodHigh && low <= high && !l.o.TopOnly {
			low++
		} else {
			high++
		}
	}
	if low+high >= len(fresh) {
		return append(kept, fresh...), old
	}
	return append(append(kept, fresh[:low]...), fresh[len(fresh)-high:]...), old
}

// lock parts the wanted pairs from the rest where a bounded basis that began again has them good, but outside of what
// was there before: it may never span the invariant subspace, after which it would begin again. It reports whether it
// did.
func (l *lanczos) lock() bool {
	if l.restarts == 0 || !l.renewed || l.last == 0 {
		return false
	}
	if bottom, top := l.good(); !bottom || !top {
		return false
	}
	if !l.freshGood() {
		return false
	}
	l.last = 0
	return true
}

// stripe is how many numbers of each vector rotate has in its hands.
const stripe = 1024

// rotate replaces the first rows of the basis by the given Ritz vectors, in no more memory than stripes of them.
func (l *lanczos) rotate(kept []int) {
	m, n := len(l.theta), len(l.w)
	y := make([]float64, len(kept)*min(stripe, n))
	for from := 0; from < n; from += stripe {
		to := min(from+stripe, n)
		clear(y)
		for k, i := range kept {
			part := y[k*(to-from):][:to-from]
			for j, v := range l.basis {
				vector.Axpy(part, l.vectors[j*m+i], v[from:to])
			}
		}
		for k := range kept {
			copy(l.basis[k][from:to], y[k*(to-from):])
		}
	}
}
