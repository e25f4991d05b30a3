package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
)

// PeerLetter is how a training run on UCI letter went, 16-70-50-26, rows 1–16,000 to train on and the others to test
// on, in the form that peer_letter.py prints. Seconds leave out the measuring of errors.
type PeerLetter struct {
	Peer            string   `json:"peer"`
	TargetPercent   float64  `json:"target_percent"`
	SecondsToTarget *float64 `json:"seconds_to_target"` // nil: never
	BestTestError   float64  `json:"best_test_error"`   // per cent
	TrainError      float64  `json:"train_error"`       // per cent, at the end
	Seconds         float64  `json:"seconds"`
	Epochs          int      `json:"epochs"`
}

// LetterBeside is newtop, before and after, with its peers between. After, newtop only repeats the runs that had
// reached the target.
type LetterBeside struct {
	Newtop  []PeerLetter `json:"newtop"`
	Peers   []PeerLetter `json:"peers"`
	Results []Result     `json:"results"`
}

// Result compares times to the target. Newtop's is the mean of before and after; nil means never.
type Result struct {
	What          string   `json:"what"`
	Peer          string   `json:"peer"`
	PeerSeconds   float64  `json:"peer_seconds"`
	Newtop        string   `json:"newtop"`
	NewtopSeconds *float64 `json:"newtop_seconds"`
	Share         *float64 `json:"share"` // newtop's over the peer's
	Goal          *Goal    `json:"goal"`  // of Share
}

// What newtop's share of a peer's time should be at most.
const (
	shareOfBest        = 1.0 / 3
	shareOfSecondOrder = 1
	shareOfAdam        = 0.5
)

// letterRun is a run of newtop's.
type letterRun struct {
	name   string
	rate   float64 // of adam; 0: another method
	second bool    // whether the method is of second order
	config trainer.Config
}

func adam(rate float64, batch int) letterRun {
	return letterRun{name: fmt.Sprintf("adam lr=%g batch=%d", rate, batch), rate: rate,
		config: trainer.Config{Optimizer: "adam", Set: []string{fmt.Sprintf("rate=%g", rate)}, Batch: batch}}
}

func secondOrder(method string, blocks int) letterRun {
	r := letterRun{name: method, second: true, config: trainer.Config{Optimizer: method, Blocks: blocks}}
	if blocks > 0 {
		r.name += fmt.Sprintf(" blocks=%d", blocks)
	}
	return r
}

// letterRuns are newtop's runs, with Adam as the peers have it.
var letterRuns = []letterRun{
	adam(1e-3, 64), adam(3e-3, 64), adam(1e-2, 64), adam(3e-3, 256),
	secondOrder("tr-newton", 0), secondOrder("tr-newton", 4),
	secondOrder("tr-gn", 0), secondOrder("tr-gn", 4),
	secondOrder("scg", 0),
	{name: "lbfgs", config: trainer.Config{Optimizer: "lbfgs"}},
}

// torchAdam reads from a peer's name which Adam it is.
func torchAdam(peer string) (rate float64, batch int, ok bool) {
	n, err := fmt.Sscanf(peer, "torch adam lr=%g batch=%d", &rate, &batch)
	return rate, batch, n == 2 && err == nil
}

// targetPercent is the test error to reach.
const targetPercent = 5

const letterFile = "letter-recognition.data"

