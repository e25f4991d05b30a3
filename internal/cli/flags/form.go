package flags

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/alert"
	"newtop/trainer/optim"
)

// form is how a flag is written that sets its fields in a way of its own.
type form struct {
	// reports whether the text is one; nil: the field's type says how
	parse    func(c *trainer.Config, text string) bool
	write    func(c *trainer.Config) string
	expected string
}

var netForm = form{
	expected: "sizes of hidden layers as in 70-50, none, or a .toml file",
	parse: func(c *trainer.Config, text string) (ok bool) {
		switch {
		case text == "":
		case text == "none":
			c.Hidden = []int{}
		case strings.HasSuffix(text, ".toml"):
			c.Graph = text
		default:
			c.Hidden, ok = parseLayers(text)
			return ok
		}
		return true
	},
	write: func(c *trainer.Config) string {
		if c.Graph == "" && c.Hidden != nil && len(c.Hidden) == 0 {
			return "none"
		}
		return cmp.Or(c.Graph, dashed(c.Hidden))
	},
}

var skipForm = form{
	expected: "none, direct or all",
	parse: func(c *trainer.Config, text string) bool {
		skip, err := models.ParseSkip(text)
		c.Skip = skip
		return err == nil
	},
	write: func(c *trainer.Config) string { return c.Skip.String() },
}

var expertsForm = form{
	expected: "a number and hidden layers, as in 5x16 or 3x20-10",
	parse: func(c *trainer.Config, text string) (ok bool) {
		if text == "" {
			return true
		}
		count, hidden, _ := strings.Cut(text, "x")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return false
		}
		c.Experts = n
		c.ExpertHidden, ok = parseLayers(hidden)
		return ok
	},
	write: func(c *trainer.Config) string {
		if c.Experts == 0 {
			return ""
		}
		return fmt.Sprintf("%dx%s", c.Experts, dashed(c.ExpertHidden))
	},
}

var committeeForm = form{write: func(c *trainer.Config) string { return strconv.Itoa(max(c.Committee, 1)) }}

var patienceForm = form{
	expected: "a whole number ≥ 1, or never",
	parse: func(c *trainer.Config, text string) (ok bool) {
		switch text {
		case "":
			return true
		case "never":
			c.Patience = -1
			return true
		}
		n, err := strconv.Atoi(text)
		c.Patience = n
		return err == nil && n >= 1
	},
	write: func(c *trainer.Config) string {
		switch {
		case c.Patience < 0:
			return "never"
		case c.Patience == 0:
			return ""
		}
		return strconv.Itoa(c.Patience)
	},
}

var rowsForm = form{
	expected: "a whole number ≥ 1, or all",
	parse: func(c *trainer.Config, text string) bool {
		if text == "all" {
			c.SpectrumRows = -1
			return true
		}
		n, err := strconv.Atoi(text)
		c.SpectrumRows = n
		return err == nil && n > 0
	},
	write: func(c *trainer.Config) string {
		if c.SpectrumRows < 0 {
			return "all"
		}
		return strconv.Itoa(c.SpectrumRows)
	},
}

var memoryForm = form{
	expected: "a size as in 512M or 2G",
	parse: func(c *trainer.Config, text string) (ok bool) {
		c.Memory, ok = parseSize(text)
		return ok
	},
	write: func(c *trainer.Config) string { return size(c.Memory) },
}

var untilForm = form{
	expected: "terms with or between them: 90s, 200 epochs, or a metric, <, <=, > or >=, and a number, as in error<5%",
	parse: func(c *trainer.Config, text string) bool {
		if text == "" {
			return true
		}
		until, err := alert.ParseUntil(text)
		if err != nil {
			return false
		}
		limits := until.Limits()
		c.TimeLimit, c.TargetLoss, c.TargetError, c.Until = limits.Time, limits.TrainLoss, limits.Error, limits.Rest
		if limits.Epochs > 0 {
			c.Epochs = limits.Epochs
		}
		return true
	},
	write: func(c *trainer.Config) string {
		var terms []string
		if c.TargetLoss > 0 {
			terms = append(terms, "train_loss<="+optim.Format(c.TargetLoss))
		}
		if c.TargetError > 0 {
			terms = append(terms, "error<="+optim.Format(c.TargetError))
		}
		if c.TimeLimit > 0 {
			terms = append(terms, c.TimeLimit.String())
		}
		if c.Until != "" {
			terms = append(terms, c.Until)
		}
		return strings.Join(terms, " or ")
	},
}

// parseLayers reads layers as in 70-50.
func parseLayers(text string) (out []int, ok bool) {
	for _, part := range strings.Split(text, "-") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// dashed writes layers as in 70-50.
func dashed(layers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(layers), "[]"), " ", "-")
}

// units are those of sizes, as powers of 2.
var units = []struct {
	name string
	bits int
}{{"G", 30}, {"M", 20}, {"K", 10}}

// parseSize reads a number of bytes with an optional unit K, M or G of 1024.
func parseSize(text string) (int64, bool) {
	number, shift := strings.TrimSuffix(strings.ToUpper(text), "B"), 0
	for _, unit := range units {
		if rest, ok := strings.CutSuffix(number, unit.name); ok {
			number, shift = rest, unit.bits
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0) || v*math.Exp2(float64(shift)) > math.MaxInt64/2 {
		return 0, false
	}
	return int64(v * math.Exp2(float64(shift))), true
}

// size writes a number of bytes as parseSize reads it.
func size(n int64) string {
	for _, unit := range units {
		if n >= 1<<unit.bits && n%(1<<unit.bits) == 0 {
			return strconv.FormatInt(n>>unit.bits, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}
