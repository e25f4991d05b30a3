package optim

import "math"

const (
	// Eps is the distance from 1 to the next float64.
	Eps = 0x1p-52
	// MinNormal is the smallest normal number: below it a radius or a divisor has lost its digits.
	MinNormal = 0x1p-1022
)

// Inf is the bound of a hyperparameter that has none.
var Inf = math.Inf(1)

// Rounding returns ε, what rounding leaves of a loss.
func Rounding(loss float64) float64 { return 10 * Eps * max(1, math.Abs(loss)) }

// Ratio returns ρ = (ared + ε)/(pred + ε) [MD, eq. 4] for a loss that went from one value to another where a model
// promised the decrease pred. With ε, what rounding leaves of the loss before, ρ → 1 where both vanish (Conn, Gould &
// Toint 2000, §17.4.2).
func Ratio(before, after, promised float64) float64 {
	epsilon := Rounding(before)
	return (before - after + epsilon) / (promised + epsilon)
}
