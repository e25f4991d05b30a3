package peer

import (
	"strings"
	"testing"

	"newtop/trainer/optim"
)

// What no request asks for is lacking, in one line, whatever the model answers.
func TestModelOffers(t *testing.T) {
	m := &Model{about: &About{Name: "m", Has: []string{HasGradient, HasHessian, HasGaussNewton, HasDiagonal, HasEval, HasRows}}}
	for need, want := range map[optim.Capability]string{
		optim.NeedsRows | optim.NeedsGaussNewton: "",
		optim.NeedsFactors:                       "no factors of its curvature",
		optim.NeedsSquares:                       "squares",
		optim.NeedsSample:                        "products over some of its rows",
	} {
		err := m.Offers(need)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%b: %v, expected %q", need, err, want)
		}
	}
}
