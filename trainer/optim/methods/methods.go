// Package methods lists the training methods.
package methods

import (
	"fmt"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/optim"
	"newtop/trainer/optim/descent"
	"newtop/trainer/optim/firstorder"
	"newtop/trainer/optim/kronecker"
	"newtop/trainer/optim/leastsquares"
	"newtop/trainer/optim/trust"
)

// all is how lists show the methods: the nine that are used most come first, since the screen has a key for each of them,
// then the rest by family.
var all = []*optim.Info{
	&trust.Newton, &trust.GaussNewton, &trust.GaussNewtonJacobi, &descent.SCG, &descent.LBFGS,
	&firstorder.SGD, &firstorder.HeavyBall, &firstorder.Adam, &trust.LevenbergMarquardt,
	&trust.Dogleg, &trust.GaussNewtonRows, &descent.SCGDifferences, &descent.EigenGD, &leastsquares.BPLS,
	&kronecker.SOAP, &kronecker.KFAC, &kronecker.Shampoo, &kronecker.Muon, &firstorder.OnlineBP, &firstorder.NAG, &firstorder.AdaGrad, &firstorder.RMSProp,
}

// All returns every method in the order in which lists show them.
func All() []*optim.Info { return slices.Clone(all) }

// UnknownError says that no method has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return fmt.Sprintf("unknown optimizer %q: expected one of %s", e.Name, strings.Join(names, ", ")) + format.DidYouMean(e.Name, names)
}

// Lookup returns the method of that name or an *UnknownError.
func Lookup(name string) (*optim.Info, error) {
	for _, i := range all {
		if i.Name == name {
			return i, nil
		}
	}
	return nil, &UnknownError{Name: name}
}