func besideLetter(ctx context.Context, o *PeerOptions) (*LetterBeside, error) {
	file, err := findLetter(o.DataDir)
	if err != nil {
		return nil, err
	}
	var b LetterBeside
	own := func(r *letterRun) error {
		p, err := r.train(ctx, o)
		if err != nil {
			return fmt.Errorf("newtop's %s: %w", r.name, err)
		}
		b.Newtop = append(b.Newtop, p)
		o.Live(Live{Source: Newtop, Letter: &p})
		return nil
	}
	for i := range o.runs {
		if err := own(&o.runs[i]); err != nil {
			return &b, err
		}
	}
	var failed error
	b.Peers, failed = figures(ctx, o, letterScript, []string{"--data", file, "--budget", fmt.Sprint(o.Budget.Seconds())},
		func(p *PeerLetter) bool {
			return isName(p.Peer) && positive(p.Seconds, p.TargetPercent) && (p.SecondsToTarget == nil || positive(*p.SecondsToTarget))
		},
		func(p *PeerLetter) Live { return Live{Source: letterScript, Letter: p} })
	if ctx.Err() != nil || b.Peers == nil {
		return &b, failed
	}
	for i := range o.runs {
		if b.Newtop[i].SecondsToTarget == nil {
			continue
		}
		if err := own(&o.runs[i]); err != nil {
			return &b, err
		}
	}
	b.compare(o.runs)
	return &b, failed
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
func (r *letterRun) train(ctx context.Context, o *PeerOptions) (PeerLetter, error) {
	c := r.config
	c.Data, c.DataDir, c.Hidden, c.Threads, c.Seed = "letter", o.DataDir, []int{70, 50}, o.Threads, 1
	c.TargetError = targetPercent / 100.0
	out := outcome{budget: o.Budget, run: PeerLetter{Peer: Newtop + " " + r.name, TargetPercent: targetPercent, BestTestError: 100}}
	session, err := trainer.New(c, &out)
	if err != nil {
		return out.run, err
	}
	err = session.Run(ctx)
	if apart := (*trainer.DivergedError)(nil); errors.As(err, &apart) || errors.Is(err, errBudget) {
		err = nil
	}
	return out.run, err
}

// errBudget ends a run.
var errBudget = errors.New("bench: the budget is spent")

// outcome records what a run came to, and ends it when the method itself, as with the peers, has had its budget: a
// time limit of the trainer's would count the measuring of errors too.
type outcome struct {
	budget time.Duration
	run    PeerLetter
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

// Repeated is a run and its repetitions, in the order in which they came.
type Repeated []PeerLetter

// Seconds is the mean time to the target, nil if none got there. A repetition that did not counts with the time that
// it was given.
func (r Repeated) Seconds() *float64 {
	mean, ever := 0.0, false
	for i := range r {
		seconds := &r[i].Seconds
		if r[i].SecondsToTarget != nil {
			seconds, ever = r[i].SecondsToTarget, true
		}
		mean += *seconds / float64(len(r))
	}
	if !ever {
		return nil
	}
	return &mean
}

// own returns newtop's runs of a name, none if there are none.
func (b *LetterBeside) own(peer string) Repeated {
	var all Repeated
	for _, p := range b.Newtop {
		if p.Peer == peer {
			all = append(all, p)
		}
	}
	return all
}

// compare fills in the results: the best of all, the best of second order, each Adam with its like.
func (b *LetterBeside) compare(runs []letterRun) {
	var best *PeerLetter
	for i := range b.Peers {
		if p := &b.Peers[i]; p.comparable() && (best == nil || *p.SecondsToTarget < *best.SecondsToTarget) {
			best = p
		}
	}
	if best == nil {
		return
	}
	b.add(runs, "best of all", best, shareOfBest, func(*letterRun) bool { return true })
	b.add(runs, "second order", best, shareOfSecondOrder, func(r *letterRun) bool { return r.second })
	for i := range b.Peers {
		p := &b.Peers[i]
		if rate, batch, ok := torchAdam(p.Peer); ok && p.comparable() {
			b.add(runs, "same settings", p, shareOfAdam, func(r *letterRun) bool { return r.rate == rate && r.config.Batch == batch })
		}
	}
}

func (p *PeerLetter) comparable() bool {
	return p.SecondsToTarget != nil && p.TargetPercent == targetPercent
}

// add compares the fastest of newtop's runs that which selects with a peer, unless it selects none.
func (b *LetterBeside) add(runs []letterRun, what string, peer *PeerLetter, bound float64, which func(*letterRun) bool) {
	r := Result{What: what, Peer: peer.Peer, PeerSeconds: *peer.SecondsToTarget, Goal: &Goal{AtMost: bound}}
	for i := range runs {
		run := &runs[i]
		if !which(run) {
			continue
		}
		seconds := b.own(Newtop + " " + run.name).Seconds()
		if r.Newtop == "" || seconds != nil && (r.NewtopSeconds == nil || *seconds < *r.NewtopSeconds) {
			r.Newtop, r.NewtopSeconds = run.name, seconds
		}
	}
	if r.Newtop == "" {
		return
	}
	if r.NewtopSeconds != nil {
		share := *r.NewtopSeconds / r.PeerSeconds
		r.Share, r.Goal = &share, atMost(share, bound)
	}
	b.Results = append(b.Results, r)
}

// Ranked returns all runs to the common target, newtop's with their repetitions and the peers', by their seconds; those
// that never reached it come last, by their best error.
func (b *LetterBeside) Ranked() []Repeated {
	var all []Repeated
	for i, p := range b.Newtop {
		if first := slices.IndexFunc(b.Newtop, func(q PeerLetter) bool { return q.Peer == p.Peer }); first == i {
			all = append(all, b.own(p.Peer))
		}
	}
	for _, p := range b.Peers {
		if p.TargetPercent == targetPercent {
			all = append(all, Repeated{p})
		}
	}
	slices.SortStableFunc(all, func(x, y Repeated) int {
		return cmp.Or(cmp.Compare(orNever(x.Seconds()), orNever(y.Seconds())), cmp.Compare(x[0].BestTestError, y[0].BestTestError))
	})
	return all
}

// orNever takes no time for an endless one.
func orNever(seconds *float64) float64 {
	if seconds == nil {
		return math.Inf(1)
	}
	return *seconds
}
