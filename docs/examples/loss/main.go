// Command loss registers a loss and a data set, and fits a line in spite of wild targets.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/event"
)

// pseudoHuber is √(1 + r²) − 1 of the residual r = u − t, with its first two derivatives: a square near 0 and |r| far
// away.
func pseudoHuber(u, t float64) (value, slope, curvature float64) {
	r := u - t
	root := math.Sqrt(1 + r*r)
	return root - 1, r / root, 1 / (root * root * root)
}

// wildLine has 300 points near y = 2x + 1, of which one in ten is far above, and behind them 100 on the line to test
// on.
func wildLine(o datasets.Options) (*datasets.Rows, error) {
	const rows, tests = 400, 100
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	set := &datasets.Rows{
		Inputs: mat.NewDense(rows, 1, nil), Targets: mat.NewDense(rows, 1, nil),
		InputNames: []string{"x"}, TargetNames: []string{"y"}, Tests: tests,
	}
	for i := range rows {
		x := 2*rng.Float64() - 1
		y := 2*x + 1
		if i < rows-tests {
			if y += 0.1 * rng.NormFloat64(); rng.IntN(10) == 0 {
				y += 20
			}
		}
		set.Inputs.Set(i, 0, x)
		set.Targets.Set(i, 0, y)
	}
	return set, nil
}

func main() {
	models.RegisterLoss("pseudo-huber", pseudoHuber)
	datasets.Register(datasets.Info{
		Name: "wild-line", Title: "a line with wild targets", Rows: 400, Inputs: 1, Outputs: 1,
		Task: datasets.Regression,
	}, wildLine)

	for _, loss := range []string{"mse", "pseudo-huber"} {
		done := new(end)
		session, err := trainer.New(trainer.Config{Data: "wild-line", Hidden: []int{}, Loss: loss, Epochs: 50, Seed: 1},
			done)
		if err == nil {
			err = session.Run(context.Background())
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: test RMSE %.1f\n", loss, done.TestRMSE)
	}
}

// end keeps how a run ended.
type end struct{ event.DoneEvent }

// Record is called for every event.
func (d *end) Record(e event.Event) error {
	if done, ok := e.(event.DoneEvent); ok {
		d.DoneEvent = done
	}
	return nil
}

// Flush is called after the last event.
func (d *end) Flush() error { return nil }
