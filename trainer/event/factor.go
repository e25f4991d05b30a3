package event

import "math"

// Extremes returns the least and the greatest of the eigenvalues that are finite. Estimates need not be in order, and
// rounding may leave one below 0. Without any it returns false.
func (f *FactorMetrics) Extremes() (least, greatest float64, ok bool) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for _, v := range f.Eigenvalues {
		if v.Finite() {
			least, greatest = math.Min(least, float64(v)), math.Max(greatest, float64(v))
		}
	}
	return least, greatest, least <= greatest
}

// Condition returns the condition number (λ₁ + d)/(λₙ + d), where d is the damping: how far apart the method scales
// gradients that lie along different eigenvectors. It is +Inf of a factor that is singular in double precision, and NaN
// where there is no factor, or one of nothing but zeros.
func (f *FactorMetrics) Condition() float64 {
	const epsilon = 0x1p-52
	least, greatest, ok := f.Extremes()
	if d := float64(f.Damping); d > 0 {
		least, greatest = math.Max(least, 0)+d, greatest+d
	}
	switch {
	case !ok || !(greatest > 0) || math.IsInf(greatest, 0):
		return math.NaN()
	case !(least > epsilon*float64(max(f.Size, 1))*greatest):
		return math.Inf(1)
	}
	return greatest / least
}
