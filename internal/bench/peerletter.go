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
	"tr-newton", "tr-newton blocks=4", "tr-gn", "tr-gn blocks=4", "tr-gn blocks=6 block-xi=0.4 limit=12", "scg", "lbfgs",
}

// letter are runs to a test error of 5 %, of another seed in each pair: 16-70-50-26, rows 1–16,000 to train on and the others
// to test on.
func (o *PeerOptions) letter(runs ...string) work {
	own := func(ctx context.Context, pair int, say func(map[string]any)) error {
		for _, run := range runs {
			words, out := strings.Fields(run), outcome{"peer": newtop + " " + run, "seconds_to_target": nil}
			session, err := trainer.New(trainer.Config{Data: "letter", DataDir: o.DataDir, Hidden: []int{70, 50}, Threads: o.Threads, Seed: uint64(pair) + 1,
				Optimizer: words[0], Set: words[1:], TargetError: 0.05, TimeLimit: o.Budget}, out)
			if err == nil {
				err = session.Run(ctx)
			}
			if apart := (*trainer.DivergedError)(nil); err != nil && !errors.As(err, &apart) { // to diverge is a result too
				return fmt.Errorf("newtop's %s: %w", run, err)
			}
			say(out)
		}
		return nil
	}
	data := filepath.Join(o.DataDir, "letter-recognition.data")
	return work{"UCI letter to 5 %", []string{"--data", data, "--target", "5", "--budget", fmt.Sprint(o.Budget.Seconds())}, own}
}

// outcome is the line of a run, which grows with its epochs. As with the peers, measuring errors takes none of its seconds.
type outcome map[string]any

func (o outcome) Record(e event.Event) error {
	if e, ok := e.(event.EpochEvent); ok {
		o["seconds"], o["epochs"], o["test_error"] = e.Elapsed, e.Epoch, e.TestError
		if o["seconds_to_target"] == nil && e.TestError <= 0.05 {
			o["seconds_to_target"] = float64(e.Elapsed)
		}
	}
	return nil
}

func (o outcome) Flush() error { return nil }
