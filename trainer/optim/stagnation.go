package optim

// patience is how many steps that E does not show are taken before the gradient must have halved.
const patience = 10

// Stagnation counts the steps that E does not show.
type Stagnation struct {
	Hidden int     `archive:"idle steps"`
	Min    float64 `archive:"idle gradient"` // ‖g‖ when they began, or when it had last halved
}

// Reached takes note of a step from where the gradient is that long, and reports whether rounding is all that
// still moves the weights.
func (s *Stagnation) Reached(still bool, gradient float64) bool {
	switch {
	case !still:
		s.Hidden = 0
	case s.Hidden == 0 || gradient <= s.Min/2:
		s.Hidden, s.Min = 1, gradient
	default:
		s.Hidden++
	}
	return s.Hidden > patience
}
