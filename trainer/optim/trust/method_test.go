package trust

import (
	"testing"

	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

func method(t *testing.T, name string, set ...string) (optim.Method, *optim.Settings) {
	t.Helper()
	return optimtest.Method(t, []*optim.Info{&Newton, &GaussNewton, &GaussNewtonJacobi, &GaussNewtonRows, &Dogleg, &LevenbergMarquardt}, name, set...)
}
