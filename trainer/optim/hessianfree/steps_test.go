package hessianfree

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/internal/optimtest"
)

// TestSolutions: with iterations enough s solves (G + λI)s = −g whatever it begins with and whatever precondions it; ρ is the
// decrease of the batch's loss over −q(s), and λ follows it.
func TestSolutions(t *testing.T) {
	for _, precondition := range []string{"none", "diagonal", "kfac"} {
		for _, start := range []string{"0", "0.5", "1"} {
			for _, lambda := range []string{"0.03", "1", "30"} {
				net, w := optimtest.NewNet(4, 3, 3, 24, 2)
				m, settings := method(t, "batch", "0", "iterations", "500", "xi", "1e-12", "warm-start", start, "damping", lambda, "preconditioner", precondition)
				s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
				damping := Damping.Of(settings)
				for k := range 4 {
					from := slices.Clone(s.W)
					p := newProblem(net, from, first(24), first(12), damping)
					before := net.Loss(from)
					r := step(t, m, s)
					want := p.solution()
					rho := (before - net.Loss(added(from, want))) / -p.q(want)
					if math.Abs(r.Rho-rho) > 1e-6*max(1, math.Abs(rho)) {
						t.Fatalf("%s from %s, λ = %s, step %d: ρ = %g, want %g", precondition, start, lambda, k, r.Rho, rho)
					}
					if got := r.Proposal.Step; rho >= 0.25 && !(far(got, want) <= 1e-9*floats.Norm(want, 2)) {
						t.Fatalf("%s from %s, λ = %s, step %d: s is %.1e off", precondition, start, lambda, k, far(got, want))
					}
					to := from
					if r.Accepted {
						to = added(from, r.Proposal.Step)
					}
					if rho >= 0.25 && !r.Accepted || !slices.Equal(s.W, to) || r.Proposal.From != nil || r.Proposal.Rho != r.Rho || r.Proposal.Accepted != r.Accepted {
						t.Errorf("a proposal %+v of a step from %v to %v", r.Proposal, from, s.W)
					}
					switch {
					case rho > 0.75:
						damping *= 2.0 / 3
					case rho < 0.25:
						damping *= 1.5
					}
					if got := optimtest.Diagnostic(t, r, "damping"); math.Abs(got-damping) > 1e-14*damping {
						t.Fatalf("λ = %g after ρ = %g, want %g", got, rho, damping)
					}
					damping = optimtest.Diagnostic(t, r, "damping")
				}
			}
		}
	}
}

func added(x, y []float64) []float64 { return floats.AddTo(make([]float64, len(x)), x, y) }

// TestTruncatedSolutions: after few iterations s is the iterate of plain conjugate gradients from θs₀ on, and −q(s) what it promises,
// with what θs₀ itself promises.
func TestTruncatedSolutions(t *testing.T) {
	for _, iterations := range []int{1, 2, 5, 9} {
		for _, theta := range []float64{0, 0.5, 0.95} {
			net, w := optimtest.NewNet(4, 3, 3, 24, 2)
			m, settings := method(t, "batch", "0", "iterations", fmt.Sprint(iterations), "xi", "1e-14", "warm-start", fmt.Sprint(theta), "adapt", "no", "damping", "0.1")
			s := &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)}
			last := make([]float64, len(w))
			for k := range 5 {
				from := slices.Clone(s.W)
				p := newProblem(net, from, first(24), first(12), 0.1)
				before := net.Loss(from)
				r := step(t, m, s)
				start := slices.Clone(last)
				floats.Scale(theta, start)
				all := p.iterates(start, iterations)
				last = all[iterations-1]
				rho := (before - net.Loss(added(from, last))) / -p.q(last)
				if math.Abs(r.Rho-rho) > 1e-8*max(1, math.Abs(rho)) {
					t.Fatalf("%d iterations, θ = %g, step %d: ρ = %.10g, want %.10g", iterations, theta, k, r.Rho, rho)
				}
				if rho >= 0.25 && !(far(r.Proposal.Step, last) <= 1e-10) {
					t.Fatalf("%d iterations, θ = %g, step %d: s is %.1e off", iterations, theta, k, far(r.Proposal.Step, last))
				}
				if in := r.Inner; len(in) != 1 || in[0].Stop != krylov.Limit || in[0].Iterations != iterations || in[0].Block != 0 {
					t.Errorf("solves %+v", in)
				}
				if optimtest.Diagnostic(t, r, "damping") != 0.1 {
					t.Errorf("λ moved to %g", optimtest.Diagnostic(t, r, "damping"))
				}
			}
		}
	}
}

