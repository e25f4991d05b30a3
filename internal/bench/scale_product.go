package bench

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/internal/vector"
	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer"
	"newtop/trainer/objective"
)

// TeamProduct is what an Hv takes on kept passes, of the letters with so many training rows.
type TeamProduct struct {
	Net     string  `json:"net"` // hidden layers
	Weights int     `json:"weights"`
	Rows    int     `json:"rows"`
	PerRow  float64 `json:"operations_row"` // multiplications and additions of matrix products
	Setups  []Setup `json:"setups"`
}

// Setup is how many processes of how many threads compute together. Those of one process measure newtop without MPI.
type Setup struct {
	Ranks    int     `json:"ranks"`
	Threads  int     `json:"threads"` // of each
	MedianMS float64 `json:"median_ms"`
	BestMS   float64 `json:"best_ms"`
}

// teamProblem is a net on letters.
type teamProblem struct {
	hidden []int
	rows   int
}

// problems are those that are measured, the one with the most rows first. The nets have 6,066 and about a million weights,
// with Quick 68,000; few rows tell what does not depend on them.
func (o *ScaleOptions) problems() []teamProblem {
	letter, large := []int{70, 50}, []int{978, 978}
	if o.Quick {
		large = []int{240, 240}
		return []teamProblem{{letter, 4000}, {large, 1000}, {large, 200}}
	}
	return []teamProblem{{letter, letterRows}, {letter, letterRows / 8}, {large, 2000}, {large, 200}}
}

// MostRanks is how many processes the letters have rows for.
const MostRanks = 32

// lettersRows is how many rows the letters have, test rows included.
const lettersRows = 20_000

func (p *teamProblem) config(threads int) *trainer.Config {
	return &trainer.Config{Data: "letters", Hidden: p.hidden, Test: strconv.Itoa(lettersRows - p.rows), Threads: threads}
}

func (p *teamProblem) name() string { return fmt.Sprintf("%d-%d", p.hidden[0], p.hidden[1]) }

// MeasureTeam measures products of the team and, in process 0 alone, of one process. It returns the context's error if that
// ends first.
func MeasureTeam(ctx context.Context, team trainer.Team, o ScaleOptions) ([]TeamProduct, error) {
	o.fill()
	var list []TeamProduct
	if team.Size() > MostRanks {
		panic(fmt.Sprintf("bench: %d processes", team.Size()))
	}
	problems := o.problems()
	whole, err := trainer.Prepare(problems[0].config(o.Threads))
	if err != nil {
		return nil, err
	}
	for i := range problems {
		p := &problems[i]
		p.rows = max(p.rows, min(problems[0].rows, team.Size()*reduce.BlockRows)) // at least a leaf of the tree for each
		o.Progress(fmt.Sprintf("Hv of %s, %d rows", p.name(), p.rows))
		t, err := p.measure(ctx, team, whole.Train.Split, o.Budget*60/100/time.Duration(len(problems)), &o)
		if err != nil {
			return nil, err
		}
		list = append(list, *t)
		runtime.GC()
	}
	return list, nil
}

// measure binds the problem in every setup, in a single process to the first rows of the training set, and measures them in turn.
func (p *teamProblem) measure(ctx context.Context, team trainer.Team, train datasets.Split, budget time.Duration, o *ScaleOptions) (*TeamProduct, error) {
	prepared, err := team.Prepare(p.config(o.Threads))
	if err != nil {
		return nil, err
	}
	network := prepared.Network
	first := func(m *mat.Dense) *mat.Dense { return m.Slice(0, p.rows, 0, m.RawMatrix().Cols).(*mat.Dense) }
	w, v := make([]float64, network.Dim()), some(network.Dim())
	vector.Scale(w, 0.2, v) // about as weights begin
	out := &TeamProduct{Net: p.name(), Weights: len(w), Rows: p.rows, PerRow: 2 * network.Cost().Hessian}
	var calls []func()
	for _, s := range o.setups(team.Size()) {
		pool := reduce.NewPool(s.Threads)
		defer pool.Close()
		var l objective.Linearization
		if options := (models.Options{Pool: pool}); s.Ranks == 1 {
			l = network.Bind(first(train.Inputs), first(train.Targets), options)
		} else {
			l = team.Bind(objective.Rows{}, options)
		}
		dst := make([]float64, len(w))
		l.Update(w)
		calls = append(calls, func() { l.HessianTo(dst, v) })
		out.Setups = append(out.Setups, s)
	}
	ns := inBursts(ctx, budget, o.least(), calls)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i := range ns {
		t := summarize(ns[i])
		out.Setups[i].MedianMS, out.Setups[i].BestMS = t.milliseconds()
	}
	return out, nil
}

// setups are one process of as many threads as each has, one of all that it may have up to as many as all have together,
// and all processes.
func (o *ScaleOptions) setups(ranks int) []Setup {
	list := []Setup{{Ranks: 1, Threads: o.Threads}}
	if most := min(ranks*o.Threads, runtime.GOMAXPROCS(0)); most > o.Threads {
		list = append(list, Setup{Ranks: 1, Threads: most})
	}
	return append(list, Setup{Ranks: ranks, Threads: o.Threads})
}

// inBursts calls the functions in turn, each several times in a row as a solver does, until the budget is spent. The first call of
// a burst does not count: processes that have waited for long look for work less often.
func inBursts(ctx context.Context, budget time.Duration, least int, calls []func()) (ns [][]float64) {
	const burst = 20 * time.Millisecond
	ns = make([][]float64, len(calls))
	start := time.Now()
	for turn := 0; turn < least || time.Since(start) < budget; turn++ {
		for i, call := range calls {
			if ctx.Err() != nil {
				return ns
			}
			call()
			for begun := time.Now(); ; {
				ns[i] = append(ns[i], float64(elapsed(call)))
				if time.Since(begun) > burst {
					break
				}
			}
		}
	}
	return ns
}
