package optim_test

import (
	"fmt"

	"newtop/trainer/optim"
)

var (
	rate = &optim.Number{Key: "rate", Meaning: "the step length", Default: 0.1, Max: optim.Inf, Open: true, OpenMax: true}
	size = &optim.Count{Key: "batch", Meaning: "rows to an update", Default: 64, Max: 1e9}
	mode = &optim.Choice{Key: "mode", Meaning: "how", Choices: []string{"plain", "fancy"}}
)

// A method describes its hyperparameters once, and reads them by variable.
func ExampleParameters() {
	settings := optim.NewSettings(optim.Parameters(rate, size.Starting(32), mode))
	fmt.Println(settings.Set("rate", 0.5), settings.SetText("mode", "fancy"))
	fmt.Println(rate.Of(settings), size.Of(settings), mode.Of(settings))
	// Output:
	// <nil> <nil>
	// 0.5 32 fancy
}

// What a setting can't be is refused, and stays as it was.
func ExampleSettings() {
	settings := optim.NewSettings(optim.Parameters(rate, mode))
	fmt.Println(settings.SetText("rate", "-1"))
	fmt.Println(settings.SetText("mode", "fency"))
	fmt.Println(settings.SetText("rat", "1"))
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
