package objective

import (
	"fmt"
	"testing"

	"newtop/models"
	"newtop/trainer/optim"
)

// tensors is a model elsewhere that knows its tensors of two dimensions or more, of which the second is a table, and nothing else.
type tensors struct {
	External
	weights []models.Block
}

func (f *tensors) Weights() []models.Block { return f.weights }

func (f *tensors) FactorMatrices() []optim.Matrix {
	return []optim.Matrix{{Rows: 1, Cols: 5, Offset: 45, DiagonalInputs: true}, {Rows: 2, Cols: 5, Offset: 50, DiagonalOutputs: true}}
}

func TestMatricesOfObjectives(t *testing.T) {
	const chain = "[{1 0 4 3 0 true false false} {2 0 2 3 16 false false false} {2 1 2 4 22 true false false}]"
	const experts = "[{1 0 3 2 0 true false false} {2 1 2 3 9 true false false} {3 0 3 2 17 true false false} {4 3 2 3 26 true false false}]"
	net, _ := bound(t, models.Chain(3, []int{4}, 2, models.Tanh, models.Identity, models.SquaredError, models.SkipAll), 5)
	mixture, _ := bound(t, decaying()["mixture"], 5)
	external := &Objective{problem: &Problem{External: &tensors{weights: []models.Block{
		{To: 1, From: 0, Rows: 5, Cols: 9, Offset: 0}, {To: 3, From: 2, Rows: 1, Offset: 50}, {To: 4, From: 3, Rows: 2, Cols: 5, Offset: 50},
	}}}}
	for _, c := range []struct {
		o    optim.MatrixObjective
		want string
	}{
		{net, chain}, {mixture, experts}, {FixGates(mixture), experts}, {external, "[{1 0 5 9 0 false false false} {4 3 2 5 50 false false true}]"},
	} {
		if got := fmt.Sprint(c.o.Matrices()); got != c.want {
			t.Errorf("%s, expected %s", got, c.want)
		}
	}
}

// Multiplications are charged in gradients over all rows, by a part of the rows as by the whole.
func TestMultiplicationsAreCharged(t *testing.T) {
	const rows = 12
	o, _ := bound(t, decaying()["mixture"], rows)
	all := 5 * o.problem.Network.Cost().Gradient * rows // of five gradients
	for _, charged := range []optim.ChargedObjective{o, FixGates(o), o.Blocks(3)[1].(*Objective)} {
		before := o.Spent.Equivalents
		charged.Charge(all)
		if got := o.Spent.Equivalents - before; !near(got, 5) {
			t.Errorf("%v gradient equivalents, expected 5", got)
		}
	}
}
