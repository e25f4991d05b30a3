package methods

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/optim"
	"newtop/trainer/optim/firstorder"
)

// TestRegister: a method is known by its name, behind the others, and what can't be is refused.
func TestRegister(t *testing.T) {
	before := all
	t.Cleanup(func() { all = before })
	own := firstorder.SGD
	own.Name = "own"
	Register(&own)
	if got, err := Lookup("own"); got != &own || err != nil {
		t.Errorf("own is %v, %v", got, err)
	}
	if list := All(); list[len(list)-1] != &own || len(list) != len(before)+1 {
		t.Errorf("own is not the last of %d methods", len(list))
	}
	for _, c := range []struct {
		change func(*optim.Info)
		want   string
	}{
		{func(*optim.Info) {}, `a method "own" already`},
		{func(i *optim.Info) { i.Name = "sgd" }, `a method "sgd" already`},
		{func(i *optim.Info) { i.Name = "a.b" }, "without spaces"},
		{func(i *optim.Info) { i.Name, i.New = "other", nil }, "and New"},
		{func(i *optim.Info) { i.Name, i.Primary = "other", "speed" }, `Primary "speed"`},
		{func(i *optim.Info) {
			i.Name, i.Parameters = "other", slices.Concat(i.Parameters, i.Parameters[:1])
		}, "rate twice"},
		{func(i *optim.Info) {
			i.Name, i.Primary, i.Parameters = "other", "", []optim.Hyperparameter{{Key: "x", Default: 2, Max: 1}}
		}, "default x = 2: expected"},
	} {
		other := own
		c.change(&other)
		if got := panicOf(func() { Register(&other) }); !strings.Contains(got, c.want) {
			t.Errorf("%q, expected %q", got, c.want)
		}
	}
}

func panicOf(call func()) (text string) {
	defer func() {
		if fault := recover(); fault != nil {
			text = fmt.Sprint(fault)
		}
	}()
	call()
	return ""
}
