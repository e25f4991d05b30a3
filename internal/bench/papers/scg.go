package papers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"newtop/datasets"
	"newtop/trainer"
	"newtop/trainer/event"
)

// Scaled conjugate gradients with exact products s = E''p against the differences that [M §4.1] replaces,
//
//	s = (E'(w + σ_k p) − E'(w)) / σ_k,  σ_k = σ/‖p‖  [M eq. 15],
//
// of which the paper says that on "several test problems" exact products gave a minor speed-up, and that the relative
// error of a difference can be as high as 2ε/σ_k, ε being that of E'. It has no table. What is measured here: the
// iterations, the work and the time to a training loss over σ, the error itself, and what a product costs.

// scgProblem is a net to be trained until its loss is reached.
type scgProblem struct {
	name   string
	config trainer.Config
	loss   float64
	most   int // iterations
	quick  bool
	cost   float64 // of a run, in any unit
	net    string  // in words
}

// scgProblems are a hard one for every bit, one with a long narrow valley, a curve, and many classes. The letters are
// the first 4,000 of UCI's where its file is.
func scgProblems(o Options) ([]scgProblem, error) {
	letter := trainer.Config{Data: "letter", DataDir: o.DataDir, Test: "16000", Hidden: []int{70, 50}}
	if _, err := datasets.Load("letter", datasets.Options{Dir: o.DataDir, Test: letter.Test}); err != nil {
		var missing *datasets.NotFoundError
		if !errors.As(err, &missing) {
			return nil, err
		}
		letter.Data, letter.DataDir = "letters", ""
	}
	all := []scgProblem{
		{name: "parity", config: trainer.Config{Data: "parity", Hidden: []int{16}}, loss: 0.01, most: 1000, quick: true, cost: 1},
		{name: "spirals", config: trainer.Config{Data: "spirals", Hidden: []int{20, 20}}, loss: 0.1, most: 3000, cost: 40},
		{name: "sine", config: trainer.Config{Data: "sine", Hidden: []int{20}}, loss: 0.0055, most: 2000, quick: true, cost: 2},
		{name: letter.Data, config: letter, loss: 0.05, most: 300, quick: true, cost: 25},
	}
	if o.Data != "" {
		i := slices.IndexFunc(all, func(p scgProblem) bool { return p.name == o.Data })
		if i < 0 {
			return nil, &trainer.ConfigError{Field: "--data", Value: o.Data, Expected: "parity, spirals, sine or " + letter.Data + ", or no such flag"}
		}
		return all[i : i+1], nil
	}
	if o.Quick {
		all = slices.DeleteFunc(all, func(p scgProblem) bool { return !p.quick })
	}
	return all, nil
}

// scgColumn is a way to compute products.
type scgColumn struct {
	name  string
	sigma float64 // 0: exact
}

var scgColumns = []scgColumn{
	{"exact", 0}, {"σ=1e-2", 1e-2}, {"σ=1e-4", 1e-4}, {"σ=1e-6", 1e-6}, {"σ=1e-8", 1e-8},
	{"σ=1e-10", 1e-10}, {"σ=1e-12", 1e-12}, {"σ=1e-14", 1e-14}, {"σ=1e-16", 1e-16},
}

// scgRun is what came of one run. Where it did not reach the loss the figures are those at its end.
type scgRun struct {
	Iterations  float64 `json:"iterations"`
	Equivalents float64 `json:"equivalents"`
	Seconds     float64 `json:"seconds"`
	Reached     bool    `json:"reached"`
}

// scgStudy is one problem with all its runs: runs[i] are those of column i, one for each seed.
type scgStudy struct {
	scgProblem
	columns []scgColumn
	runs    [][]scgRun
	start   [][]float64 // the errors of differences at the starting weights, for each of scgSigmas and seed
	end     [][]float64 // the same where the loss is reached
	price   scgPrice
	loads   []float64 // the foreign load meanwhile, of every run
	journal *Journal
}

