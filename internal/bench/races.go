package bench

import "newtop/trainer"

// race is methods on a problem.
type race struct {
	name, what string
	config     trainer.Config
	goal       float64 // of the error, or RMSE, of the test rows; 0: runs go to their end
	regression bool
	epochs     int      // the most, where a method does not say it
	methods    []string // a method, epochs=N where it has others, and settings: KEY=VALUE
}

// RaceNames lists the races.
func RaceNames() (names []string) {
	for i := range races {
		names = append(names, races[i].name)
	}
	return names
}

// races are run by newtop bench race. The settings of each method are the best that searches and grids on validation rows
// found, none was chosen by test rows; docs/race.md says how.
var races = []race{
	{
		name: "letter", what: "UCI letter, 16-70-50-26, to a test error of 5 %", goal: 0.05, epochs: 60,
		config: trainer.Config{Data: "letter", Hidden: []int{70, 50}},
		methods: []string{
			"soap rate=0.025 batch=256 schedule=linear horizon=8 warmup=0.2 weight-decay=0.1",
			"kfac rate=1 clip=0.001 damping=0.003 batch=256 schedule=linear horizon=8 weight-decay=0.0025",
			"kfac step=model rate=1 damping=0.03 batch=512 factor-share=0.25 product-share=0.25 schedule=linear horizon=8",
			"shampoo rate=0.03 batch=256 schedule=linear horizon=10 weight-decay=0.1",
			"muon rate=0.04 bias-rate=0.03 batch=128 schedule=linear horizon=10 weight-decay=0.1",
			"adam rate=0.01 batch=128 schedule=linear horizon=20",
			"nag rate=0.19 batch=448",
			"hessian-free batch=512 preconditioner=kfac iterations=3 schedule=linear horizon=10",
			"tr-gn blocks=6 block-xi=0.4 limit=12",
			"tr-gn", "tr-newton", "scg", "lbfgs",
		},
	},
}
