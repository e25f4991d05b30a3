package stream

import (
	"math"

	"newtop/trainer/event"
	"newtop/trainer/krylov"
)

// solve is the inner solve of a step as SciPy's trust-constr prints it: how many iterations of CG there were since the
// run began, and a number that says why the newest solve stopped.
type solve struct {
	iterations, stop float64 // of the step under way; NaN: not said
	said             bool    // either was
	before           float64 // iterations of the steps before
}

// scipyStops are the reasons of projected_cg, in scipy/optimize/_trustregion_constr/qp_subproblem.py.
var scipyStops = [...]krylov.Stop{1: krylov.Limit, 2: krylov.Boundary, 3: krylov.NegativeCurvature, 4: krylov.Residual}

// note takes a value of the step under way.
func (s *solve) note(key string, v float64) {
	if key != "cg iter" && key != "cg stop" {
		return
	}
	if !s.said {
		s.iterations, s.stop, s.said = math.NaN(), math.NaN(), true
	}
	if key == "cg iter" {
		s.iterations = v
	} else {
		s.stop = v
	}
}

// add gives an epoch its solve, if both numbers of it were said.
func (s *solve) add(e *event.EpochEvent) {
	if !s.said {
		return
	}
	s.said = false
	n := s.iterations - s.before
	if stop := s.stop; n >= 0 && n < 1<<31 && stop >= 1 && stop <= 4 && stop == math.Trunc(stop) {
		one := event.UnknownSummary()
		one.Iterations, one.Stop = int(n), scipyStops[int(stop)]
		e.Inner = []event.InnerSummary{one}
	}
	s.before = s.iterations
}
