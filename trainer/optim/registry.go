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
}

// order is how lists show the methods: the nine that are used most come first, since the screen has a
// key for each of them, then the rest by family.
var order = []string{
	"tr-newton", "tr-gn", "tr-gn-jacobi", "scg", "lbfgs", "sgd", "momentum", "adam", "lm",
	"dogleg", "tr-rows", "scg-fd", "eigen-gd", "bpls", "online-bp", "nag", "adagrad", "rmsprop",
}

var registry = map[string]*Info{}

// register adds a method; every method's file calls it from init.
func register(i Info) {
	if _, dup := registry[i.Name]; dup {
		panic("optim: registered twice: " + i.Name)
	}
	registry[i.Name] = &i
}

// All returns every method in the order in which lists show them.
func All() []*Info {
	all := make([]*Info, 0, len(registry))
	for _, i := range registry {
		all = append(all, i)
	}
	rank := func(i *Info) int {
		if r := slices.Index(order, i.Name); r >= 0 {
			return r
		}
		return len(order)
	}
	slices.SortFunc(all, func(a, b *Info) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// UnknownError says that no method has the name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	names := make([]string, 0, len(registry))
	for _, i := range All() {
		names = append(names, i.Name)
	}
	return fmt.Sprintf("unknown optimizer %q: expected one of %s", e.Name, strings.Join(names, ", "))
}

// Lookup returns the method of that name or an *UnknownError.
func Lookup(name string) (*Info, error) {
	if i, ok := registry[name]; ok {
		return i, nil
	}
	return nil, &UnknownError{Name: name}
}
