package datasets_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
)

// A generated set needs no file. Options say how it is split.
func ExampleLoad() {
	d, err := datasets.Load("spirals", datasets.Options{Rows: 100, Test: "0.2", Validation: "10", Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Title)
	fmt.Println(d.InputNames, d.Classes, d.Train.Rows(), d.Validation.Rows(), d.Test.Rows())
	// Output:
	// two intertwined spirals: 70 training points, 10 validation points, 20 test points
	// [x y] [first second] 70 10 20
}

func ExampleList() {
	fmt.Println(datasets.List()[0].Name)
	// Output: letters
}

// A registered set is split and scaled as all sets are.
func ExampleRegister() {
	datasets.Register(datasets.Info{Name: "squares", Title: "the squares of numbers"}, func(datasets.Options) (*datasets.Rows, error) {
		const rows = 100
		r := &datasets.Rows{Inputs: mat.NewDense(rows, 1, nil), Targets: mat.NewDense(rows, 1, nil)}
		for i := range rows {
			r.Inputs.Set(i, 0, float64(i))
			r.Targets.Set(i, 0, float64(i*i))
		}
		return r, nil
	})
	d, err := datasets.Load("squares", datasets.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Title)
	// Output: the squares of numbers: 80 training rows, 20 test rows
}

// Tanh outputs want classes coded as −1 and 1.
func ExampleDataset_Encode() {
	d, err := datasets.Load("parity", datasets.Options{Rows: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	d.Encode(-1, 1)
	fmt.Println(d.Train.Labels[0], d.Train.Targets.RawRowView(0))
	// Output: 0 [1 -1]
}

// A scaling leads back to the units of the data.
func ExampleScaling() {
	s := datasets.Scaling{Kind: datasets.ScaledStandard, Offset: []float64{20}, Scale: []float64{5}}
	raw := make([]float64, 1)
	s.RawTo(raw, []float64{-1})
	fmt.Println(raw)
	// Output: [15]
}
