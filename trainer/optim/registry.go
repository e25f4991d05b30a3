package optim

import (
	"fmt"
	"slices"
	"strings"
)

// Info describes a method to those who choose one.
type Info struct {
	Name       string           // as in --opt NAME
	Title      string           // for a list, at most 40 columns
	Paper      string           // authors and year
	Equations  string           // what of the paper it implements
	Summary    string           // one sentence: what it does and when to use it
	Cost       string           // what an epoch costs, in gradient equivalents
	Primary    string           // the hyperparameter that + and − scale; empty: it has none
	Needs      Capability       // what it asks of the objective
	Monotone   bool             // whether no step of it can raise the loss
	Proposes   bool             // whether its reports have a Proposal
	Parameters []Hyperparameter // in the order of a form
	New        func() Method    // a fresh one

	// Edge returns the greatest curvature that steps with these settings are stable at, and its formula: on a quadratic
	// the error along an eigenvector of eigenvalue λ shrinks while λ is below. NaN where the settings are not known;
	// nil: there is none, or it is not known. With small batches it is a guide.
	Edge func(*Settings) (curvature float64, formula string)
	// Inner returns what ends an inner solve with these settings: the most iterations, 0 for as many as weights or where
	// that is not known, and the ratio ‖g + Hs‖/‖g‖, NaN where it depends on the gradient or is not known. Nil: the
	// method has no inner solves.
	Inner func(*Settings) (limit int, ratio float64)
}

// all is how lists show the methods: the nine that are used most come first, since the screen has a key for each of them,
// then the rest by family.
var all = []*Info{
	&Newton, &GaussNewton, &GaussNewtonJacobi, &SCG, &LBFGS, &SGD, &HeavyBall, &Adam, &LevenbergMarquardt,
	&Dogleg, &GaussNewtonRows, &SCGDifferences, &EigenGD, &BPLS, &OnlineBP, &NAG, &AdaGrad, &RMSProp,
}

// All returns every method in the order in which lists show them.
func All() []*Info { return slices.Clone(all) }

// UnknownError says that no method has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return fmt.Sprintf("unknown optimizer %q: expected one of %s", e.Name, strings.Join(names, ", "))
}

// Lookup returns the method of that name or an *UnknownError.
func Lookup(name string) (*Info, error) {
	for _, i := range all {
		if i.Name == name {
			return i, nil
		}
	}
	return nil, &UnknownError{Name: name}
}
