package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/optim"
)

// optKey is the dimension of the methods; on it depends which others a trial has.
const optKey = "opt"

// fields are the keys that are no hyperparameters, each with how a value gets into a configuration.
var fields = map[string]func(c *trainer.Config, value string) bool{
	optKey:      func(c *trainer.Config, v string) bool { c.Optimizer = v; return true },
	"net":       setNet,
	"act":       func(c *trainer.Config, v string) bool { c.Act = v; return true },
	"out":       func(c *trainer.Config, v string) bool { c.Out = v; return true },
	"loss":      func(c *trainer.Config, v string) bool { c.Loss = v; return true },
	"init":      func(c *trainer.Config, v string) bool { c.Init = v; return true },
	"batch":     func(c *trainer.Config, v string) bool { return setCount(&c.Batch, v) },
	"blocks":    func(c *trainer.Config, v string) bool { return setCount(&c.Blocks, v) },
	foldKey:     func(c *trainer.Config, v string) bool { return setCount(&c.Fold, v) },
	"committee": func(c *trainer.Config, v string) bool { return setCount(&c.Committee, v) },

	"l2":              func(c *trainer.Config, v string) bool { return setNumber(&c.L2, v) },
	"input-noise":     func(c *trainer.Config, v string) bool { return setNumber(&c.InputNoise, v) },
	"label-smoothing": func(c *trainer.Config, v string) bool { return setNumber(&c.LabelSmoothing, v) },
	"class-weights": func(c *trainer.Config, v string) bool {
		c.ClassWeights = strings.TrimPrefix(v, "none")
		return true
	},
	"skip": func(c *trainer.Config, v string) (ok bool) {
		var err error
		c.Skip, err = models.ParseSkip(v)
		return err == nil
	},
}

// fieldKeys are the keys of fields in the order in which messages list them.
var fieldKeys = []string{optKey, "net", "act", "out", "loss", "init", "skip", "batch", "blocks", "committee", foldKey,
	"l2", "input-noise", "label-smoothing", "class-weights"}

// expectations say what a field takes that Config.Check does not see.
var expectations = map[string]string{
	"net":   "sizes of hidden layers as in 70-50, none, or a .toml file",
	"skip":  "none, direct or all",
	"batch": "whole numbers ≥ 1", "blocks": "whole numbers ≥ 1", foldKey: "whole numbers ≥ 1",
	"committee": "whole numbers ≥ 1",
	"l2":        "numbers ≥ 0", "input-noise": "numbers ≥ 0", "label-smoothing": "numbers from 0 to 1",
}

// setNet reads what --net takes.
func setNet(c *trainer.Config, v string) bool {
	c.Graph, c.Hidden = "", nil
	switch {
	case v == "none":
		c.Hidden = []int{}
		return true
	case strings.HasSuffix(v, ".toml"):
		c.Graph = v
		return true
	}
	for part := range strings.SplitSeq(v, "-") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return false
		}
		c.Hidden = append(c.Hidden, n)
	}
	return true
}

func setCount(to *int, v string) bool {
	n, err := strconv.Atoi(v)
	*to = n
	return err == nil && n >= 1
}

func setNumber(to *float64, v string) bool {
	f, err := strconv.ParseFloat(v, 64)
	*to = f
	return err == nil
}

// continuous are the fields whose values are any numbers.
func continuous(key string) bool {
	return key == "l2" || key == "input-noise" || key == "label-smoothing"
}

// counted are the fields whose values are whole numbers.
func counted(key string) bool {
	return key == foldKey || key == "batch" || key == "blocks" || key == "committee"
}

// maxChoices bounds a list of values.
const maxChoices = 1000

// ParseDimension reads KEY=A,B,C or KEY=LOW..HIGH with :log or :int behind it, and behind that if KEY=VALUES. It
// returns a *trainer.ConfigError.
func ParseDimension(text string) (Dimension, error) {
	invalid := func(expected string) (Dimension, error) {
		return Dimension{}, &trainer.ConfigError{Field: "Over", Value: text, Expected: expected}
	}
	key, values, ok := strings.Cut(text, "=")
	d := Dimension{Key: strings.TrimSpace(key)}
	values, condition, conditional := strings.Cut(values, " if ")
	values = strings.TrimSpace(values)
	if d.If = strings.ReplaceAll(condition, " ", ""); conditional && d.If == "" {
		return invalid("a condition after if, as in momentum=0..0.99 if opt=sgd")
	}
	if !ok || d.Key == "" || values == "" {
		return invalid("KEY=A,B,C or KEY=LOW..HIGH, as in rate=1e-4..1e-1:log")
	}
	if low, high, ranged := strings.Cut(values, ".."); ranged {
		high, flags, _ := strings.Cut(high, ":")
		for flag := range strings.SplitSeq(flags, ":") {
			switch strings.TrimSpace(flag) {
			case "":
			case "log":
				d.Log = true
			case "int":
				d.Whole = true
			default:
				return invalid("nothing but :log and :int behind the range")
			}
		}
		var bad [2]error
		d.Low, bad[0] = strconv.ParseFloat(strings.TrimSpace(low), 64)
		d.High, bad[1] = strconv.ParseFloat(strings.TrimSpace(high), 64)
		if bad[0] != nil || bad[1] != nil {
			return invalid("two numbers, as in rate=1e-4..1e-1:log")
		}
	} else {
		if strings.Count(values, ",") >= maxChoices {
			return invalid(fmt.Sprintf("at most %d values", maxChoices))
		}
		for v := range strings.SplitSeq(values, ",") {
			d.Choices = append(d.Choices, strings.TrimSpace(v))
		}
	}
	if err := d.Check(); err != nil {
		return invalid(err.(*trainer.ConfigError).Expected)
	}
	return d, nil
}

