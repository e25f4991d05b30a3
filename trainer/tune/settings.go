package tune

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"newtop/internal/format"
	"newtop/trainer"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// space is what is searched: axes, of which a trial has those that its method knows and whose condition it meets.
type space struct {
	base    trainer.Config
	axes    []axis
	methods []*optim.Info // that trials may have; nil: they are a program's, which knows all axes
}

// axis is a dimension with what its key means.
type axis struct {
	Dimension
	method string // the only one that has it; empty: all that know the key
	key    string // without the method
}

// newSpace checks everything that can go wrong without data. It returns a *trainer.ConfigError or what Config.Check
// does.
func newSpace(base trainer.Config, over []Dimension) (*space, error) {
	if base.Optimizer == "" {
		base.Optimizer = trainer.DefaultOptimizer
	}
	s, err := axesOf(over, false)
	if err != nil {
		return nil, err
	}
	s.base = base
	names := []string{base.Optimizer}
	if len(s.axes) > 0 && s.axes[0].Key == optKey {
		names = s.axes[0].Choices
	}
	for _, name := range names {
		info, err := methods.Lookup(name)
		if err != nil {
			return nil, err
		}
		s.methods = append(s.methods, info)
	}
	if err := s.checkSet(); err != nil {
		return nil, err
	}
	for _, info := range s.methods {
		if _, err := s.checked(info, nil); err != nil {
			return nil, err
		}
	}
	for i := range s.axes {
		if err := s.check(&s.axes[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// axesOf checks what does not depend on what the keys mean.
func axesOf(over []Dimension, program bool) (*space, error) {
	s := &space{}
	for i := range over {
		d := over[i]
		if err := d.Check(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(s.axes, func(a axis) bool { return a.Key == d.Key }) {
			return nil, &trainer.ConfigError{Field: "Over", Value: d.String(), Expected: "each key once"}
		}
		a := axis{Dimension: d, key: d.Key}
		if method, key, ok := strings.Cut(d.Key, "."); ok && !program {
			a.method, a.key = method, key
		}
		if a.Choices == nil && !program {
			a.Whole = a.Whole || counted(a.key)
		}
		s.axes = append(s.axes, a)
	}
	if !program { // which axes a trial has follows from its method, which therefore comes first
		sort.SliceStable(s.axes, func(i, j int) bool { return rank(s.axes[i].Key) < rank(s.axes[j].Key) })
	}
	return s, s.checkConditions()
}

// checkConditions refuses a condition that is not on a list before it, of which it has values.
func (s *space) checkConditions() error {
	for i := range s.axes {
		key, values := s.axes[i].condition()
		if key == "" {
			continue
		}
		at := slices.IndexFunc(s.axes[:i], func(a axis) bool { return a.Key == key && a.Choices != nil })
		expected := "a condition on a list of --over before it, as in momentum=0..0.99 if opt=sgd"
		if at >= 0 {
			known := s.axes[at].Choices
			if !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(known, v) }) {
				continue
			}
			expected = "values of " + key + " in the condition: " + strings.Join(known, ", ")
		}
		return &trainer.ConfigError{Field: "Over", Value: s.axes[i].String(), Expected: expected}
	}
	return nil
}

func rank(key string) int {
	if key == optKey {
		return 0
	}
	return 1
}

// knows reports whether a method has the axis in its trials, if no axis of its own takes its place.
func (a *axis) knows(info *optim.Info) bool {
	if a.method != "" && a.method != info.Name {
		return false
	}
	if _, field := fields[a.key]; field && a.key != "batch" && a.key != "blocks" {
		return a.method == "" || a.key != optKey
	}
	return parameter(info, a.key) != nil
}

// parameter returns the method's hyperparameter of that name, or nil.
func parameter(info *optim.Info, key string) *optim.Hyperparameter {
	i := slices.IndexFunc(info.Parameters, func(h optim.Hyperparameter) bool { return h.Key == key })
	if i < 0 {
		return nil
	}
	return &info.Parameters[i]
}

// check tries every choice, or both ends, of an axis with every method that knows it.
func (s *space) check(a *axis) error {
	invalid := func(expected string) error {
		return &trainer.ConfigError{Field: "Over", Value: a.String(), Expected: expected}
	}
	if a.Key == optKey {
		if a.Choices == nil {
			return invalid("a list of optimizers, as in opt=tr-gn,adam")
		}
		return nil // the methods were looked up
	}
	known, whole := false, true
	for _, info := range s.methods {
		if !a.knows(info) {
			continue
		}
		known = true
		h := parameter(info, a.key)
		whole = whole && h != nil && h.Integer
		if h != nil && h.Choices != nil && a.Choices == nil {
			return invalid("a list of " + h.Range())
		}
	}
	if !known {
		return invalid(s.known(a))
	}
	if _, field := fields[a.key]; field && a.Choices == nil && !counted(a.key) && !continuous(a.key) {
		return invalid("a list of values, as in " + a.key + "=A,B")
	}
	if whole && a.Choices == nil {
		a.Whole = true
	}
	if err := a.Check(); err != nil {
		return err
	}
	for _, info := range s.methods {
		if !a.knows(info) {
			continue
		}
		for _, v := range a.samples() {
			if expected, err := s.checked(info, &Choice{Key: a.Key, Value: v}); err != nil {
				return invalid(expected)
			}
		}
	}
	return nil
}

// samples returns the values of an axis that stand for all.
func (a *axis) samples() []string {
	if a.Choices != nil {
		return a.Choices
	}
	return []string{optim.Format(a.Low), optim.Format(a.High)}
}

// known lists what an unknown key could have been.
func (s *space) known(a *axis) string {
	var names []string
	for _, info := range s.methods {
		names = append(names, info.Name)
	}
	if a.method != "" && !slices.Contains(names, a.method) {
		return "a method that is searched before the point: " + strings.Join(names, ", ") +
			format.DidYouMean(a.method, names)
	}
	var keys []string
	for _, info := range s.methods {
		for _, h := range info.Parameters {
			if (a.method == "" || a.method == info.Name) && !slices.Contains(keys, h.Key) {
				keys = append(keys, h.Key)
			}
		}
	}
	own := slices.DeleteFunc(slices.Clone(fieldKeys), func(key string) bool {
		return counted(key) && key != "committee" && !slices.Contains(keys, key) // which no method that is searched has
	})
	keys = slices.DeleteFunc(keys, counted)
	if a.method != "" {
		return fmt.Sprintf("a hyperparameter of %s: %s", a.method, strings.Join(keys, ", ")) +
			format.DidYouMean(a.key, keys)
	}
	return fmt.Sprintf("one of %s, or a hyperparameter of %s: %s", strings.Join(own, ", "), strings.Join(names, ", "),
		strings.Join(keys, ", ")) +
		format.DidYouMean(a.key, slices.Concat(own, keys))
}

// checked returns what is wrong with a method's trial that has one value, and what was expected.
func (s *space) checked(info *optim.Info, choice *Choice) (expected string, err error) {
	choices := []Choice{{Key: optKey, Value: info.Name}}
	if choice != nil {
		choices = append(choices, *choice)
	}
	c, err := s.config(choices)
	if err == nil {
		err = c.Check()
	}
	var config *trainer.ConfigError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &config):
		return config.Expected, err
	}
	return err.Error(), err
}

// checkSet returns an error for a fixed hyperparameter that none of the methods has.
func (s *space) checkSet() error {
	for _, kv := range s.base.Set {
		key := settingKey(kv)
		if !slices.ContainsFunc(s.methods, func(info *optim.Info) bool { return parameter(info, key) != nil }) {
			return &trainer.ConfigError{Field: "Set", Value: kv,
				Expected: "a hyperparameter of a method that is searched"}
		}
	}
	return nil
}

func settingKey(kv string) string {
	key, _, _ := strings.Cut(kv, "=")
	return strings.TrimSpace(key)
}

// branch is the number of a trial's method, 0 for programs, and branches how many there are.
func (s *space) branch(choices []Choice) int {
	if s.methods == nil {
		return 0
	}
	return slices.Index(s.methods, s.methodOf(choices))
}

func (s *space) branches() int { return max(1, len(s.methods)) }

// methodOf returns the method of a trial.
func (s *space) methodOf(choices []Choice) *optim.Info {
	name := s.base.Optimizer
	if i := slices.IndexFunc(choices, func(c Choice) bool { return c.Key == optKey }); i >= 0 {
		name = choices[i].Value
	}
	info, err := methods.Lookup(name)
	if err != nil {
		panic("tune: " + err.Error())
	}
	return info
}

// config returns what a trial trains. Fixed hyperparameters that its method does not have are left out, as axes are.
func (s *space) config(choices []Choice) (trainer.Config, error) {
	c, info := s.base, s.methodOf(choices)
	c.Optimizer = info.Name
	c.Set = slices.DeleteFunc(slices.Clone(c.Set), func(kv string) bool {
		return parameter(info, settingKey(kv)) == nil
	})
	for _, choice := range choices {
		key := choice.Key
		if _, own, ok := strings.Cut(key, "."); ok {
			key = own
		}
		if set, ok := fields[key]; ok {
			if !set(&c, choice.Value) {
				return c, &trainer.ConfigError{Field: key, Value: choice.Value, Expected: expectations[key]}
			}
			continue
		}
		c.Set = slices.DeleteFunc(c.Set, func(kv string) bool { return settingKey(kv) == key })
		c.Set = append(c.Set, key+"="+choice.Value)
	}
	return c, nil
}

// has reports whether a trial with these choices, those of the axes before, has an axis: where its method knows it, and
// has none of its own in its place, and its condition is met.
func (s *space) has(i int, choices []Choice) bool {
	a := &s.axes[i]
	if key, values := a.condition(); key != "" && !slices.ContainsFunc(choices, func(c Choice) bool {
		return c.Key == key && slices.Contains(values, c.Value)
	}) {
		return false
	}
	if s.methods == nil || a.Key == optKey {
		return true
	}
	info := s.methodOf(choices)
	own := func(b axis) bool { return b.method == info.Name && b.key == a.key }
	return a.knows(info) && (a.method != "" || !slices.ContainsFunc(s.axes, own))
}

// at returns the trial at a point of the unit cube with a coordinate for each axis.
func (s *space) at(point []float64) (choices []Choice) {
	for i := range s.axes {
		if s.has(i, choices) {
			choices = append(choices, s.axes[i].at(point[i]))
		}
	}
	return choices
}

// usual returns the trial of a method at its defaults, and in the middle of the axes that have none or are elsewhere.
func (s *space) usual(method int) (choices []Choice) {
	for i := range s.axes {
		a := &s.axes[i]
		if !s.has(i, choices) {
			continue
		}
		c := a.at(0.5)
		if a.Key == optKey {
			c = Choice{Key: optKey, Value: a.Choices[method], Number: a.positionOf(method)}
		} else if h := parameter(s.methodOf(choices), a.key); h != nil {
			value := optim.Format(h.Default)
			if h.Choices != nil {
				value = h.Choices[int(h.Default)]
			}
			at := slices.Index(a.Choices, value)
			switch {
			case at >= 0:
				c = Choice{Key: a.Key, Value: value, Number: a.positionOf(at)}
			case a.Choices == nil && h.Default >= a.Low && h.Default <= a.High:
				c = Choice{Key: a.Key, Value: value, Number: a.position(h.Default)}
			}
		}
		choices = append(choices, c)
	}
	return choices
}

// size returns how many different trials there are; 0: too many to count.
func (s *space) size() int { return s.sizeFrom(0, nil) }

// sizeFrom counts the trials that have these choices of the axes before one.
func (s *space) sizeFrom(i int, choices []Choice) (n int) {
	switch {
	case i == len(s.axes):
		return 1
	case !s.has(i, choices):
		return s.sizeFrom(i+1, choices)
	}
	a := &s.axes[i]
	if !s.decides(a.Key) {
		n = a.size() * s.sizeFrom(i+1, choices)
	} else {
		for k := range a.Choices {
			each := s.sizeFrom(i+1, append(slices.Clip(choices), Choice{Key: a.Key, Value: a.Choices[k]}))
			if n += each; each == 0 || n > 1e6 {
				return 0
			}
		}
	}
	if n > 1e6 {
		return 0
	}
	return n
}

// decides reports whether other axes depend on one.
func (s *space) decides(key string) bool {
	return key == optKey && s.methods != nil || slices.ContainsFunc(s.axes, func(a axis) bool {
		on, _ := a.condition()
		return on == key
	})
}

// text writes choices as one word, the same for the same.
func text(choices []Choice) string {
	var b strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&b, "%s=%s ", c.Key, c.Value)
	}
	return b.String()
}