// TestPath keeps iterates that become rarer, and nothing of the solve before.
func TestPath(t *testing.T) {
	var p path
	for _, n := range []int{3, 3, 5} {
		p.reset(n)
		var want []float64
		for k := 1; k <= 30; k++ {
			s := slices.Repeat([]float64{float64(k)}, n)
			p.add(s, krylov.Iteration{Number: k})
			s[0] = -1 // the path has its own
		}
		for _, kept := range p.iterates {
			if len(kept) != n || kept[0] != kept[n-1] {
				t.Fatalf("kept %v of %d numbers", kept, n)
			}
			want = append(want, kept[0])
		}
		if !slices.Equal(want, []float64{1, 2, 3, 4, 6, 8, 11, 15, 20, 26}) {
			t.Errorf("kept iterates %v", want)
		}
	}
}

// scripted has given losses, one after the other.
type scripted struct {
	optim.Objective
	losses []float64
}

func (o *scripted) Loss([]float64) float64 {
	loss := o.losses[0]
	o.losses = o.losses[1:]
	return loss
}

// TestRules: what a step does for a loss that goes from 1 to another where a decrease of 0.4 is promised.
func TestRules(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		losses []float64 // at s, and at kept iterates from the last one back
		taken  bool
		s      float64 // the first number of s that is left
		times  float64 // λ
	}{
		{[]float64{1 - 0.4*0.7501}, true, 8, 2.0 / 3},
		{[]float64{1 - 0.4*0.7499}, true, 8, 1},
		{[]float64{1 - 0.4*0.2501}, true, 8, 1},
		{[]float64{1 - 0.4*0.2499, 0.95}, true, 8, 1.5},
		{[]float64{1 - 0.4*0.2499, 0.9, 0.91}, true, 2, 1.5},
		{[]float64{0.95, 0.94, 0.93}, true, 1, 1.5},
		{[]float64{1.5, 1.2, 0.99}, true, 1, 1.5},
		{[]float64{1.5, 1.2, 1.3}, false, 2, 1.5},
		{[]float64{1.5, 1.6}, false, 8, 1.5},
		{[]float64{nan, 1.6, 0.5}, true, 1, 1.5},
		{[]float64{nan, nan, 0.5}, true, 1, 1.5},
		{[]float64{inf, 2, 3}, false, 2, 1.5},
		{[]float64{nan, nan, nan}, false, 1, 1.5},
		{[]float64{1, 1}, false, 8, 1.5},
	} {
		for _, rate := range []float64{1, 0.5} {
			m, settings := method(t, "damping", "3")
			h := of(m)
			s := &optim.State{W: []float64{10}, Settings: settings}
			h.Begin(s, rate)
			h.s[0], h.outcome.rho = 8, nan
			h.path.reset(1)
			h.path.add([]float64{1}, krylov.Iteration{Number: 1})
			h.path.add([]float64{2}, krylov.Iteration{Number: 2})
			o := &scripted{losses: slices.Clone(c.losses)}
			h.step(s, o, 1, 0.4)
			want := 10.0
			if c.taken {
				want += rate * c.s
			}
			k := h.memory.Moves
			if s.W[0] != want || h.s[0] != rate*c.s || math.Abs(k.Lambda-3*c.times) > 1e-15 || h.outcome.last != c.taken || len(o.losses) > 0 {
				t.Errorf("%v: weight %g, want %g, s %g, λ %g, %d losses left", c.losses, s.W[0], want, h.s[0], k.Lambda, len(o.losses))
			}
			if start := map[bool]float64{true: 8, false: 0}[c.taken]; k.Step[0] != start {
				t.Errorf("%v: the next solve begins with a share of %g, want %g", c.losses, k.Step[0], start)
			}
		}
	}
}

