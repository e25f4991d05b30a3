package optim

import "math"

// epsilon is the distance from 1 to the next float64.
const epsilon = 0x1p-52

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
