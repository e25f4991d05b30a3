package trainer

import (
	"fmt"

	"newtop/models"
)

// maxExperts bounds the experts of a mixture.
const maxExperts = 1000

// checkExperts looks at what makes a mixture.
func (c *Config) checkExperts() error {
	if c.Experts == 0 {
		for _, other := range []struct{ flag, text string }{{"--gate", c.Gate}, {"--gates", c.GateTraining}} {
			if other.text != "" {
				return &ConfigError{Flag: other.flag, Value: other.text, Expected: "it together with --experts"}
			}
		}
		return nil
	}
	switch {
	case c.Experts < 0 || c.Experts > maxExperts:
		return &ConfigError{Flag: "--experts", Value: fmt.Sprint(c.Experts), Expected: fmt.Sprintf("1 to %d of them", maxExperts)}
	case c.Graph != "":
		return &ConfigError{Flag: "--experts", Value: fmt.Sprint(c.Experts), Expected: "no file of layers beside it, which describes the whole network"}
	case c.Hidden != nil:
		return &ConfigError{Flag: "--net", Value: fmt.Sprint(c.Hidden), Expected: "the layers of the experts in --experts, as in 5x16"}
	case c.Skip != models.SkipNone:
		return &ConfigError{Flag: "--skip", Value: c.Skip.String(), Expected: "none with --experts"}
	case c.Gate == "":
		return &ConfigError{Flag: "--experts", Value: fmt.Sprint(c.Experts), Expected: "--gate with an input or a feature of the data for the gates to look at"}
	}
	for _, n := range c.ExpertHidden {
		if n < 1 {
			return &ConfigError{Flag: "--experts", Value: fmt.Sprint(n), Expected: "layers of at least one node, as in 5x16"}
		}
	}
	return nil
}
