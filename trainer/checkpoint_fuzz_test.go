package trainer

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/objective"
	"newtop/trainer/workplace"
)

// fuzzed are runs of which checkpoints are spoilt.
func fuzzed() []config.Config {
	var out []config.Config
	for _, name := range []string{"adam", "tr-gn-jacobi", "lbfgs", "eigen-gd", "scg", "dogleg", "lm", "tr-newton"} {
		c := smallRun
		c.Optimizer = name
		if name == "tr-newton" {
			c.Blocks, c.SpectrumEvery = 2, 1
		}
		out = append(out, c)
	}
	return append(out, config.Config{Data: "spirals", Test: "0.99", Hidden: []int{3}, Optimizer: "bpls", Epochs: 4})
}

func keptBy(f *testing.F, c config.Config) *keptAt {
	f.Helper()
	a := &archive{}
	s, err := New(c, a)
	if err != nil {
		f.Fatal(err)
	}
	if err := s.Run(f.Context()); err != nil {
		f.Fatal(err)
	}
	return &a.kept[1]
}

// FuzzRestore: nothing that a checkpoint may say breaks the run that it is put into.
func FuzzRestore(f *testing.F) {
	type subject struct {
		config  config.Config
		problem *objective.Problem
		kept    checkpoint.Checkpoint
	}
	var subjects []subject
	for i, c := range fuzzed() {
		s := subject{config: c}
		if err := s.kept.UnmarshalBinary(keptBy(f, c).text); err != nil {
			f.Fatal(err)
		}
		var err error
		if s.problem, err = workplace.Prepare(&s.config); err != nil {
			f.Fatal(err)
		}
		subjects = append(subjects, s)
		for key := range 80 {
			f.Add(uint8(i), uint16(key), float64(1<<53), "-1")
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, key uint16, number float64, word string) {
		s := &subjects[int(which)%len(subjects)]
		c := s.kept
		c.Vectors, c.Numbers, c.Texts = maps.Clone(c.Vectors), maps.Clone(c.Numbers), maps.Clone(c.Texts)
		change(&c, int(key), number, word)
		session, err := New(s.config)
		if err != nil {
			t.Fatal(err)
		}
		l := newLoop(t.Context(), session)
		l.work.Problem = s.problem
		if err := l.bind(); err != nil {
			t.Fatal(err)
		}
		defer l.work.Pool.Close()
		var bad *checkpoint.CheckpointError
		if err := l.checkpoints.restore(&c); err != nil && !errors.As(err, &bad) {
			t.Fatal(err)
		}
	})
}

// change makes one of the things in a checkpoint another one.
func change(c *checkpoint.Checkpoint, key int, number float64, word string) {
	names := slices.Concat(
		slices.Sorted(maps.Keys(c.Vectors)), slices.Sorted(maps.Keys(c.Numbers)), slices.Sorted(maps.Keys(c.Texts)))
	name := names[key%len(names)]
	if v, ok := c.Vectors[name]; ok {
		c.Vectors[name] = append(slices.Clone(v), number)
	}
	if _, ok := c.Numbers[name]; ok {
		c.Numbers[name] = number
	}
	if _, ok := c.Texts[name]; ok {
		c.Texts[name] = word
	}
}