// SCG compares exact products with differences in scaled conjugate gradients [M §4.1].
func SCG(ctx context.Context, o Options) (*Report, error) {
	trials := o.trials(10, 2)
	columns, err := chosen(scgColumns, o.Only, func(c scgColumn) string { return c.name })
	if err != nil {
		return nil, err
	}
	problems, err := scgProblems(o)
	if err != nil {
		return nil, err
	}
	r := &Report{Name: "scg", Paper: paperM, Trials: trials, Seeds: seedsOf(trials)}
	g := &gauge{tell: o.Progress}
	for _, p := range problems {
		g.all += p.cost * float64(trials*(len(columns)+1))
	}
	var studies []*scgStudy
	for _, p := range problems {
		s := &scgStudy{scgProblem: p, columns: columns, runs: make([][]scgRun, len(columns)), journal: o.Journal}
		s.config.Threads, s.config.TargetLoss, s.config.Epochs = o.Threads, p.loss, p.most
		if err := s.measure(ctx, r, trials, g); err != nil {
			return r, err
		}
		studies = append(studies, s)
		r.Tables = append(r.Tables, s.table())
	}
	r.Tables = append(r.Tables, scgErrors(studies), scgPrices(studies))
	r.Statements = scgStatements(studies)
	if o.Quick {
		r.Statements = opened(r.Statements, "a quick look decides nothing")
		r.Tables[0].Notes = append(r.Tables[0].Notes, "A quick look, which decides nothing: three problems in place of four, and two trials.")
	}
	return r, nil
}

// measure does the runs of a problem and looks at the products.
func (s *scgStudy) measure(ctx context.Context, r *Report, trials int, g *gauge) error {
	problem, err := trainer.Prepare(&s.config)
	if err != nil {
		return err
	}
	if r.Data != "" {
		r.Data += "; "
	}
	s.net = shapeOf(problem.Network)
	s.price.counted = productPrice(problem.Network.Cost())
	r.Data += fmt.Sprintf("%s (%s), %d rows", problem.Data.Name, s.net, problem.Train.Rows())
	for i, column := range s.columns {
		for seed := 1; seed <= trials; seed++ {
			g.begin(fmt.Sprintf("%s, %s, seed %d of %d", s.name, column.name, seed, trials))
			name := fmt.Sprintf("%s by %s to %g, seed %d, %s", s.name, column.name, s.loss, seed, s.net)
			run, foreign, err := recall(ctx, s.journal, name, func() (scgRun, error) { return scgTrain(ctx, s.config, column.sigma, uint64(seed)) })
			if err != nil {
				return err
			}
			s.runs[i] = append(s.runs[i], run)
			s.loads = append(s.loads, foreign)
			g.add(s.cost)
		}
	}
	for seed := 1; seed <= trials; seed++ {
		g.begin(fmt.Sprintf("%s, errors of differences, seed %d of %d", s.name, seed, trials))
		name := fmt.Sprintf("%s, errors of differences, seed %d, %s", s.name, seed, s.net)
		look, foreign, err := recall(ctx, s.journal, name, func() (scgLook, error) { return s.look(ctx, problem, uint64(seed)) })
		if err != nil {
			return err
		}
		s.start, s.end = addColumn(s.start, look.Start), addColumn(s.end, look.End)
		s.price.timed, s.price.loads = append(s.price.timed, look.Price), append(s.price.loads, foreign)
		g.add(s.cost)
	}
	return nil
}

// scgTrain trains until the loss is reached. A run that stalls or diverges is one that did not reach it.
func scgTrain(ctx context.Context, c trainer.Config, sigma float64, seed uint64) (scgRun, error) {
	c.Optimizer, c.Set, c.Seed = "scg", []string{"form=published"}, seed
	if sigma > 0 {
		c.Optimizer, c.Set = "scg-fd", append(c.Set, fmt.Sprintf("sigma=%g", sigma))
	}
	o, err := runTrial(ctx, c, nil, true, nil)
	if err != nil {
		return scgRun{}, err
	}
	e := o.end()
	return scgRun{Iterations: float64(e.epoch), Equivalents: e.equivalents, Seconds: e.elapsed, Reached: o.reason == event.ReasonTarget}, nil
}
