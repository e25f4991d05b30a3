package models

import (
	"math"

	"newtop/models/internal/pass"
)

// Evaluation is how well a network does on some rows.
type Evaluation struct {
	Rows    int
	Outputs int
	// Misclassified counts the rows whose largest output is not where the largest target is (the first one of equals),
	// or is not a number. It is 0 where there is only one output, and −1 where an external model does not report it.
	Misclassified int
	Loss          float64 // E, the mean loss
	SquaredError  float64 // Σ ‖u − t‖² over the rows
}

// Error returns the fraction of wrong rows.
func (e Evaluation) Error() float64 { return float64(e.Misclassified) / float64(e.Rows) }

// RMSE returns the root of the mean over rows and outputs of squared residuals.
func (e Evaluation) RMSE() float64 {
	return math.Sqrt(e.SquaredError / (float64(e.Rows) * float64(e.Outputs)))
}

// evaluationOf returns what a tally over that many rows says.
func evaluationOf(rows, outputs int, sum pass.Tally) Evaluation {
	return Evaluation{Rows: rows, Outputs: outputs, Misclassified: sum.Misclassified,
		Loss: sum.Loss / float64(rows), SquaredError: sum.Squared}
}
