package inner

import (
	"math"

	"newtop/internal/format"
	"newtop/tui/chart"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// factorScale is the logarithmic scale that the spectra of all factors share, its ends in quarters of decades.
type factorScale struct{ low, high float64 }

// scaleOf holds all eigenvalues that are not zero in double precision.
func scaleOf(rows []factorRow) factorScale {
	s := factorScale{math.Inf(1), math.Inf(-1)}
	for i := range rows {
		zero := rows[i].zeroBound()
		for _, x := range rows[i].Eigenvalues {
			if x := float64(x); x > zero && format.Finite(x) {
				s.low, s.high = math.Min(s.low, math.Log10(x)), math.Max(s.high, math.Log10(x))
			}
		}
	}
	if s.low > s.high {
		return factorScale{-1, 0}
	}
	s.low, s.high = chart.RoundOutward(s.low, s.high, 0.25)
	if s.high == s.low {
		s.low -= 0.25
	}
	return s
}

// zeroBound is what an eigenvalue of a factor can't be told from zero up to.
func (r *factorRow) zeroBound() float64 {
	const epsilon = 0x1p-52
	if _, greatest, ok := r.Extremes(); ok && greatest > 0 {
		return epsilon * float64(max(r.Size, 1)) * greatest
	}
	return 0
}

// share is where an eigenvalue stands on the scale, from 0 to 1.
func (s factorScale) share(x float64) float64 {
	return max(0, min((math.Log10(x)-s.low)/(s.high-s.low), 1))
}

// text say what the lowest and the highest bar stand for, ever shorter.
func (s factorScale) text(v *pane.View) [][]style.Part {
	level := func(i int) string { return string(v.Glyphs.Levels[i]) }
	low, high := format.Tick(format.Significant(math.Pow(10, s.low), 2)), format.Tick(
		format.Significant(math.Pow(10, s.high), 2))
	ends := []style.Part{style.Accent.Of(level(1)), style.Muted.Of(" " + low + "  "),
		style.Accent.Of(level(len(v.Glyphs.Levels) - 1)), style.Muted.Of(" " + high)}
	return [][]style.Part{append(ends[:4:4], style.Muted.Of("  one log scale for all factors")),
		append(ends[:4:4], style.Muted.Of("  log")), ends}
}

// endsText are the ends of a spectrum.
func (r *factorRow) endsText() string {
	least, greatest, ok := r.Extremes()
	switch {
	case !ok:
		return "–"
	case least <= r.zeroBound():
		least = 0
	}
	return short(greatest) + " to " + short(least)
}

// short writes a number in three digits.
func short(x float64) string { return format.Tick(format.Significant(x, 3)) }

// tag names a factor in the zoomed pane's chart; there are no more letters than 26.
func (r *factorRow) tag() string {
	if r.letter < 26 {
		return style.RacerLetter(r.letter)
	}
	return ""
}

// token is the ink of a factor's curve, the same for both sides of a block, of which that of the inputs is dashed.
func (r *factorRow) token() style.Token { return style.RacerToken(r.number) }