// TestDampingBounds: λ stays within its bounds however often it is changed.
func TestDampingBounds(t *testing.T) {
	for _, c := range []struct {
		start string
		loss  float64
		want  float64
	}{{"1.1e-10", 0, minLambda}, {"9e9", 2, maxLambda}} {
		m, settings := method(t, "damping", c.start)
		h := of(m)
		s := &optim.State{W: []float64{10}, Settings: settings}
		for range 3 {
			h.Begin(s, 1)
			h.path.reset(1)
			h.step(s, &scripted{losses: []float64{c.loss}}, 1, 0.4)
		}
		if h.memory.Moves.Lambda != c.want {
			t.Errorf("λ from %s to %g, want %g", c.start, h.memory.Moves.Lambda, c.want)
		}
	}
}

// uphill is a net whose loss over samples is such that no step is any good.
type uphill struct {
	*optimtest.Net
	steps int // that are refused
	asked int
}

func (o *uphill) Sample(slot int, rows []int) optim.Objective {
	if part := o.Net.Sample(slot, rows); slot == 0 {
		return part
	}
	o.asked++
	if o.asked > o.steps {
		return o.Net.Sample(slot, rows)
	}
	return &constant{Objective: o.Net, loss: 100}
}

type constant struct {
	optim.Objective
	loss float64
}

func (o *constant) Loss([]float64) float64 { return o.loss }

// TestRefusedSteps leave the weights where they are and raise λ; an epoch of nothing else is not the end of a run.
func TestRefusedSteps(t *testing.T) {
	net, w := optimtest.NewNet(4, 3, 3, 24, 2)
	o := &uphill{Net: net, steps: 3}
	m, settings := method(t, "batch", "0", "damping", "0.2")
	s := &optim.State{Objective: o, W: slices.Clone(w), Settings: settings, Rand: newRand(1)}
	damping := 0.2
	for k := range 4 {
		r := step(t, m, s)
		damping *= map[bool]float64{true: 1.5, false: 2.0 / 3}[k < 3]
		if moved := !slices.Equal(s.W, w); moved != (k == 3) || r.Accepted != moved || r.Proposal.Accepted != moved || refused(t, r) != map[bool]float64{true: 0, false: 1}[moved] {
			t.Errorf("step %d: moved %v, %+v", k, moved, r)
		}
		if got := optimtest.Diagnostic(t, r, "damping"); math.Abs(got-damping) > 1e-14 {
			t.Errorf("step %d: λ = %g, want %g", k, got, damping)
		}
	}
	// Where λ stays as it is, the same step comes again.
	o = &uphill{Net: net, steps: 3}
	m, settings = method(t, "batch", "0", "adapt", "no")
	if _, err := m.Step(t.Context(), &optim.State{Objective: o, W: slices.Clone(w), Settings: settings, Rand: newRand(1)}); !errors.Is(err, optim.ErrStalled) {
		t.Errorf("without an adaption: %v", err)
	}
}

// Martens' rule: with ten iterations to look back over, a solve stands where these brought less than 0.5 % of the decrease.
func TestStands(t *testing.T) {
	fall := func(n int, to func(i int) float64) (q []float64) {
		for i := range n + 1 {
			q = append(q, to(i))
		}
		return q
	}
	halving := func(i int) float64 { return math.Pow(0.5, float64(i)) - 1 }
	for _, c := range []struct {
		q    []float64
		want bool
	}{
		{fall(10, halving), false}, {fall(17, halving), false}, {fall(18, halving), true},
		{fall(30, func(i int) float64 { return -float64(i) }), false},
		{fall(30, func(int) float64 { return 1 }), false}, // from a start that is worse than none
		{fall(200, func(i int) float64 { return -1 - 0.0004*float64(i) }), true},
	} {
		if got := stands(c.q); got != c.want {
			t.Errorf("%v after %d iterations: %v", c.q[len(c.q)-1], len(c.q)-1, got)
		}
	}
	m, settings := method(t, "iterations", "250", "stop", "progress", "preconditioner", "none", "damping", "1", "adapt", "no")
	net, w := optimtest.NewNet(4, 3, 3, 24, 2)
	r := step(t, m, &optim.State{Objective: net, W: w, Settings: settings, Rand: newRand(1)})
	if in := r.Inner[0]; in.Stop != krylov.Progress || in.Iterations < 11 || in.Iterations > 60 {
		t.Errorf("a solve of %d iterations ends by %v", in.Iterations, in.Stop)
	}
}
