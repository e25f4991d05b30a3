package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"newtop/datasets"
	"newtop/trainer"
)

// Tables I and II and figures 7–9 of [T, §III-B]: a net 784-50-10 of softmax layers, weights from U[−1, 1], on images.
// BPLS by algorithm 2, its rivals in single rows at a rate of 1e-3 for at most 40 epochs. The paper does not say which
// loss they minimize: here it is cross-entropy.
//
// BPLS is as printed, eq. 5 without a ridge; BPLS + ridge is what newtop makes of it. Beside them stand what it is made of, linear least squares and a random hidden layer under least squares, and
// second-order methods that have as long as BPLS took, and ten times as long; those on the paper's net and, as its
// softmax hidden layer is a bad one to start from, on one with 50 tanh nodes and weights from U[−0.2, 0.2].

// bplsSet is a data set with the paper's figures, NaN where it has none.
type bplsSet struct {
	name, title string
	best        map[string][2]float64 // table I: accuracy in training and in the test, by column
	epochs      float64               // that BPLS needed
	train, test string                // the figures with the accuracy over epochs
	config      trainer.Config
	rows        int
}

var bplsSets = []bplsSet{
	{
		name: "mnist", title: "MNIST", epochs: 9, train: "figure 7a", test: "figure 7b",
		best: map[string][2]float64{
			"BPLS": {0.9004, 0.8773}, "Adam": {0.9223, 0.9019}, "NAG": {0.9098, 0.8883}, "SGD": {0.9157, 0.9035}, "AdaGrad": {0.7805, 0.7750},
		},
	},
	{
		name: "fashion", title: "Fashion-MNIST", epochs: 4, train: "figure 8a", test: "figure 8b",
		best: map[string][2]float64{
			"BPLS": {0.8399, 0.8257}, "Adam": {0.8597, 0.8377}, "NAG": {0.8407, 0.8198}, "SGD": {0.8481, 0.8359}, "AdaGrad": {0.7069, 0.6994},
		},
	},
}

// bplsSeconds are the paper's seconds an epoch of Fashion-MNIST (table II), whose training rows are bplsRows.
var bplsSeconds = map[string]float64{"BPLS": 2.87, "Adam": 3578, "NAG": 3301, "SGD": 3267, "AdaGrad": 3310}

const (
	bplsRows   = 40_000
	bplsEpochs = 40  // of the first-order methods at most
	bplsTrials = 100 // of BPLS, ten times those of its rivals
	bplsTanh   = "BPLS + ridge tanh"
	// Methods that have ten times as long as BPLS took have no more trials than this.
	budgetTrials = 5
)

// bplsNet is what is trained.
type bplsNet uint8

const (
	paperNet bplsNet = iota // 784-50-10, softmax, U[−1, 1]
	tanhNet                 // 784-50-10, tanh hidden, U[−0.2, 0.2]
	wideNet                 // 784-500-10, the same
	noHidden                // 784-10
)

// bplsColumn is a method on a net.
type bplsColumn struct {
	name, method string
	set          []string
	net          bplsNet
	batch        int
	epochs       int  // 0: no limit
	rival        bool // one of the paper's first-order methods
	budget       bool // has ten times as long as BPLS took on the same net
	once         bool // does not depend on the seed
	cost         float64
}

// bplsColumns: random hidden layers draw from ±0.1, where tanh is neither linear nor at its ends.
var bplsColumns = []bplsColumn{
	{name: "BPLS", method: "bpls", set: bplsPrinted, cost: 2},
	{name: "BPLS + ridge", method: "bpls", cost: 2},
	{name: "Adam", method: "adam", set: []string{"rate=1e-3"}, batch: 1, epochs: bplsEpochs, rival: true, cost: 24},
	{name: "NAG", method: "nag", set: []string{"rate=1e-3"}, batch: 1, epochs: bplsEpochs, rival: true, cost: 24},
	{name: "SGD", method: "sgd", set: []string{"rate=1e-3"}, batch: 1, epochs: bplsEpochs, rival: true, cost: 10},
	{name: "AdaGrad", method: "adagrad", set: []string{"rate=1e-3"}, batch: 1, epochs: bplsEpochs, rival: true, cost: 24},
	{name: "linear", method: "bpls", set: []string{"ridge-2=0"}, net: noHidden, epochs: 1, once: true, cost: 1},
	{name: "linear ridge", method: "bpls", net: noHidden, epochs: 1, once: true, cost: 1},
	{name: "random 50", method: "bpls", set: []string{"target=none", "range=0.1", "ridge-2=0"}, net: tanhNet, epochs: 1, cost: 1},
	{name: "random 500", method: "bpls", set: []string{"target=none", "range=0.1", "ridge-2=1e-4"}, net: wideNet, epochs: 1, cost: 2},
	{name: "tr-gn", method: "tr-gn", budget: true, cost: 20},
	{name: "lbfgs", method: "lbfgs", budget: true, cost: 20},
	{name: "BPLS + ridge tanh", method: "bpls", net: tanhNet, cost: 2},
	{name: "tr-gn tanh", method: "tr-gn", net: tanhNet, budget: true, cost: 20},
	{name: "lbfgs tanh", method: "lbfgs", net: tanhNet, budget: true, cost: 20},
	{name: "SGD 1 tanh", method: "sgd", set: []string{"rate=1e-2"}, batch: 1, net: tanhNet, budget: true, cost: 20},
	{name: "Adam 64 tanh", method: "adam", net: tanhNet, batch: 64, budget: true, cost: 20},
	{name: "SOAP tanh", method: "soap", net: tanhNet, budget: true, cost: 20},
}

