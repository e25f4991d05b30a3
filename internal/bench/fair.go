package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"newtop/trainer"
	"newtop/trainer/event"
)

// A fair race gives each method the same: as many settings, drawn alike, along axes of the same widths, judged on the same
// validation rows, and as much work in every run. Methods that go through batches have the same axes, and setting number i
// of all the same place on each:
//
//	rate      from a tenth to ten times the method's own, on a logarithmic scale
//	batch     64, 128, 256 or 512 rows
//	horizon   the linear schedule ends after a quarter of the work up to all of it
//	decay     rate·decay is 0 once in five times, else 10⁻⁴ to 10⁻², on a logarithmic scale
//	memory    β₂, or where there is none momentum: 0.8 to 0.999, 1 − β on a logarithmic scale
//
// Those that solve for their steps have axes of their own: how long the first step may be, how long its solve, and how
// exact. The best fairFinals by one seed have fairSeeds more, and the best mean of all wins. It runs on all training rows.
const (
	fairFinals = 4
	fairSeeds  = 3
)

// fairMethod is a method as it takes part.
type fairMethod struct {
	name, optimizer string
	rate            float64  // the middle of that axis
	memory          string   // the key of the last one
	fixed           []string // what all settings have
	axes            []fairAxis
}

// fairAxis is one of a method's own, on a logarithmic scale.
type fairAxis struct {
	key       string
	low, high float64
	whole     bool
}

// fairMethods go through batches.
var fairMethods = []fairMethod{
	{name: "soap", rate: 0.02, memory: "beta2"}, {name: "shampoo", rate: 0.03, memory: "beta2"},
	{name: "kfac", rate: 1, memory: "momentum"}, {name: "muon", rate: 0.05, memory: "momentum"},
	{name: "adam", rate: 0.01, memory: "beta2"}, {name: "nag", rate: 0.2, memory: "momentum"},
}

// solvingMethods solve for steps over all rows, hessian-free's with products over a part of them. As printed it solves to
// the paper's end, behind the paper's preconditioner, from the whole of the last solution (Martens 2010, sections 4.4, 4.5
// and 4.7; λ by section 4.1).
var solvingMethods = []fairMethod{
	{name: "hessian-free", fixed: []string{"schedule=constant"}, axes: []fairAxis{
		{"damping", 0.01, 1, false}, {"iterations", 3, 100, true}, {"batch", 512, 8192, true}, {"curvature-share", 0.1, 1, false}}},
	{name: "hessian-free as printed", optimizer: "hessian-free", fixed: []string{"iterations=250", "stop=progress",
		"preconditioner=diagonal", "warm-start=1", "batch=0", "schedule=constant"}, axes: []fairAxis{
		{"damping", 0.01, 100, false}, {"curvature-share", 0.02, 1, false}}},
	{name: "tr-gn", axes: trustAxes}, {name: "tr-newton", axes: trustAxes},
	{name: "lbfgs", axes: []fairAxis{{"memory", 3, 100, true}, {"curvature", 0.1, 0.9, false}}},
	{name: "scg", axes: []fairAxis{{"lambda", 1e-8, 1e-2, false}}},
}

var trustAxes = []fairAxis{{"radius", 0.1, 10, false}, {"limit", 3, 100, true}, {"block-xi", 0.01, 0.5, false}, {"blocks", 1, 8, true}}

// fairRaces are the races that are run so.
var fairRaces = []struct {
	name    string  // of a race, with solving behind it where those methods run on its problem without its goal
	budget  float64 // the work of a run in gradient equivalents
	methods []fairMethod
}{
	{"letter", 24, fairMethods}, {"letter" + solving, 300, solvingMethods}, {"letter-best", 120, fairMethods},
	{wideRace.name, 60, fairMethods}, {"mnist", 40, fairMethods}, {"recipes", 200, fairMethods}, {"recipes" + solving, 1000, solvingMethods},
}

// wideRace is letter with a net that has room for its lowest errors.
var wideRace = race{
	name: "letter-wide", what: "UCI letter, 16-200-150-26, the error after all epochs on noisy inputs",
	config: trainer.Config{Data: "letter", Hidden: []int{200, 150}, InputNoise: 0.1, Precision: "float32"},
}

