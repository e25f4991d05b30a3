package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
)

// peerLetter is how a training run on UCI letter went, 16-70-50-26, rows 1–16,000 to train on and the others to test
// on, in the form that peer_letter.py prints. Seconds leave out the measuring of errors.
type peerLetter struct {
	Peer            string   `json:"peer"`
	TargetPercent   float64  `json:"target_percent"`
	SecondsToTarget *float64 `json:"seconds_to_target"` // nil: never
	BestTestError   float64  `json:"best_test_error"`   // per cent
	TrainError      float64  `json:"train_error"`       // per cent, at the end
	Seconds         float64  `json:"seconds"`
	Epochs          int      `json:"epochs"`
}

// letterRun is a run of newtop's.
type letterRun struct {
	name   string
	config trainer.Config
}

func adam(rate float64, batch int) letterRun {
	return letterRun{fmt.Sprintf("adam lr=%g batch=%d", rate, batch),
		trainer.Config{Optimizer: "adam", Set: []string{fmt.Sprintf("rate=%g", rate)}, Batch: batch}}
}

func inBlocks(method string, blocks int) letterRun {
	return letterRun{fmt.Sprintf("%s blocks=%d", method, blocks), trainer.Config{Optimizer: method, Blocks: blocks}}
}

func inBatchMode(method string) letterRun {
	return letterRun{method, trainer.Config{Optimizer: method}}
}

// letterRuns are newtop's runs, with Adam as the peers have it.
var letterRuns = []letterRun{
	adam(1e-3, 64), adam(3e-3, 64), adam(1e-2, 64), adam(3e-3, 256),
	inBatchMode("tr-newton"), inBlocks("tr-newton", 4), inBatchMode("tr-gn"), inBlocks("tr-gn", 4), inBatchMode("scg"), inBatchMode("lbfgs"),
}

// settings returns by what a run is compared with others: its name, and of PyTorch's Adam that which newtop's has.
func (p *peerLetter) settings() string {
	name := strings.TrimPrefix(p.Peer, Newtop+" ")
	var rate float64
	var batch int
	if n, err := fmt.Sscanf(name, "torch adam lr=%g batch=%d", &rate, &batch); n == 2 && err == nil {
		return adam(rate, batch).name
	}
	return name
}

// figures are the seconds to the target, those that it had where it never got there; none of another target's.
func (p *peerLetter) figures() []figure {
	seconds := p.Seconds
	if p.SecondsToTarget != nil {
		seconds = *p.SecondsToTarget
	}
	if p.TargetPercent != targetPercent || !positive(seconds) {
		return nil
	}
	return []figure{{"seconds_to_target", p.settings(), p.Peer, seconds}}
}

// targetPercent is the test error to reach.
const targetPercent = 5

const letterFile = "letter-recognition.data"

// besideLetter runs newtop and the script, and once more those runs of newtop's that had reached the target. One that does
// not again counts with the time that it was given.
func (p *Peers) besideLetter(ctx context.Context, o *PeerOptions) error {
	file, err := findLetter(o.DataDir)
	if err != nil {
		return err
	}
	var own []figure
	var reached []letterRun
	for _, r := range o.runs {
		run, err := r.train(ctx, o)
		if err != nil {
			return fmt.Errorf("newtop's %s: %w", r.name, err)
		}
		p.own(o, run)
		if run.SecondsToTarget != nil {
			own, reached = append(own, run.figures()...), append(reached, r)
		} else {
			own = append(own, figure{"seconds_to_target", run.settings(), run.Peer, math.NaN()})
		}
	}
	peers, failed := figures(ctx, p, o, letterScript, []string{"--data", file, "--budget", fmt.Sprint(o.Budget.Seconds())},
		func(l *peerLetter) []figure {
			if l.SecondsToTarget == nil {
				return []figure{}
			}
			return l.figures()
		})
	if ctx.Err() != nil || len(peers) == 0 {
		return failed
	}
	for _, r := range reached {
		run, err := r.train(ctx, o)
		if err != nil {
			return fmt.Errorf("newtop's %s: %w", r.name, err)
		}
		p.own(o, run)
		own = append(own, run.figures()...)
	}
	p.Ratios = append(append(p.Ratios, compareBest(own, peers)), compare(own, peers)...)
	return failed
}

// compareBest sets the quickest of all settings of newtop's against the quickest peer.
func compareBest(own, peers []figure) Ratio {
	best := peers[0]
	for _, f := range peers[1:] {
		if f.value < best.value {
			best = f
		}
	}
	name, least := own[0].of, math.NaN()
	for _, f := range own {
		if mean := meanOf(own, func(g figure) bool { return g.kind == f.kind }); !(mean >= least) && !math.IsNaN(mean) {
			name, least = f.of, mean
		}
	}
	return ratioOf(best, name, least)
}

// findLetter returns the path of the data, where package datasets looks for it too.
func findLetter(dir string) (string, error) {
	path := filepath.Join(dir, letterFile)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	below := filepath.Join(dir, "letter", letterFile)
	if _, err := os.Stat(below); err == nil {
		return below, nil
	}
	return "", fmt.Errorf("%s is missing: name its directory with --data-dir", path)
}

// train does one run. That it diverges is a result like any other.
func (r *letterRun) train(ctx context.Context, o *PeerOptions) (*peerLetter, error) {
	c := r.config
	c.Data, c.DataDir, c.Hidden, c.Threads, c.Seed = "letter", o.DataDir, []int{70, 50}, o.Threads, 1
	c.TargetError = targetPercent / 100.0
	out := outcome{budget: o.Budget, run: peerLetter{Peer: Newtop + " " + r.name, TargetPercent: targetPercent, BestTestError: 100}}
	session, err := trainer.New(c, &out)
	if err != nil {
		return nil, err
	}
	err = session.Run(ctx)
	if apart := (*trainer.DivergedError)(nil); errors.As(err, &apart) || errors.Is(err, errBudget) {
		err = nil
	}
	return &out.run, err
}

// errBudget ends a run.
var errBudget = errors.New("bench: the budget is spent")

// outcome records what a run came to, and ends it when the method itself, as with the peers, has had its budget: a
// time limit of the trainer's would count the measuring of errors too.
type outcome struct {
	budget time.Duration
	run    peerLetter
}

func (o *outcome) Record(e event.Event) error {
	epoch, ok := e.(event.EpochEvent)
	if !ok {
		return nil
	}
	r := &o.run
	r.Seconds, r.Epochs = float64(epoch.Elapsed), epoch.Epoch
	r.TrainError = percent(epoch.Error)
	r.BestTestError = min(r.BestTestError, percent(epoch.TestError))
	if r.SecondsToTarget == nil && epoch.TestError <= targetPercent/100.0 {
		seconds := r.Seconds
		r.SecondsToTarget = &seconds
	}
	if r.Seconds >= o.budget.Seconds() {
		return errBudget
	}
	return nil
}

func (o *outcome) Flush() error { return nil }

// percent takes an error of outputs that are no numbers for one of every row.
func percent(f event.Float) float64 {
	if math.IsNaN(float64(f)) {
		return 100
	}
	return 100 * float64(f)
}
