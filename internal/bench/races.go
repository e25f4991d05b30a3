package bench

import (
	"path/filepath"
	"slices"

	"newtop/trainer"
)

// race is methods on a problem.
type race struct {
	name, what string
	config     trainer.Config
	goal       float64  // of the error, or RMSE, of the test rows; 0: runs go to their end
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

// usualRunners go through 15 epochs of a problem for which nobody tuned them: with the settings that were best over five
// data sets. Methods for all rows have the epochs that about 100 gradient equivalents take.
var usualRunners = []string{
	"soap", "kfac", "muon", "shampoo",
	"adam rate=0.01 batch=64 schedule=linear",
	"nag rate=0.2 batch=128 schedule=linear",
	"hessian-free",
	"tr-gn epochs=11",
	"tr-newton epochs=8",
	"lbfgs epochs=100",
	"scg epochs=35",
}

// tableRace is the usual runners on a file.
func tableRace(file, target string) race {
	return race{
		name: "table", what: filepath.Base(file) + ", " + target + ", 64-32", epochs: 30,
		config:  trainer.Config{Data: file, Target: target, Hidden: []int{64, 32}},
		methods: usualRunners,
	}
}

// races are run by newtop-bench race. The settings of each method are the best that searches and grids on validation rows
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
			"adam rate=0.02 beta2=0.95 batch=128 schedule=linear horizon=20 weight-decay=0.05",
			"nag rate=0.3 batch=128 schedule=linear horizon=22",
			"hessian-free horizon=15",
			"tr-gn",
			"tr-gn blocks=1 limit=100", "tr-newton blocks=6 block-xi=0.4 limit=12", "tr-newton", "scg", "lbfgs",
		},
	},
	{
		name: "letter-best", what: "UCI letter, 16-70-50-26, the error after 60 epochs on noisy inputs", epochs: 60,
		config: trainer.Config{Data: "letter", Hidden: []int{70, 50}, InputNoise: 0.1},
		methods: []string{
			"soap", "kfac", "muon",
			"adam rate=0.01 batch=64 schedule=linear",
			"nag rate=0.2 batch=128 schedule=linear",
		},
	},
	{
		name: "letters", what: "rendered letters, 16-70-50-26", epochs: 15,
		config:  trainer.Config{Data: "letters", Hidden: []int{70, 50}},
		methods: usualRunners,
	},
	{
		name: "digits", what: "rendered digits, 784-100-10", epochs: 15,
		config:  trainer.Config{Data: "digits", Hidden: []int{100}},
		methods: usualRunners,
	},
	{
		name: "mnist", what: "MNIST's 10,000 test images, 784-100-10", epochs: 15,
		config:  trainer.Config{Data: "mnist", Hidden: []int{100}},
		methods: usualRunners,
	},
	{
		name: "recipes", what: "colour recipes, 16-70-50-10", epochs: 15,
		config:  trainer.Config{Data: "recipes"},
		methods: slices.Concat(usualRunners, []string{"tr-gn-jacobi epochs=12", "lm epochs=12"}),
	},
}
