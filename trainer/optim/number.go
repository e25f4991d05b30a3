package optim

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// epsilon is the distance from 1 to the next float64.
const epsilon = 0x1p-52

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// norm returns ‖x‖₂: NaN or +Inf where an entry is, and +Inf where the norm itself is beyond all numbers.
// The plain sum of squares does for all but extreme sizes, several times faster.
func norm(x []float64) float64 {
	square := floats.Dot(x, x)
	if square > 0x1p-900 && square < 0x1p900 {
		return math.Sqrt(square)
	}
	return floats.Norm(x, 2)
}
