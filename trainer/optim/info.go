package optim

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

	// Diagonal reports whether steps with these settings need the Gauss–Newton matrix's diagonal; nil: none does.
	Diagonal func(*Settings) bool
	// Edge returns the greatest curvature that steps with these settings are stable at, and its formula: on a quadratic
	// the error along an eigenvector of eigenvalue λ shrinks while λ is below. NaN where the settings are not known;
	// nil: there is none, or it is not known. With small batches it is a guide.
	Edge func(*Settings) (curvature float64, formula string)
	// Planned returns the rate of a batch after that many epochs since the method took over, of so many that it has, 0
	// where a run has no end. Nil: the method has no schedule.
	Planned func(set *Settings, done float64, epochs int) float64
	// Inner returns what ends an inner solve with these settings: the most iterations, 0 for as many as weights or
	// where that is not known, and the ratio ‖g + Hs‖/‖g‖, NaN where it depends on the gradient or is not known. Nil:
	// the method has no inner solves.
	Inner func(*Settings) (limit int, ratio float64)
}