// bplsPrinted are the settings of BPLS as printed: eq. 5 and no ridge. BPLS + ridge is newtop's default, the shortest
// change of all nodes together and a ridge of 0.01.
var bplsPrinted = []string{"target=printed", "ridge-2=0"}

// config is the run of a column on a data set, without seed and threads.
func (c *bplsColumn) config(s *bplsSet) trainer.Config {
	r := s.config
	r.Optimizer, r.Set, r.Batch, r.Epochs = c.method, c.set, c.batch, c.epochs
	r.Hidden, r.Act, r.Init = []int{50}, "tanh", "uniform:0.2"
	switch c.net {
	case paperNet:
		r.Act, r.Init = "softmax", "uniform:1"
	case wideNet:
		r.Hidden = []int{500}
	case noHidden:
		r.Hidden = []int{}
	}
	return r
}

// bplsStudy is a data set with all its runs.
type bplsStudy struct {
	bplsSet
	columns []bplsColumn
	runs    map[string][]*outcome // by column
	factor  float64               // how many times as long as BPLS the longest budget is
}

// BPLS reproduces tables I and II and figures 7–9 of [T].
func BPLS(ctx context.Context, o Options) (*Report, error) {
	trials := o.trials(10, 1)
	columns, err := chosen(bplsColumns, o.Only, func(c bplsColumn) string { return c.name })
	if err != nil {
		return nil, err
	}
	columns = withBPLS(columns)
	sets, err := chosenSets(o)
	if err != nil {
		return nil, err
	}
	factor := 10.0
	if o.Quick {
		factor = 2
		for i := range columns {
			columns[i].epochs = min(columns[i].epochs, 3)
		}
	}
	r := &Report{Name: "bpls", Paper: paperT, Trials: trials, Seeds: seedsOf(trials)}
	run := &schedule{threads: o.Threads, journal: o.Journal, gauge: gauge{tell: o.Progress}}
	for _, s := range sets {
		for i := range columns {
			run.gauge.all += columns[i].work(&s, trials)
		}
	}
	var studies []*bplsStudy
	for i := range sets {
		s := &bplsStudy{bplsSet: sets[i], columns: columns, runs: map[string][]*outcome{}, factor: factor}
		if err := s.measure(ctx, run, trials); err != nil {
			bplsConclude(r, studies, run, o.Quick)
			return r, err
		}
		studies = append(studies, s)
		if r.Data != "" {
			r.Data += "; "
		}
		r.Data += s.data()
	}
	bplsConclude(r, studies, run, o.Quick)
	return r, nil
}

// bplsConclude reports of the data sets that are measured.
func bplsConclude(r *Report, studies []*bplsStudy, run *schedule, quick bool) {
	if len(studies) == 0 {
		return
	}
	r.Tables = bplsTables(studies, run)
	r.Statements = bplsStatements(studies)
	if quick {
		r.Statements = opened(r.Statements, "a quick look decides nothing")
		r.Tables[0].Notes = append(r.Tables[0].Notes, "A quick look, which decides nothing: the smaller data set, one trial, three epochs of first-order methods.")
	}
}

// withBPLS returns the columns with those of BPLS that the others are held against, and whose time is their budget.
func withBPLS(columns []bplsColumn) []bplsColumn {
	need := map[string]bool{"BPLS": true}
	for _, c := range columns {
		need[c.name] = true
		need[bplsTanh] = need[bplsTanh] || c.budget && c.net == tanhNet
	}
	return slices.DeleteFunc(slices.Clone(bplsColumns), func(c bplsColumn) bool { return !need[c.name] })
}