const solving = "-solving"

// FairRaceNames lists them.
func FairRaceNames() (names []string) {
	for i := range fairRaces {
		names = append(names, fairRaces[i].name)
	}
	return names
}

// FairMethodNames lists who takes part.
func FairMethodNames() (names []string) {
	for _, m := range slices.Concat(fairMethods, solvingMethods) {
		names = append(names, m.name)
	}
	return names
}

// FairOptions say who races how often after how many settings.
type FairOptions struct {
	DataDir  string
	Only     []string // names of races; nil: all
	Methods  []string // nil: all
	Settings int      // of each method
	Seeds    int      // runs of the best of them
	Threads  int
	Journal  string // a file that keeps the trials, of which none is run again; empty: none
	Live     func(text string)
}

// FairRace is what came of a race.
type FairRace struct {
	Name     string       `json:"name"`
	What     string       `json:"what"`
	Goal     float64      `json:"goal,omitempty"`
	Regress  bool         `json:"regression,omitempty"`
	Budget   float64      `json:"budget"` // the work of a run, gradient equivalents
	Settings int          `json:"settings"`
	Entries  []*FairEntry `json:"methods"`
}

// FairEntry is a method with the best of its settings, and the runs of that on all training rows, a seed each.
type FairEntry struct {
	Method string        `json:"method"`
	Set    []string      `json:"set"`
	Work   []event.Float `json:"gradient_equivalents"` // until the goal, absent where it was not reached, or the end
	Last   []event.Float `json:"last"`                 // test error, or RMSE, after the last epoch
}

// Against returns the mean difference to another method's runs from the same seeds, of the work to a goal or of the
// error at the end, and its standard error; both are NaN where a run of either did not reach the goal.
func (e *FairEntry) Against(other *FairEntry, goal bool) (mean, se float64) {
	of, to := e.Last, other.Last
	if goal {
		of, to = e.Work, other.Work
	}
	var differences []float64
	for i := range min(len(of), len(to)) {
		if of[i].Absent() || to[i].Absent() {
			return math.NaN(), math.NaN()
		}
		differences = append(differences, float64(of[i]-to[i]))
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	return mean, deviation / math.Sqrt(float64(len(differences)))
}

// fairTrial is a run, and what came of it.
type fairTrial struct {
	Key   string      `json:"key"`
	Work  event.Float `json:"work"`  // when the goal was reached first, absent: never; without a goal at the end
	Last  event.Float `json:"last"`  // the error of the rows that decide, at the end
	Epoch int         `json:"epoch"` // the last
	Spent event.Float `json:"spent"` // in all
	Reg   bool        `json:"regression,omitempty"`
}

// score is less for a better trial: by the work to the goal, without one or behind those that reach it by the error.
func (t *fairTrial) score(goal float64) float64 {
	if goal > 0 && !t.Work.Absent() {
		return float64(t.Work)
	}
	if !t.Last.Finite() {
		return math.Inf(1)
	}
	if goal > 0 {
		return 1e6 * (1 + float64(t.Last))
	}
	return float64(t.Last)
}

// fair is fair races under way.
type fair struct {
	o     *FairOptions
	done  map[string]*fairTrial
	spent map[string]float64 // an epoch's work by method and batch
}

// MeasureFairRaces runs them. It returns the context's error if that ends first.
func MeasureFairRaces(ctx context.Context, o FairOptions) (out []*FairRace, err error) {
	f := fair{o: &o, done: make(map[string]*fairTrial), spent: make(map[string]float64)}
	if err := readJournal(o.Journal, func(t *fairTrial) { f.done[t.Key] = t }); err != nil {
		return nil, err
	}
	for _, name := range o.Only {
		if !slices.Contains(FairRaceNames(), name) {
			return nil, fmt.Errorf("no fair race %q: expected some of %s", name, strings.Join(FairRaceNames(), ", "))
		}
	}
	for i := range fairRaces {
		of := &fairRaces[i]
		if o.Only != nil && !slices.Contains(o.Only, of.name) {
			continue
		}
		problem, solves := strings.CutSuffix(of.name, solving)
		known := append(slices.Clone(races), wideRace)
		r := known[slices.IndexFunc(known, func(r race) bool { return r.name == problem })]
		if r.name = of.name; solves {
			r.what, _, _ = strings.Cut(r.what, ", to a test error")
			r.goal = 0
		}
		result := &FairRace{Name: r.name, What: r.what, Goal: r.goal, Budget: of.budget, Settings: o.Settings}
		for m := range of.methods {
			if name := of.methods[m].name; o.Methods == nil || slices.Contains(o.Methods, name) {
				entry, regress, err := f.method(ctx, &r, &of.methods[m], of.budget)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", r.name, name, err)
				}
				result.Regress = regress
				result.Entries = append(result.Entries, entry)
			}
		}
		if result.Entries != nil {
			out = append(out, result)
		}
	}
	return out, nil
}

