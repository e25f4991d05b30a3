package kronecker

import (
	"math"
	"slices"
	"time"

	"newtop/trainer/optim"
)

// refresh counts how often the factors were refreshed in an epoch, and how long that took.
type refresh struct {
	count int
	time  time.Duration
}

// since counts a refresh.
func (r *refresh) since(began time.Time) {
	r.count++
	r.time += time.Since(began)
}

// report returns what came together, and begins again.
func (r *refresh) report() *optim.Preconditioner {
	p := &optim.Preconditioner{Refreshes: r.count, Time: r.time}
	*r = refresh{}
	return p
}

// refreshes are tasks that can fail, and that tell how many multiplications they took.
type refreshes struct {
	tasks
	outcomes []*outcome
}

type outcome struct {
	spent float64
	err   error
}

func (r *refreshes) add(f func() (spent float64, err error)) {
	o := new(outcome)
	r.outcomes = append(r.outcomes, o)
	r.tasks.add(func() { o.spent, o.err = f() })
}

// do does them, and adds what they took to spent.
func (r *refreshes) do(s *optim.State, spent *float64) error {
	r.tasks.do(s)
	for _, o := range r.outcomes {
		if o.err != nil {
			return o.err
		}
		*spent += o.spent
	}
	return nil
}

// describe returns a factor of a block, of d rows, with a share of its largest value for its damping; NaN: there is
// none. A nil one is left out.
func (f *factor) describe(of optim.Matrix, outputs bool, d int, share float64) optim.Factor {
	t := optim.Factor{To: of.To, From: of.From, Outputs: outputs, Size: d, Damping: math.NaN()}
	if f != nil {
		t.Values = slices.Sorted(slices.Values(f.Values))
		slices.Reverse(t.Values)
		t.Damping = share * t.Values[0]
	}
	return t
}

// restored makes what is not carried, and reports whether there is no factor, or one of d rows.
func (f *factor) restored(d int) bool {
	switch {
	case f == nil:
		return true
	case !f.fits(d):
		return false
	}
	f.room(d)
	return true
}

// columns and rows are the basis with its vectors as such: Q and Qᵀ.
func (f *factor) columns() []float64 { return f.q }

func (f *factor) rows() []float64 { return f.Qt }

// permuteRows and permuteColumns bring what belongs to vectors of a basis into their new order, of v with n columns.
// Old has room for as many numbers.
func permuteRows(v, old []float64, n int, order []int) {
	copy(old, v)
	for i, k := range order {
		copy(v[i*n:][:n], old[k*n:][:n])
	}
}

func permuteColumns(v, old []float64, n int, order []int) {
	copy(old, v)
	for i := 0; i < len(v); i += n {
		for j, k := range order {
			v[i+j] = old[i+k]
		}
	}
}

// charge charges multiplications to the objective, if that counts work.
func charge(s *optim.State, multiplications float64) {
	if o, ok := s.Objective.(optim.ChargedObjective); ok {
		o.Charge(multiplications)
	}
}
