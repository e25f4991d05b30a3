package trainer

import (
	"math"
	"slices"
	"testing"

	"newtop/trainer/config"
	"newtop/trainer/event"
)

// TestCommitteeOfIndependentNets trains a committee and, one by one, runs with its seeds.
func TestCommitteeOfIndependentNets(t *testing.T) {
	const size = 3
	for _, opt := range []string{"tr-newton", "adam"} {
		for name, c := range map[string]config.Config{
			"softmax, cross-entropy": {Data: "spirals", Hidden: []int{6}},
			"sigmoid, cross-entropy": {Data: "spirals", Hidden: []int{6}, Out: "sigmoid", Loss: "xent"},
			"tanh, squared error":    {Data: "spirals", Hidden: []int{6}, Out: "tanh"},
			"regression":             {Data: "sine", Hidden: []int{4}},
			"mixture":                {Data: "sine", Experts: 2, ExpertHidden: []int{3}, Gate: "1"},
		} {
			t.Run(opt+" "+name, func(t *testing.T) {
				c.Optimizer, c.Epochs, c.Seed = opt, 4, 5
				alone := make([][]event.EpochEvent, size)
				for i := range alone {
					one := c
					one.Seed += uint64(i)
					alone[i] = of[event.EpochEvent](train(t, one))
				}
				c.Committee = size
				for epoch, e := range of[event.EpochEvent](train(t, c)) {
					loss := 0.0
					for i, m := range e.Members {
						want := &alone[i][epoch]
						if m.Seed != c.Seed+uint64(i) || m.Loss != want.Loss || m.TestLoss != want.TestLoss || m.RMSE != want.RMSE || !same(m.TestError, want.TestError) {
							t.Fatalf("epoch %d, member %d: %+v, alone %+v", epoch, i, m, want)
						}
						loss += float64(m.Loss) / size
					}
					if len(e.Members) != size || !slices.Equal(e.Gates, alone[0][epoch].Gates) || !(float64(e.Loss) <= loss*(1+1e-12)) || !e.TestLoss.Finite() {
						t.Errorf("epoch %d: %d members of a mean loss of %g, together %g", epoch, len(e.Members), loss, e.Loss)
					}
				}
			})
		}
	}
}

func same(a, b event.Float) bool { return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b)) }

// TestCommitteeOfOne is a single net in all it says.
func TestCommitteeOfOne(t *testing.T) {
	c := config.Config{Data: "spirals", Hidden: []int{6}, Epochs: 2}
	want := of[event.EpochEvent](train(t, c))
	c.Committee = 1
	for i, e := range of[event.EpochEvent](train(t, c)) {
		if e.Members != nil || e.Loss != want[i].Loss || e.TestError != want[i].TestError {
			t.Errorf("epoch %d: %+v", i, e)
		}
	}
}