// method tunes a method, and runs it.
func (f *fair) method(ctx context.Context, r *race, m *fairMethod, budget float64) (*FairEntry, bool, error) {
	type candidate struct {
		number int
		score  float64
	}
	var list []candidate
	for i := range f.o.Settings {
		t, err := f.run(ctx, r, m, i, 1, budget, true)
		if err != nil {
			return nil, false, err
		}
		list = append(list, candidate{i, t.score(r.goal)})
	}
	best := func(a, b candidate) int { return cmp.Compare(a.score, b.score) }
	slices.SortStableFunc(list, best)
	list = list[:min(fairFinals, len(list))]
	for k := range list {
		sum := list[k].score
		for seed := range uint64(fairSeeds) {
			t, err := f.run(ctx, r, m, list[k].number, 2+seed, budget, true)
			if err != nil {
				return nil, false, err
			}
			sum += t.score(r.goal)
		}
		list[k].score = sum / (fairSeeds + 1)
	}
	slices.SortStableFunc(list, best)
	winner := list[0].number
	set, horizon := m.setting(winner)
	e, regress := &FairEntry{Method: m.name, Set: set}, false
	for seed := range uint64(f.o.Seeds) {
		t, err := f.run(ctx, r, m, winner, 1+seed, budget, false)
		if err != nil {
			return nil, false, err
		}
		e.Work, e.Last, regress = append(e.Work, t.Work), append(e.Last, t.Last), t.Reg
	}
	if m.axes == nil {
		per, err := f.epoch(ctx, r, m, winner)
		if err != nil {
			return nil, false, err
		}
		e.Set = append(set, fmt.Sprint("horizon=", max(1, int(horizon*budget/per))))
	}
	f.o.Live(fmt.Sprintf("%s: %s %s: %.4g of the validation rows; test %.4g, work %.4g", r.name, e.Method,
		strings.Join(e.Set, " "), list[0].score, Median(e.Last), Median(e.Work)))
	return e, regress, nil
}

// setting returns number i of a method, and which share of a run's work its schedule takes.
func (m *fairMethod) setting(i int) (set []string, horizon float64) {
	rng := rand.New(rand.NewPCG(1, uint64(i)))
	along := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	write := func(key string, v float64) {
		text := strconv.FormatFloat(v, 'g', 3, 64)
		if v >= 1000 && v < 1e4 { // without an exponent
			text = fmt.Sprint(10 * math.Round(v/10))
		}
		set = append(set, key+"="+text)
	}
	if m.axes != nil {
		for _, a := range m.axes {
			v := along(a.low, a.high)
			if a.whole {
				v = math.Round(v)
			}
			write(a.key, v)
		}
		return slices.Concat(m.fixed, set), 1
	}
	rate := m.rate * along(0.1, 10)
	batch := 64 << rng.IntN(4)
	horizon = along(0.25, 1)
	none, decay := rng.IntN(5) == 0, along(1e-4, 1e-2)
	if none {
		decay = 0
	}
	memory := 1 - along(0.001, 0.2)
	write("rate", rate)
	write("weight-decay", decay/rate)
	write(m.memory, memory)
	return append(set, fmt.Sprint("batch=", batch), "schedule=linear"), horizon
}

