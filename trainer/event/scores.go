package event

import "encoding/json"

// Scores tell how well outputs fit the targets of some rows. What does not apply, or has no value there, is Absent.
//
// Of classes: Error, LogLoss, AUC, F1 and Calibration. Of regression: MAE, RMSE and R2, means over the outputs, and the
// first two in the units of the data unless Standardized.
type Scores struct {
	Split string `json:"split,omitempty"` // whose rows: "train", "validation" or "test"; empty: those of another table
	Rows  int    `json:"rows"`
	Error Float  `json:"error"`    // the share of rows whose largest output is not their class's
	Log   Float  `json:"log_loss"` // the mean of −log p of the class, p at least 2⁻⁵²; of softmax outputs
	// the area under the ROC curve; of more than two classes the mean over them, one against the rest
	AUC Float `json:"auc"`
	// 2TP/(2TP + FP + FN) of the class Positive; of more than two classes the mean over those that there are
	F1 Float `json:"f1"`
	// Positive is the class of two that has fewer rows, the second of equals; empty for more.
	Positive string `json:"positive,omitempty"`
	// the expected calibration error, 15 bins of the largest p [Guo et al. 2017]
	Calibration Float `json:"calibration_error"`
	MAE         Float `json:"mae"` // mean absolute error
	RMSE        Float `json:"rmse"`
	R2          Float `json:"r2"` // 1 − Σ(u − t)²/Σ(t − t̄)²
	// MAE and RMSE are in standard deviations of the targets, which have different units
	Standardized bool `json:"standardized,omitempty"`
}

// UnknownScores returns scores of which none is known.
func UnknownScores() Scores { return unknownScores }

var unknownScores = unknown(Scores{})

// UnmarshalJSON reads scores of which some may be missing.
func (s *Scores) UnmarshalJSON(text []byte) error {
	type plain Scores
	v := plain(unknownScores)
	err := json.Unmarshal(text, &v)
	*s = Scores(v)
	return err
}