// Check returns a *trainer.ConfigError for an axis that has no values, whatever its key means.
func (d *Dimension) Check() error {
	invalid := func(expected string) error {
		return &trainer.ConfigError{Field: "Over", Value: d.String(), Expected: expected}
	}
	whole := func(v float64) bool { return v == math.Trunc(v) && math.Abs(v) <= 1<<53 }
	for i, v := range d.Choices {
		if v == "" {
			return invalid("a value between the commas")
		}
		if slices.Index(d.Choices, v) < i {
			return invalid("each value once; " + v + " is there twice")
		}
	}
	on, values := d.condition()
	switch {
	case d.If != "" && (on == "" || slices.Contains(values, "")):
		return invalid("a condition as in momentum=0..0.99 if opt=sgd")
	case d.Key == "" || strings.ContainsAny(d.Key, " =,:"):
		return invalid("a key, as in rate=1e-4..1e-1:log")
	case len(d.Choices) > maxChoices:
		return invalid(fmt.Sprintf("at most %d values", maxChoices))
	case d.Choices != nil:
		return nil
	case !(d.Low < d.High) || math.IsInf(d.Low, 0) || math.IsInf(d.High, 0):
		return invalid("two numbers, the lower one first")
	case d.Log && d.Low <= 0:
		return invalid("numbers > 0 for a logarithmic range")
	case d.Whole && !(whole(d.Low) && whole(d.High)):
		return invalid("whole numbers for a range with :int")
	}
	return nil
}

// condition returns the key and the values of what the dimension depends on; empty: nothing.
func (d *Dimension) condition() (key string, values []string) {
	if d.If == "" {
		return "", nil
	}
	key, text, _ := strings.Cut(d.If, "=")
	return key, strings.Split(text, ",")
}

// String writes the dimension as ParseDimension reads it.
func (d *Dimension) String() string {
	if d.If != "" {
		plain := *d
		plain.If = ""
		return plain.String() + " if " + d.If
	}
	if d.Choices != nil {
		return d.Key + "=" + strings.Join(d.Choices, ",")
	}
	text := d.Key + "=" + optim.Format(d.Low) + ".." + optim.Format(d.High)
	if d.Log {
		text += ":log"
	}
	if d.Whole {
		text += ":int"
	}
	return text
}

// digits is how many digits values of a range have: more tell nobody anything and make long command lines.
const digits = 4

// at returns the value at a place u in [0, 1) of the axis, and where that value lies on it. Whole numbers have equal
// shares of the axis, on a logarithmic one the shares of the intervals between n − ½ and n + ½.
func (d *Dimension) at(u float64) Choice {
	if d.Choices != nil {
		i := min(int(u*float64(len(d.Choices))), len(d.Choices)-1)
		return Choice{Key: d.Key, Value: d.Choices[i], Number: d.positionOf(i)}
	}
	low, high := d.Low, d.High
	if d.Whole {
		low, high = low-0.5, high+0.5
	}
	v := low + u*(high-low)
	if d.Log {
		v = math.Exp(math.Log(low) + u*(math.Log(high)-math.Log(low)))
	}
	text := strconv.FormatFloat(v, 'g', digits, 64)
	if d.Whole {
		text = strconv.FormatFloat(math.Min(math.Max(math.Round(v), d.Low), d.High), 'f', -1, 64)
	}
	v, _ = strconv.ParseFloat(text, 64) // which FormatFloat wrote
	if !(v >= d.Low && v <= d.High) {   // rounded beyond an end
		v = math.Min(math.Max(v, d.Low), d.High)
		text = optim.Format(v)
	}
	return Choice{Key: d.Key, Value: text, Number: d.position(v)}
}

// position returns where a number lies on the axis of a range, 0…1.
func (d *Dimension) position(v float64) float64 {
	low, high := d.Low, d.High
	if d.Log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return math.Min(math.Max((v-low)/(high-low), 0), 1)
}

// positionOf returns where the value of a list lies: with numbers their places in the list, else nowhere, −1.
func (d *Dimension) positionOf(i int) float64 {
	for _, v := range d.Choices {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return -1
		}
	}
	if len(d.Choices) == 1 {
		return 0.5
	}
	return float64(i) / float64(len(d.Choices)-1)
}

// size is how many values the axis has; 0: too many to count.
func (d *Dimension) size() int {
	switch n := d.High - d.Low + 1; {
	case d.Choices != nil:
		return len(d.Choices)
	case d.Whole && n <= maxChoices:
		return int(n)
	}
	return 0
}
