package bench

// Goal is a bound that a figure should keep to, and whether it does. One of the bounds is 0, which means none.
type Goal struct {
	AtMost  float64 `json:"at_most,omitempty"`
	AtLeast float64 `json:"at_least,omitempty"`
	Holds   bool    `json:"holds"`
}

func atMost(figure, bound float64) *Goal { return &Goal{AtMost: bound, Holds: figure <= bound} }

func atLeast(figure, bound float64) *Goal { return &Goal{AtLeast: bound, Holds: figure >= bound} }
