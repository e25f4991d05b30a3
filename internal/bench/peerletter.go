package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"newtop/trainer"
	"newtop/trainer/event"
)

// letterRuns are newtop's runs on UCI letter: a method and its settings. Adam is as the peers have it.
var letterRuns = []string{
	"adam rate=0.001 batch=64", "adam rate=0.003 batch=64", "adam rate=0.01 batch=64", "adam rate=0.003 batch=256",
	"tr-newton", "tr-newton blocks=4", "tr-gn", "tr-gn blocks=1 limit=100", "tr-gn blocks=4 block-xi=0.05 limit=100", "scg", "lbfgs",
}

// letter are runs to a test error of 5 %, of another seed in each pair: 16-70-50-26, rows 1–16,000 to train on and the others
// to test on.
func (o *PeerOptions) letter(runs ...string) work {
	own := func(ctx context.Context, pair int, say func(map[string]any)) error {
		for _, run := range runs {
			words, out := strings.Fields(run), outcome{o.Budget.Seconds(), map[string]any{"peer": newtop + " " + run, "seconds_to_target": nil}}
			session, err := trainer.New(trainer.Config{Data: "letter", DataDir: o.DataDir, Hidden: []int{70, 50}, Threads: o.Threads, Seed: uint64(pair) + 1,
				Optimizer: words[0], Set: words[1:], TargetError: 0.05}, out)
			if err == nil {
				err = session.Run(ctx)
			}
			apart := (*trainer.DivergedError)(nil) // is a result like any other
			if err != nil && !errors.Is(err, errBudget) && !errors.As(err, &apart) {
				return fmt.Errorf("newtop's %s: %w", run, err)
			}
			say(out.line)
		}
		return nil
	}
	data := filepath.Join(o.DataDir, "letter-recognition.data")
	return work{"UCI letter to 5 %", []string{"--data", data, "--target", "5", "--budget", fmt.Sprint(o.Budget.Seconds())}, own}
}

// errBudget ends a run.
var errBudget = errors.New("bench: the budget is spent")

// outcome records the line of a run, and ends it when the method itself has had its seconds, as with the peers: measuring errors takes
// none, as it would of a time limit of the trainer's.
type outcome struct {
	budget float64
	line   map[string]any
}

func (o outcome) Record(e event.Event) error {
	epoch, ok := e.(event.EpochEvent)
	if !ok {
		return nil
	}
	o.line["seconds"], o.line["epochs"], o.line["test_error"] = epoch.Elapsed, epoch.Epoch, epoch.TestError
	if o.line["seconds_to_target"] == nil && epoch.TestError <= 0.05 {
		o.line["seconds_to_target"] = float64(epoch.Elapsed)
	}
	if float64(epoch.Elapsed) >= o.budget {
		return errBudget
	}
	return nil
}

func (o outcome) Flush() error { return nil }
