package papers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// The toy problems of [T, §III-A]: a net 1-3-2, whose inputs have a bias beside them (M = 2) and whose hidden nodes have
// none, so that the outputs have no biases, learns two functions of x at x = 1, 3, …, 9 from targets
// with normal noise of standard deviation σ, and is tested at x = 2, 4, …, 10 without. The figure of merit is the
// paper's
//
//	RMSE = √( (1/M_c) Σ_m ‖ỹ_m − ŷ_m‖² ),
//
// where ỹ_m and ŷ_m are the ten wanted and the ten estimated numbers of run m of M_c. In training ỹ_m are the noisy
// targets. Run m draws its weights from U[−1, 1] and its noise, the same for every σ but for its size, from seed m.

// toy is one of the two problems.
type toy struct {
	data, title string
	figure      int // the paper's
	act         models.Activation
	sigmas      []float64
	network     *models.Network
}

// toyProblems returns both. The paper gives the values of σ only as the axis of a figure.
func toyProblems() []*toy {
	all := []*toy{
		{data: "bpls-linear", title: "two lines", figure: 4, act: models.Identity, sigmas: []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{data: "bpls-sigmoid", title: "two curves", figure: 5, act: models.Sigmoid, sigmas: []float64{0, 0.02, 0.04, 0.06, 0.08, 0.1}},
	}
	for _, t := range all {
		network, err := models.NewNetwork(models.Chain(1, []int{3}, 2, t.act, t.act, models.SquaredError, models.SkipNone))
		if err != nil {
			panic("papers: " + err.Error())
		}
		t.network = network
	}
	return all
}

// dim is the number of weights and biases that are not 0 throughout: all but the outputs' biases, which lie behind them.
func (t *toy) dim() int { return t.network.Dim() - t.network.Outputs() }

// unbiased is an objective whose outputs have no biases: those numbers of w are 0, and nothing depends on them.
type unbiased struct {
	*objective.Objective
	dim int
}

var (
	_ optim.RowObjective      = (*unbiased)(nil)
	_ optim.JacobianObjective = (*unbiased)(nil)
	_ optim.LayeredObjective  = (*unbiased)(nil)
)

func (u *unbiased) GradientTo(dst, w []float64) float64 {
	loss := u.Objective.GradientTo(dst, w)
	clear(dst[u.dim:])
	return loss
}

func (u *unbiased) BatchGradientTo(dst, w []float64, rows []int) float64 {
	loss := u.Objective.BatchGradientTo(dst, w, rows)
	clear(dst[u.dim:])
	return loss
}

func (u *unbiased) GaussNewtonMatrixTo(dst *mat.SymDense, w []float64, watch func(part, parts int) error) error {
	err := u.Objective.GaussNewtonMatrixTo(dst, w, watch)
	n := dst.SymmetricDim()
	for i := range n {
		for j := max(i, u.dim); j < n; j++ {
			dst.SetSym(i, j, 0)
		}
	}
	return err
}

func (u *unbiased) Chain() (*optim.Chain, error) {
	c, err := u.Objective.Chain()
	if err == nil {
		c.Layers[len(c.Layers)-1].Unbiased = true
	}
	return c, err
}

// toyMethod is one column: a method with its settings.
type toyMethod struct {
	name, method string
	set          [][2]string
	steps        int     // outer iterations at most
	rival        bool    // one of the paper's first-order methods
	cost         float64 // of a run, in any unit
}

// toyMethods are the paper's five, its first-order ones in single rows for 1,000 epochs at the rates that it
// names, and ours beside them. BPLS is as printed, eq. 5 without a ridge; BPLS + ridge is newtop's default for classes, as
// in the images.
var toyMethods = []toyMethod{
	{name: "BPLS", method: "bpls", set: [][2]string{{"target", "printed"}}, steps: 1, cost: 1},
	{name: "SGD", method: "sgd", set: [][2]string{{"rate", "1e-3"}, {"batch", "1"}}, steps: 1000, rival: true, cost: 50},
	{name: "NAG", method: "nag", set: [][2]string{{"rate", "1e-3"}, {"batch", "1"}}, steps: 1000, rival: true, cost: 60},
	{name: "Adam", method: "adam", set: [][2]string{{"rate", "1e-3"}, {"batch", "1"}}, steps: 1000, rival: true, cost: 60},
	{name: "AdaGrad", method: "adagrad", set: [][2]string{{"rate", "1e-1"}, {"batch", "1"}}, steps: 1000, rival: true, cost: 50},
	{name: "BPLS + ridge", method: "bpls", set: [][2]string{{"ridge-1", "1e-2"}}, steps: 1, cost: 1},
	{name: "random hidden", method: "bpls", set: [][2]string{{"target", "none"}}, steps: 1, cost: 1},
	{name: "lm", method: "lm", steps: 100, cost: 10},
}

// toyRun is what came of one run: ‖ỹ − ŷ‖² at the training and the test points, and the seconds that the method took.
// A run whose weights overflowed has infinite distances.
type toyRun struct{ train, test, seconds float64 }

func (r toyRun) MarshalJSON() ([]byte, error) {
	return json.Marshal(event.Floats([]float64{r.train, r.test, r.seconds}))
}

func (r *toyRun) UnmarshalJSON(text []byte) error {
	var v [3]event.Float
	err := json.Unmarshal(text, &v)
	*r = toyRun{float64(v[0]), float64(v[1]), float64(v[2])}
	return err
}

// Toys reproduces figures 4 and 5 of [T]: the RMSE against the noise on the two toy problems.
func Toys(ctx context.Context, o Options) (*Report, error) {
	trials := o.trials(1000, 50)
	methods, err := chosen(toyMethods, o.Only, func(m toyMethod) string { return m.name })
	if err != nil {
		return nil, err
	}
	r := &Report{
		Name: "toys", Paper: paperT, Trials: trials, Seeds: seedsOf(trials),
		Data: "bpls-linear and bpls-sigmoid: 5 points to train on, with noise, and 5 to test on, generated",
	}
	problems, err := chosenToys(o.Data)
	if err != nil {
		return nil, err
	}
	g := &gauge{tell: o.Progress}
	for _, t := range problems {
		for _, m := range methods {
			g.all += m.cost * float64(len(t.sigmas)*trials)
		}
	}
	for _, t := range problems {
		f := &toyFigure{toy: t, methods: methods, runs: make([][][]toyRun, len(methods)), loads: make([][]float64, len(methods))}
		for i := range methods {
			m := &methods[i]
			for _, sigma := range t.sigmas {
				g.begin(fmt.Sprintf("%s on %s, σ = %g", m.name, t.title, sigma))
				anew := false
				// One line for all runs, each of which takes a thousandth of a second.
				name := fmt.Sprintf("%s on %s, σ = %g, seeds 1 to %d", m.name, t.title, sigma, trials)
				runs, foreign, err := recall(ctx, o.Journal, name, func() ([]toyRun, error) {
					runs := make([]toyRun, trials)
					anew = true
					err := sideBySide(ctx, trials, o.Threads, func(k int) {
						runs[k] = toyTrial(ctx, t, m, sigma, uint64(k)+1)
						g.add(m.cost)
					})
					return runs, err
				})
				if err != nil {
					return r, err
				}
				if !anew {
					g.add(m.cost * float64(trials))
				}
				f.runs[i] = append(f.runs[i], runs)
				f.loads[i] = append(f.loads[i], foreign)
			}
		}
		r.Tables = append(r.Tables, f.tables()...)
		r.Statements = append(r.Statements, f.statements()...)
	}
	if o.Quick {
		r.Statements = opened(r.Statements, "a quick look decides nothing")
		r.Tables[0].Notes = append(r.Tables[0].Notes, fmt.Sprintf("A quick look, which decides nothing: %d runs in place of 1,000.", trials))
	}
	return r, nil
}

// chosenToys returns both problems, or the one of a data set.
func chosenToys(data string) ([]*toy, error) {
	all := toyProblems()
	if data == "" {
		return all, nil
	}
	i := slices.IndexFunc(all, func(t *toy) bool { return t.data == data })
	if i < 0 {
		return nil, &trainer.ConfigError{Field: "--data", Value: data, Expected: "bpls-linear or bpls-sigmoid, or no such flag"}
	}
	return all[i : i+1], nil
}

// toyTrial is one run.
func toyTrial(ctx context.Context, t *toy, m *toyMethod, sigma float64, seed uint64) toyRun {
	data, err := datasets.Load(t.data, datasets.Options{Noise: sigma, Seed: seed})
	if err != nil {
		panic("papers: " + err.Error()) // a generator's
	}
	w := make([]float64, t.network.Dim())
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range w[:t.dim()] {
		w[i] = 2*rng.Float64() - 1
	}
	began := time.Now()
	err = toyTrain(ctx, t, m, data, w, seed)
	run := toyRun{seconds: time.Since(began).Seconds()}
	if _, overflowed := errors.AsType[*optim.NotFiniteError](err); overflowed {
		run.train, run.test = math.Inf(1), math.Inf(1)
		return run
	}
	if err != nil && ctx.Err() == nil {
		panic("papers: " + err.Error())
	}
	run.train = toyDistance(t, w, &data.Train)
	run.test = toyDistance(t, w, &data.Test)
	return run
}

// toyTrain trains the weights w until the method has done its steps or sees no further progress.
func toyTrain(ctx context.Context, t *toy, m *toyMethod, data *datasets.Dataset, w []float64, seed uint64) error {
	info, err := methods.Lookup(m.method)
	if err != nil {
		panic("papers: " + err.Error())
	}
	s := &optim.State{
		Objective: &unbiased{objective.New(t.network, data.Train.Inputs, data.Train.Targets, models.Options{}), t.dim()},
		W:         w,
		Gradient:  make([]float64, len(w)),
		Settings:  optim.NewSettings(info.Parameters),
		Rand:      rand.New(rand.NewPCG(seed, 2)),
	}
	for _, kv := range m.set {
		if err := s.Settings.SetText(kv[0], kv[1]); err != nil {
			panic("papers: " + err.Error())
		}
	}
	method := info.New()
	for range m.steps {
		if _, err := method.Step(ctx, s); errors.Is(err, optim.ErrStalled) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// toyDistance returns ‖ỹ − ŷ‖² over all points and outputs.
func toyDistance(t *toy, w []float64, rows *datasets.Split) float64 {
	y := mat.NewDense(rows.Rows(), t.network.Outputs(), nil)
	t.network.OutputTo(y, w, rows.Inputs)
	d := floats.Distance(y.RawMatrix().Data, rows.Targets.RawMatrix().Data, 2)
	if math.IsNaN(d) {
		return math.Inf(1)
	}
	return d * d
}
