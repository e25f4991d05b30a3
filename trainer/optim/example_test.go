package optim_test

import (
	"context"
	"fmt"

	"newtop/trainer/optim"
)

// bowl is E = ½(w₀² + 10w₁²).
type bowl struct{}

func (bowl) Dim() int                 { return 2 }
func (bowl) Loss(w []float64) float64 { return (w[0]*w[0] + 10*w[1]*w[1]) / 2 }

func (b bowl) GradientTo(dst, w []float64) float64 {
	dst[0], dst[1] = w[0], 10*w[1]
	return b.Loss(w)
}

var (
	rate = &optim.Number{Key: "rate", Meaning: "the step length", Default: 0.1, Max: optim.Inf, Open: true, OpenMax: true}
	size = &optim.Count{Key: "batch", Meaning: "rows to an update", Default: 64, Max: 1e9}
	mode = &optim.Choice{Key: "mode", Meaning: "how", Choices: []string{"plain", "fancy"}}
)

// A method describes its hyperparameters once, and reads them by variable.
func ExampleParameters() {
	settings := optim.NewSettings(optim.Parameters(rate, size.Starting(32), mode))
	fmt.Println(settings.Put("rate", 0.5), settings.PutText("mode", "fancy"))
	fmt.Println(rate.Of(settings), size.Of(settings), mode.Of(settings))
	// Output:
	// <nil> <nil>
	// 0.5 32 fancy
}

// What a setting can't be is refused, and stays as it was.
func ExampleSettings() {
	settings := optim.NewSettings(optim.Parameters(rate, mode))
	fmt.Println(settings.PutText("rate", "-1"))
	fmt.Println(settings.PutText("mode", "fency"))
	fmt.Println(settings.PutText("rat", "1"))
	// Output:
	// rate = -1: expected a number > 0
	// mode = fency: expected plain or fancy; did you mean fancy?
	// rat = 1: expected one of rate, mode; did you mean rate?
}

// Settings of a recorded run are read from its texts.
func ExampleReadSettings() {
	settings := optim.ReadSettings(optim.Parameters(rate, size), map[string]string{"rate": "0.25"})
	fmt.Println(settings.Get("rate"), settings.Get("batch"))
	// Output: 0.25 NaN
}

// A full-batch step begins with the loss and gradient at the weights, which the state keeps.
func ExampleBegin() {
	state := &optim.State{Objective: bowl{}, W: []float64{3, 0.4}}
	report := optim.NewReport()
	fmt.Println(optim.Begin(context.Background(), state, &report))
	fmt.Println(report.Loss, report.GradientNorm, state.Gradient)
	// Output:
	// <nil>
	// 5.3 5 [3 4]
}

// What a method needs is asked for before a run.
func ExampleOffers() {
	fmt.Println(optim.Offers(bowl{}, optim.NeedsHessian))
	// Output: the objective has no products with the Hessian
}

// The ratio of what a step brought to what its model promised decides about a trust region.
func ExampleRatio() {
	fmt.Printf("%.2f\n", optim.Ratio(5, 3, 4))
	// Output: 0.50
}

// momentum is what a method keeps from one step to the next. The tags name what a checkpoint has of it.
type momentum struct {
	Speed []float64 `archive:"speed"`
	Steps int       `archive:"steps"`
}

// An archive carries state into a checkpoint and out of it.
func ExampleArchive() {
	w := []float64{1, 2}
	saved := optim.NewArchive()
	saved.State(&momentum{Speed: []float64{0.5, -0.5}, Steps: 7}, w)

	var restored momentum
	archive := optim.OpenArchive(saved.Content())
	archive.State(&restored, w)
	fmt.Println(archive.Err(), restored.Speed, restored.Steps)
	// Output: <nil> [0.5 -0.5] 7
}

// Where there is nothing left to do a step says so, and the run ends as finished.
func ExampleStalledError() {
	state := &optim.State{Objective: bowl{}, W: []float64{0, 0}}
	report := optim.NewReport()
	fmt.Println(optim.Begin(context.Background(), state, &report))
	// Output: the gradient is zero
}