// epoch returns the work of an epoch of a method that goes through batches.
func (f *fair) epoch(ctx context.Context, r *race, m *fairMethod, i int) (float64, error) {
	set, _ := m.setting(i)
	key := r.name + " " + m.name + " " + set[3]
	if f.spent[key] == 0 {
		t, err := f.train(ctx, r, m, set, 1, math.Inf(1), 1, false, "epoch "+key)
		if err != nil {
			return 0, err
		}
		f.spent[key] = float64(t.Spent)
	}
	return f.spent[key], nil
}

// mostEpochs bounds a method that solves for its steps, should they cost nothing.
const mostEpochs = 10000

// run runs a setting from a seed, on the training rows without the validation rows, which judge it, or on all, which
// the test rows do.
func (f *fair) run(ctx context.Context, r *race, m *fairMethod, i int, seed uint64, budget float64, tuning bool) (*fairTrial, error) {
	set, share := m.setting(i)
	epochs := mostEpochs
	if m.axes == nil {
		per, err := f.epoch(ctx, r, m, i)
		if err != nil {
			return nil, err
		}
		horizon := max(1, int(share*budget/per))
		set = append(set, fmt.Sprint("horizon=", horizon))
		// Behind the schedule's end the weights stay as they are.
		epochs, budget = min(max(1, int(budget/per)), horizon), math.Inf(1)
	}
	what := "test"
	if tuning {
		what = "validation"
	}
	return f.train(ctx, r, m, set, epochs, budget, seed, tuning,
		fmt.Sprintf("%s %s %s seed %d %s", what, r.name, m.name, seed, strings.Join(set, " ")))
}

// train trains once, up to a number of epochs or the last one within a budget, unless the journal has it.
func (f *fair) train(ctx context.Context, r *race, m *fairMethod, set []string, epochs int, budget float64, seed uint64,
	tuning bool, key string) (*fairTrial, error) {
	if t := f.done[key]; t != nil {
		return t, nil
	}
	c := r.config
	c.DataDir, c.Threads, c.Seed, c.Weights = f.o.DataDir, f.o.Threads, seed, "last"
	c.Optimizer, c.Set, c.Epochs = cmp.Or(m.optimizer, m.name), set, epochs
	if c.TargetError = r.goal; tuning {
		c.Validation, c.Patience = "0.15", -1
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	end := &fairEnd{tuning: tuning, goal: r.goal, budget: event.Float(budget), over: stop}
	end.Work, end.Last, end.Key = event.Absent, event.Absent, key
	session, err := trainer.New(c, end)
	if err == nil {
		err = session.Run(within)
	}
	if within.Err() != nil && ctx.Err() == nil { // the budget ended it
		err = nil
	}
	if apart := (*trainer.DivergedError)(nil); err != nil && !errors.As(err, &apart) {
		return nil, err
	} else if err != nil {
		end.Last = event.Absent
	}
	f.done[key] = &end.fairTrial
	return &end.fairTrial, keepInJournal(f.o.Journal, &end.fairTrial)
}

// fairEnd records how a run ends.
type fairEnd struct {
	fairTrial
	tuning bool
	goal   float64
	budget event.Float
	over   context.CancelFunc // ends the run
}

func (f *fairEnd) Record(e event.Event) error {
	epoch, ok := e.(event.EpochEvent)
	if !ok {
		return nil
	}
	if epoch.GradientEquivalents > f.budget {
		f.over()
		return nil
	}
	v, rmse := epoch.TestError, epoch.TestRMSE
	if f.tuning {
		v, rmse = epoch.ValidationError, epoch.ValidationRMSE
	}
	if f.Reg = v.Absent(); f.Reg {
		v = rmse
	}
	f.Last, f.Epoch, f.Spent = v, epoch.Epoch, epoch.GradientEquivalents
	if f.goal == 0 || f.Work.Absent() && float64(v) <= f.goal {
		f.Work = f.Spent
	}
	return nil
}

func (f *fairEnd) Flush() error { return nil }