// chosenSets returns the data sets whose files are there, or the one that was asked for, or generated digits.
func chosenSets(o Options) ([]bplsSet, error) {
	sets := slices.Clone(bplsSets)
	asked := o.Data != ""
	if asked {
		sets = slices.DeleteFunc(sets, func(s bplsSet) bool { return s.name != o.Data })
		if len(sets) == 0 {
			sets = []bplsSet{{name: o.Data, title: o.Data}}
		}
	} else {
		sets = append(sets, bplsSet{name: "digits", title: "generated digits"})
	}
	var some []bplsSet
	for _, s := range sets {
		if s.name == "digits" && len(some) > 0 {
			break
		}
		err := s.find(o.DataDir)
		if _, ok := errors.AsType[*datasets.NotFoundError](err); ok && !asked {
			continue
		}
		if err != nil {
			return nil, err
		}
		some = append(some, s)
	}
	if o.Quick {
		slices.SortFunc(some, func(a, b bplsSet) int { return a.rows - b.rows })
		some = some[:1]
	}
	return some, nil
}

// find settles how the rows are split: as [T] does, four fifths to train on, but for a set that has its own test file.
func (s *bplsSet) find(dir string) error {
	s.config = trainer.Config{Data: s.name, DataDir: dir}
	d, err := datasets.Load(s.name, datasets.Options{Dir: dir, Seed: 1})
	if err != nil {
		return err
	}
	if d.Classes == nil {
		return &trainer.ConfigError{Field: "--data", Value: s.name, Expected: "a set of classes"}
	}
	const whole = 70_000
	if all := d.Train.Rows() + d.Test.Rows(); all < whole {
		s.config.Test = "0.2"
	}
	s.rows = d.Train.Rows()
	return nil
}

// trials is how many runs a column has where there are so many seeds: BPLS ten times as many, as in the paper.
func (c *bplsColumn) trials(seeds int) int {
	switch {
	case c.name == "BPLS" && seeds > 1:
		return seeds * bplsTrials / 10
	case c.once:
		return 1
	case c.budget:
		return min(seeds, budgetTrials)
	}
	return seeds
}

// work is what a column costs in all its trials.
func (c *bplsColumn) work(s *bplsSet, seeds int) float64 {
	return c.cost * float64(c.trials(seeds)) * float64(s.rows)
}

// measure does the runs of a data set: BPLS and all that uses several cores one after another on all of them, methods
// on single rows side by side, each on one core.
func (s *bplsStudy) measure(ctx context.Context, run *schedule, trials int) error {
	for i := range s.columns {
		c := &s.columns[i]
		all := make([]trial, c.trials(trials))
		for k := range all {
			all[k] = s.trial(c, k, len(all))
		}
		var err error
		if c.rival {
			s.runs[c.name], err = run.run(ctx, all)
		} else {
			s.runs[c.name], err = run.oneByOne(ctx, all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// oneByOne runs trials one after another on all cores.
func (s *schedule) oneByOne(ctx context.Context, trials []trial) ([]*outcome, error) {
	out := make([]*outcome, len(trials))
	for i := range trials {
		var err error
		if out[i], err = s.one(ctx, &trials[i], s.cores()); err != nil {
			return out, err
		}
	}
	return out, nil
}

// trial is run number k of n.
func (s *bplsStudy) trial(c *bplsColumn, k, n int) trial {
	t := trial{
		what: fmt.Sprintf("%s on %s, trial %d of %d", c.name, s.title, k+1, n), config: c.config(&s.bplsSet),
		work: c.cost * float64(s.rows),
	}
	t.config.Seed = uint64(k) + 1
	t.name = fmt.Sprintf("%s, %d epochs at most, seed %d, %s, %d rows", c.name, c.epochs, k+1, s.title, s.rows)
	end := float64(max(c.epochs, 10))
	t.share = func(p *point) float64 { return float64(p.epoch) / end }
	if c.budget {
		limit := s.factor * s.budget(c.net)
		// With room for the figures that are taken after every epoch, which are not in a method's own time.
		t.name += fmt.Sprintf(", %.3g times BPLS's time", s.factor)
		t.config.TimeLimit = time.Duration((1.2*limit + 0.1) * float64(time.Second))
		t.share = func(p *point) float64 { return p.elapsed / limit }
	}
	return t
}

// budget is how long BPLS took on that net, in seconds.
func (s *bplsStudy) budget(net bplsNet) float64 {
	name := "BPLS"
	if net == tanhNet {
		name = bplsTanh
	}
	mean, _ := moments(collect(s.runs[name], secondsAtEnd))
	return mean
}

// within is the best test accuracy that a run had by a time, and the best in training.
func within(o *outcome, seconds float64) (train, test float64) {
	train, test = math.Inf(-1), math.Inf(-1)
	for i := range o.points {
		if p := &o.points[i]; i == 0 || p.elapsed <= seconds {
			train, test = max(train, 1-p.wrong), max(test, 1-p.testErr)
		}
	}
	return train, test
}

// workWithin is the work that a run had done by a time.
func workWithin(o *outcome, seconds float64) float64 {
	work := 0.0
	for i := range o.points {
		if p := &o.points[i]; p.elapsed <= seconds {
			work = p.equivalents
		}
	}
	return work
}
