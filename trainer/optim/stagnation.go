package optim

// hiddenByRounding is why a method stalls at the rounding of the loss.
const hiddenByRounding = "no step changes the loss by more than its rounding"

// patience is how many steps that E does not show are taken before the gradient must have halved.
const patience = 10

// stagnation counts the steps that E does not show.
type stagnation struct {
	steps int
	least float64 // ‖g‖ when they began, or when it had last halved
}

// reached takes note of a step from where the gradient is that long, and reports whether rounding is all that
// still moves the weights.
func (i *stagnation) reached(still bool, gradient float64) bool {
	switch {
	case !still:
		i.steps = 0
	case i.steps == 0 || gradient <= i.least/2:
		i.steps, i.least = 1, gradient
	default:
		i.steps++
	}
	return i.steps > patience
}

func (i *stagnation) remember(m *Archive) {
	m.Count("idle steps", &i.steps, MostCount)
	m.Number("idle gradient", &i.least)
}
