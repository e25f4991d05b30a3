package peer

import (
	"slices"
	"strings"
	"testing"

	"newtop/models"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// What no request asks for is lacking, in one line, whatever the model answers.
func TestModelOffers(t *testing.T) {
	m := &Model{about: &About{Name: "m", Has: []string{HasGradient, HasHessian, HasGaussNewton, HasDiagonal, HasEval, HasRows}}}
	for need, want := range map[optim.Capability]string{
		optim.NeedsRows | optim.NeedsGaussNewton: "",
		optim.NeedsFactors:                       "no factors of its curvature",
		optim.NeedsSquares:                       "squares",
		optim.NeedsSample:                        "products over some of its rows",
	} {
		err := m.Offers(need)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%b: %v, expected %q", need, err, want)
		}
	}
}

// A model that is bound to rows, or to batches of them, is asked for those, however several take turns.
func TestParts(t *testing.T) {
	for _, batches := range []any{nil, []int{1, 1, 1}, []int{1, 4, 1}} {
		rows := 3
		if sizes, ok := batches.([]int); ok {
			rows = sizes[0] + sizes[1] + sizes[2]
		}
		c, err := greeted(t, &fake{n: 3, keys: map[string]any{"batches": batches, "rows": rows}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewModel(c)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, test := range []struct {
				rows objective.Rows
				want []float64
				of   int
			}{
				{objective.Rows{}, []float64{1, 2, 3}, rows},
				{objective.Rows{First: 1, Step: 2}, []float64{0, 2, 0}, rows - 2},
				{objective.Rows{First: 0, Step: 2}, []float64{1, 0, 3}, 2},
				{objective.Rows{Count: 2 * rows / 3}, []float64{1, 2, 0}, rows - 1},
			} {
				l, got, g := m.Bind(test.rows, models.Options{}), make([]float64, 3), make([]float64, 3)
				l.Update([]float64{2, 2, 2})
				l.HessianTo(got, []float64{1, 1, 1})
				l.GradientTo(g)
				if !slices.Equal(got, test.want) || !slices.Equal(g, test.want) || l.Rows() != test.of {
					t.Errorf("batches %v, %+v: Hv %v, g %v of %d rows, want %v of %d", batches, test.rows, got, g, l.Rows(), test.want, test.of)
				}
			}
		}
	}
}
