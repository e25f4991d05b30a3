package papers

import (
	"context"
	"fmt"
	"math"
	"time"

	"newtop/trainer"
	"newtop/trainer/objective"
)

// recipesFigures are one column of [MD, table 1]: means of twenty trials until the training RMSE is 0.002. NaN: the
// paper has none.
type recipesFigures struct{ seconds, epochs, perEpoch, inner, flops, test float64 }

// recipesColumn is a model and a way to train it.
type recipesColumn struct {
	name, long string
	optimizer  string
	set        []string
	mixture    bool
	work       float64 // of a trial, in seconds of one core
	paper      recipesFigures
}

// The names of the columns that others are compared with.
const (
	recipesA, recipesB, recipesC, recipesD, recipesE   = "A", "B", "C", "D", "E"
	recipesMixB, recipesMixC, recipesMixD, recipesMixE = "mixture B", "mixture C", "mixture D", "mixture E"
)

func recipesColumns() []recipesColumn {
	const (
		single = " on one net"
		mixed  = " on five experts"
	)
	nan := math.NaN()
	jacobi := []string{"preconditioner=jacobi"}
	return []recipesColumn{
		{recipesA, "A" + single, "online-bp", []string{"rate=0.002"}, false, 850,
			recipesFigures{8748.4 * minute, 2916495.2, 0.2, nan, nan, 0.020}},
		{recipesB, "B" + single, "tr-rows", nil, false, 80, recipesFigures{336.4 * minute, 272.5, 73.8, 218.3, 3.9, 0.015}},
		{recipesC, "C" + single, "tr-gn", nil, false, 9, recipesFigures{107.2 * minute, 261.5, 24.6, 216.0, 1.0, 0.015}},
		{recipesD, "D" + single, "tr-gn-jacobi", nil, false, 9, recipesFigures{31.2 * minute, 132.7, 14.1, 142.7, 1.0, 0.015}},
		{recipesE, "E" + single, "tr-newton", jacobi, false, 20, recipesFigures{64.5 * minute, 300.3, 12.9, 110.9, 1.3, 0.015}},
		{recipesMixB, "B" + mixed, "tr-rows", nil, true, 160, recipesFigures{162.3 * minute, 147.3, 65.2, 193.8, 4.1, 0.016}},
		{recipesMixC, "C" + mixed, "tr-gn", nil, true, 50, recipesFigures{57.6 * minute, 160.0, 21.6, 174.1, 1.2, 0.016}},
		{recipesMixD, "D" + mixed, "tr-gn-jacobi", nil, true, 45, recipesFigures{20.9 * minute, 179.1, 7.0, 66.0, 1.2, 0.017}},
		{recipesMixE, "E" + mixed, "tr-newton", jacobi, true, 40, recipesFigures{nan, nan, nan, nan, nan, nan}},
	}
}

// recipesRun is a reproduction of the table.
type recipesRun struct {
	options Options
	trials  int
	target  float64 // the training RMSE
	base    trainer.Config
	problem *objective.Problem // of the single net
	columns []recipesColumn
	grid
	online, byRows time.Duration // the budgets of a trial of A and of B
	schedule
}

const (
	recipesTarget = 0.002 // [MD, §3]: "application requirement"
	recipesEpochs = 5000  // at most, of B to E
	// Online backpropagation gets this times what the fastest took on one net, so that it is seen to be a hundred times
	// slower or not, in a single trial. An eighth goes into measuring its many short epochs, which is not counted as its time.
	onlineBudget = 120
	onlineTrials = 1
	// B takes the steps of C up to rounding, each many times dearer: one trial of so many is enough, but two at least to
	// see a spread. Each gets this times what C took on one net, and on five experts, which take longer, mixtureShare
	// times that.
	rowsShare    = 4
	rowsTrials   = 2
	rowsBudget   = 10
	mixtureShare = 2

	quickRecipesTest   = "1002" // of 1,302 rows: 300 are left to train on
	quickRecipesTarget = 0.03
	quickRecipesBudget = 3 * time.Second
	defaultBudget      = 10 * time.Minute // where nothing was measured that it could follow from
)

