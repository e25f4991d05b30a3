package methods_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"newtop/trainer/krylov"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// rosenbrock is E = (1 − x)² + 100(y − x²)², with products of its Hessian.
type rosenbrock struct{}

func (rosenbrock) Dim() int { return 2 }

func (rosenbrock) Loss(w []float64) float64 {
	x, y := w[0], w[1]
	return (1-x)*(1-x) + 100*(y-x*x)*(y-x*x)
}

func (r rosenbrock) GradientTo(dst, w []float64) float64 {
	x, y := w[0], w[1]
	dst[0], dst[1] = -2*(1-x)-400*x*(y-x*x), 200*(y-x*x)
	return r.Loss(w)
}

func (rosenbrock) Hessian(w []float64) krylov.Operator { return hessian{w[0], w[1]} }

type hessian struct{ x, y float64 }

func (hessian) Dim() int { return 2 }

func (h hessian) MulVecTo(dst, v []float64) {
	dst[0] = (2-400*h.y+1200*h.x*h.x)*v[0] - 400*h.x*v[1]
	dst[1] = -400*h.x*v[0] + 200*v[1]
}

// Any method minimizes any function that offers what it needs.
func ExampleLookup() {
	info, err := methods.Lookup("tr-newton")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := optim.Offers(rosenbrock{}, info.Needs); err != nil {
		fmt.Println(err)
		return
	}
	method := info.New()
	state := &optim.State{
		Objective: rosenbrock{}, W: []float64{-1.2, 1},
		Settings: optim.NewSettings(info.Parameters), Rand: rand.New(rand.NewPCG(1, 1)),
	}
	for state.Epoch = 0; state.Epoch < 100; state.Epoch++ {
		if _, err := method.Step(context.Background(), state); errors.Is(err, optim.ErrStalled) {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("%.4f\n", state.W)
	// Output: [1.0000 1.0000]
}

func ExampleAll() {
	for _, info := range methods.All()[:3] {
		fmt.Println(info.Name, "–", info.Title)
	}
	// Output:
	// tr-newton – Trust-region Newton CG, exact Hessian
	// tr-gn – Trust-region Gauss–Newton CG
	// tr-gn-jacobi – Trust-region Gauss–Newton, diag(JᵀJ)
}

// A registered method is known by its name, as to a trainer.Config.
func ExampleRegister() {
	info, err := methods.Lookup("sgd")
	if err != nil {
		fmt.Println(err)
		return
	}
	mine := *info
	mine.Name, mine.Title = "my-sgd", "My gradient descent"
	methods.Register(&mine)
	found, err := methods.Lookup("my-sgd")
	fmt.Println(found.Title, err)
	// Output: My gradient descent <nil>
}
