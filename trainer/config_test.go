package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/datasets"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/workplace"
)

func TestBadConfigs(t *testing.T) {
	for _, c := range []struct {
		config config.Config
		want   string
	}{
		{config.Config{Epochs: -1}, "Epochs -1: expected a whole number"},
		{config.Config{Batch: -3}, "Batch -3: expected"},
		{config.Config{TargetError: math.NaN()}, "TargetError NaN: expected"},
		{config.Config{TargetLoss: math.Inf(1)}, "TargetLoss +Inf: expected"},
		{config.Config{Hidden: []int{4, 0}}, "Hidden 0: expected"},
		{config.Config{Act: "wave"}, "Act wave: expected"},
		{config.Config{Loss: "guess"}, "Loss guess: expected"},
		{config.Config{Init: "uniform:x"}, "Init uniform:x: expected"},
		{config.Config{Optimizer: "magic"}, `unknown optimizer "magic": expected one of tr-newton`},
		{config.Config{Set: []string{"radius=-1"}}, "Set radius=-1: expected a number > 0"},
		{config.Config{Set: []string{"radius"}}, "Set radius: expected KEY=VALUE"},
		{config.Config{Experts: 5}, "Experts 5: expected Gate with an input"},
		{config.Config{Gate: "hue"}, "Gate hue: expected it together with Experts"},
		{config.Config{Experts: 5, Gate: "hue", Hidden: []int{3}}, "Hidden [3]: expected the layers of the experts"},
		{config.Config{Experts: 5, Gate: "hue", GateTraining: "never"}, "GateTraining never: expected descent or joint or fixed"},
		{config.Config{Committee: -1}, "Committee -1: expected a whole number"},
		{config.Config{Blocks: -1}, "Blocks -1: expected"},
		{config.Config{SpectrumMethod: "magic"}, "SpectrumMethod magic: expected lanczos or power"},
		{config.Config{SpectrumOf: "fisher"}, "SpectrumOf fisher: expected hessian or gauss-newton"},
		{config.Config{Set: []string{"speed=1"}}, "Set speed=1: expected one of"},
	} {
		_, err := New(c.config)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v: expected %q", c.config, err, c.want)
		}
	}
}

// TestErrorText: whoever calls fields by other names, as a command line does by flags, reads those, also in what a run says
// TestErrorText its end.
func TestErrorText(t *testing.T) {
	flag := func(field string) string { return "--" + strings.ToLower(field) }
	for _, c := range []struct {
		err  error
		want string
	}{
		{(&config.Config{Gate: "hue"}).Check(), "--gate hue: expected it together with --experts"},
		{fmt.Errorf("before: %w, behind", &config.ConfigError{Field: "Act", Value: "{Loss}", Expected: "{Nothing} or {Out}"}), "before: --act {Loss}: expected {Nothing} or --out, behind"},
		{&config.FieldsError{Fields: "{Save}", Err: os.ErrExist}, "--save: file already exists"},
		{os.ErrExist, "file already exists"},
		{&config.FieldsError{Fields: "{Model}", Err: &config.ConfigError{Field: "Act", Value: "x", Expected: "{Out}"}}, "--model: --act x: expected --out"},
	} {
		if got := config.ErrorText(c.err, flag); got != c.want {
			t.Errorf("%v: %s, expected %s", c.err, got, c.want)
		}
	}
	m := &memory{}
	s := mustNew(t, config.Config{Data: "sine", Loss: "xent"}, m)
	s.NameFields(flag)
	if err := s.Run(context.Background()); err == nil || !strings.HasPrefix(of[event.DoneEvent](m)[0].Message, "--loss xent: expected mse") {
		t.Errorf("%v, %+v", err, m.events)
	}
}

func TestUnpreparedRuns(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "bad.csv")
	rows := "a,b,c\n"
	for i := range 30 {
		rows += fmt.Sprintf("%d,%d,%d.5\n", i, i*i%7, i)
	}
	if err := os.WriteFile(table, []byte(rows+"4,word,1.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		config config.Config
		want   string
	}{
		{config.Config{Data: table}, "bad.csv:32"},
		{config.Config{Data: "lettres"}, "letters"},
		{config.Config{Data: "sine", Loss: "xent"}, "Loss xent: expected mse"},
		{config.Config{Data: "mnist", DataDir: dir}, "Fetch mnist"},
	} {
		m := &memory{}
		err := mustNew(t, c.config, m).Run(context.Background())
		var prepare *PrepareError
		if !errors.As(err, &prepare) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v: expected %q", c.config, err, c.want)
		}
		if d := of[event.DoneEvent](m); len(d) != 1 || d[0].Reason != event.ReasonFailed || d[0].Message == "" {
			t.Errorf("%+v: done %+v", c.config, d)
		}
	}
}

// Defaults follow from the data.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		config          config.Config
		out, loss       string
		low, high       float64
		hidden, outputs int
	}{
		{config.Config{Data: "spirals"}, "softmax", "xent", 0, 1, 2, 2},
		{config.Config{Data: "spirals", Out: "tanh"}, "tanh", "mse", -1, 1, 2, 2},
		{config.Config{Data: "spirals", Loss: "mse"}, "tanh", "mse", -1, 1, 2, 2},
		{config.Config{Data: "spirals", Out: "linear"}, "identity", "mse", 0, 1, 2, 2},
		{config.Config{Data: "spirals", Hidden: []int{}}, "softmax", "xent", 0, 1, 0, 2},
		{config.Config{Data: "sine"}, "identity", "mse", math.NaN(), math.NaN(), 2, 1},
	} {
		p, err := workplace.Prepare(&c.config)
		if err != nil {
			t.Fatal(err)
		}
		arch := p.Network.Architecture()
		last := arch.Layers[len(arch.Layers)-1]
		if last.Activation.String() != c.out || arch.Loss.String() != c.loss || len(arch.Layers)-1 != c.hidden || last.Nodes != c.outputs {
			t.Errorf("%+v: %+v", c.config, arch)
		}
		if !math.IsNaN(c.low) {
			low, high := extent(p.Data)
			if low != c.low || high != c.high {
				t.Errorf("%+v: targets from %v to %v", c.config, low, high)
			}
		}
	}
}

func extent(d *datasets.Dataset) (low, high float64) {
	row := d.Train.Targets.RawRowView(0)
	low, high = row[0], row[0]
	for _, v := range row {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// TestRegressionSolvesToTheEnd looks at the limit of inner solves: by the data, unless it was set.
func TestRegressionSolvesToTheEnd(t *testing.T) {
	for _, test := range []struct {
		data   string
		set    []string
		want   any
		blocks any
	}{
		{"sine", nil, 0.0, 1.0}, {"sine", []string{"limit=7"}, 7.0, 1.0}, {"sine", []string{"blocks=2"}, 0.0, 2.0}, {"spirals", nil, 12.0, 6.0},
	} {
		m := train(t, config.Config{Data: test.data, Hidden: []int{3}, Set: test.set, Epochs: 1, Optimizer: "tr-gn"})
		if got := of[event.RunEvent](m)[0].Settings["limit"]; got != test.want {
			t.Errorf("%s %v: limit %v, want %v", test.data, test.set, got, test.want)
		}
		if got := of[event.RunEvent](m)[0].Settings["blocks"]; got != test.blocks {
			t.Errorf("%s %v: %v blocks, want %v", test.data, test.set, got, test.blocks)
		}
	}
}