// Recipes reproduces table 1 of [MD]: colour recipes, on one net and on a mixture of five experts.
func Recipes(ctx context.Context, o Options) (*Report, error) {
	r := &recipesRun{options: o, trials: o.trials(20, 1), target: recipesTarget}
	var err error
	if r.columns, err = chosen(recipesColumns(), o.Only, func(c recipesColumn) string { return c.name }); err != nil {
		return nil, err
	}
	if o.Data != "" && o.Data != "recipes" {
		return nil, &trainer.ConfigError{Field: "--data", Value: o.Data, Expected: "recipes: the experts' gates look at the hue of its colours"}
	}
	if o.Quick {
		r.target = quickRecipesTarget
	}
	r.base = trainer.Config{Data: "recipes", DataDir: o.DataDir, Epochs: recipesEpochs}
	if o.Quick {
		r.base.Test = quickRecipesTest
	}
	single := r.config(&recipesColumn{}, 1)
	if r.problem, err = single.Prepare(); err != nil {
		return nil, err
	}
	// The loss is the mean over rows of half the sum of squares over the outputs.
	r.base.TargetLoss = float64(r.problem.Data.Outputs()) / 2 * r.target * r.target
	if err := r.train(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	return r.report(), ctx.Err()
}

// config is the one of a trial.
func (r *recipesRun) config(column *recipesColumn, seed uint64) trainer.Config {
	c := r.base
	c.Optimizer, c.Set, c.Seed = column.optimizer, asPrinted(column.optimizer, column.set), seed
	if column.mixture {
		c.Experts, c.ExpertHidden, c.Gate = 5, []int{16}, "hue"
	} else {
		c.Hidden = []int{82}
	}
	return c
}

// trialsOf says how many trials a column has.
func (r *recipesRun) trialsOf(c *recipesColumn) int {
	switch c.optimizer {
	case "online-bp":
		return min(r.trials, onlineTrials)
	case "tr-rows":
		return min(r.trials, max(rowsTrials, r.trials/rowsShare))
	}
	return r.trials
}

// train runs the columns on one net but A and B, from which the budgets of those two follow, and then all others, so
// that the one long trial of A has the mixtures beside it.
func (r *recipesRun) train(ctx context.Context) error {
	var before, after []trial
	r.results = make([][]*outcome, len(r.columns))
	r.threads, r.gauge.tell = r.options.Threads, r.options.Progress
	for i := range r.columns {
		column := &r.columns[i]
		r.names = append(r.names, column.name)
		n := r.trialsOf(column)
		for k := range n {
			t := trial{
				column: i, config: r.config(column, uint64(k)+1), work: column.work,
				what: fmt.Sprintf("%s, trial %d of %d", column.long, k+1, n), share: r.share,
			}
			if column.bounded() || column.mixture {
				after = append(after, t)
			} else {
				before = append(before, t)
			}
			r.gauge.all += t.work
		}
	}
	if err := r.stage(ctx, before); err != nil {
		return err
	}
	r.online, r.byRows = r.budgets()
	for i := range after {
		column := &r.columns[after[i].column]
		if !column.bounded() {
			continue
		}
		c := &after[i].config
		c.TimeLimit, c.Epochs = r.online, 0
		if c.Optimizer == "tr-rows" {
			c.TimeLimit = r.byRows
			if column.mixture && !r.options.Quick {
				c.TimeLimit *= mixtureShare
			}
		}
		limit := c.TimeLimit.Seconds()
		after[i].share = func(p *point) float64 { return max(p.elapsed/limit, r.share(p)) }
	}
	return r.stage(ctx, after)
}

// bounded reports whether a column's trials have a time limit.
func (c *recipesColumn) bounded() bool { return c.optimizer == "online-bp" || c.optimizer == "tr-rows" }

func (r *recipesRun) stage(ctx context.Context, trials []trial) error {
	outcomes, err := r.run(ctx, trials)
	for i, o := range outcomes {
		column := trials[i].column
		r.results[column] = append(r.results[column], o)
	}
	return err
}

// share says how far a trial is on its way to the target: the RMSE falls evenly on a logarithmic scale, more or less,
// from a third.
func (r *recipesRun) share(p *point) float64 {
	const start = 1. / 3
	if !(p.rmse > 0) {
		return 0
	}
	return max(0, math.Log(start/p.rmse)/math.Log(start/r.target))
}

// budgets returns how long trials of online backpropagation and of B may take.
func (r *recipesRun) budgets() (online, byRows time.Duration) {
	if r.options.Quick {
		return quickRecipesBudget, quickRecipesBudget
	}
	fastest := math.Inf(1)
	for i, c := range r.columns {
		if !c.mixture {
			fastest = min(fastest, upper(collect(r.results[i], secondsAtEnd)))
		}
	}
	return budget(onlineBudget, fastest), budget(rowsBudget, upper(collect(r.of(recipesC), secondsAtEnd)))
}

// upper is the upper end of the interval of the mean, or a fifth above it where the interval is wider, as with two or
// three numbers, and +Inf for none.
func upper(v []float64) float64 {
	if len(v) == 0 {
		return math.Inf(1)
	}
	mean, margin := interval(v)
	return min(mean+margin, 1.2*mean)
}

// budget is so many times some seconds, which are +Inf where nothing was measured.
func budget(times, seconds float64) time.Duration {
	if math.IsInf(seconds, 0) {
		return defaultBudget
	}
	return max(time.Second, time.Duration(times*seconds*float64(time.Second)))
}

// Figures of a trial at its end.
func secondsAtEnd(o *outcome) float64 { return o.end().elapsed }

func epochsAtEnd(o *outcome) float64 { return float64(o.end().epoch) }

func innerPerEpoch(o *outcome) float64 {
	if o.end().solves == 0 {
		return math.NaN()
	}
	return float64(o.end().inner) / float64(o.end().epoch)
}

func flopsPerInner(o *outcome) float64 { return o.end().flops / float64(o.end().inner) }

func secondsPerInner(o *outcome) float64 {
	if o.end().inner == 0 {
		return math.NaN()
	}
	return o.end().elapsed / float64(o.end().inner)
}

// reached reports whether a trial came to the target.
func (r *recipesRun) reached(o *outcome) bool { return o.end().rmse <= r.target*(1+1e-12) }
