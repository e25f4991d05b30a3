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
	"newtop/trainer/optim/hessianfree"
	"newtop/trainer/optim/kronecker"
	"newtop/trainer/optim/leastsquares"
	"newtop/trainer/optim/trust"
)

// all is how lists show the methods: the nine that are used most come first, since the screen has a key for each of
// them, then the rest by family.
var all = []*optim.Info{
	&trust.Newton, &trust.GaussNewton, &trust.GaussNewtonJacobi, &kronecker.SOAP, &kronecker.KFAC,
	&hessianfree.HessianFree, &descent.SCG, &firstorder.Adam, &trust.LevenbergMarquardt,
	&trust.Dogleg, &trust.GaussNewtonRows, &kronecker.Shampoo, &kronecker.Muon, &descent.LBFGS, &descent.SCGDifferences,
	&descent.EigenGD, &leastsquares.BPLS, &firstorder.SGD, &firstorder.HeavyBall, &firstorder.NAG, &firstorder.AdaGrad,
	&firstorder.RMSProp, &firstorder.OnlineBP,
}

// All returns every method in the order in which lists show them.
func All() []*optim.Info { return slices.Clone(all) }

// Register adds a method of a program's own to those that Lookup, and so a trainer.Config, know by name: it comes last
// in lists, with the settings of its Parameters. Info has Name, Title, Summary and New at least. A run that is resumed
// continues to the same digits where the method is registered again and its Carried has all that one step leaves for
// the next.
//
// It is called at the start of a program, before anything else uses methods. It panics for a name that another method
// has, and for what no list or setting could show.
func Register(info *optim.Info) {
	switch {
	case info.Name == "" || info.Title == "" || info.Summary == "" || info.New == nil:
		panic("methods: Register: expected a Name, a Title, a Summary and New")
	case strings.ContainsAny(info.Name, " ,.="):
		panic(fmt.Sprintf("methods: Register: %q: expected a name without spaces, commas, points and =", info.Name))
	case slices.ContainsFunc(all, func(m *optim.Info) bool { return m.Name == info.Name }):
		panic(fmt.Sprintf("methods: Register: there is a method %q already", info.Name))
	}
	settings := optim.NewSettings(info.Parameters)
	for i := range info.Parameters {
		h := &info.Parameters[i]
		if err := settings.Set(h.Key, h.Default); err != nil {
			panic(fmt.Sprintf("methods: Register: %s: default %v", info.Name, err))
		}
		if slices.ContainsFunc(info.Parameters[:i], func(o optim.Hyperparameter) bool { return o.Key == h.Key }) {
			panic(fmt.Sprintf("methods: Register: %s has the hyperparameter %s twice", info.Name, h.Key))
		}
	}
	if info.Primary != "" && !settings.Has(info.Primary) {
		panic(fmt.Sprintf("methods: Register: %s: expected its Primary %q among its Parameters", info.Name,
			info.Primary))
	}
	all = append(all, info)
}

// UnknownError says that no method has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	return fmt.Sprintf("unknown optimizer %q: expected one of %s", e.Name, strings.Join(names, ", ")) +
		format.DidYouMean(e.Name, names)
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
