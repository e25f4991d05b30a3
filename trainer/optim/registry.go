package optim

import (
	"fmt"
	"slices"
	"strings"
)

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
