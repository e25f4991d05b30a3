package tune

import (
	"math"
	"slices"
	"strconv"

	"newtop/datasets"
	"newtop/trainer"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/optim/minibatch"
)

// defaultMethods are what a search tries where nobody says otherwise: the best of each family (docs/race.md).
var defaultMethods = []string{"soap", "kfac", "adam", "nag", "tr-gn", "lbfgs"}

// tableMethods are what a search on a table tries, where the best net is not the one that trains fastest: one that goes
// through batches and two that see all rows.
var tableMethods = []string{"adam", "tr-gn", "lbfgs"}

// How far from their defaults the default ranges reach.
const (
	rateSpan   = 30
	radiusSpan = 10
	fewRows    = 32  // below which batches are of no use
	maxBatch   = 512 // and a quarter of the rows
	minBatch   = 16
	maxBlocks  = 8

	minHorizon, maxHorizon = 5, 80 // epochs of a schedule
)

// Of tables: the nets of a trial, the nets of a final where there are many rows, and how far weight decay goes, times
// 1/rows, around that of scikit-learn's ridge and logistic regression.
const (
	tableFolds         = 5
	tableNets          = 8
	manyRows           = 10_000
	minDecay, maxDecay = 0.01, 100
)

// tableSpace is what decides on a table how a net does on new rows: its size, from none hidden on, its activation and
// its weight decay.
func tableSpace(c *trainer.Config, rows int) (out []Dimension) {
	nets := []string{"none", "16", "32-16", "64-32", "128-64"}
	if rows < 300 {
		nets = []string{"none", "4", "8", "16", "16-8"}
	} else if rows >= manyRows {
		nets = []string{"none", "32", "64-32", "128-64", "256-128"}
	}
	if c.Hidden == nil && c.Graph == "" && c.Experts == 0 {
		out = append(out, Dimension{Key: "net", Choices: nets})
	}
	if c.Act == "" && c.Graph == "" {
		out = append(out, Dimension{Key: "act", Choices: []string{"tanh", "relu"}})
	}
	info, err := methods.Lookup(c.Optimizer)
	if solves := err == nil && info.Needs&optim.NeedsLayers != 0; c.L2 == 0 && !solves { // which has no weight decay
		out = append(out, Dimension{Key: "l2", Low: rounded(minDecay / float64(rows)),
			High: min(rounded(maxDecay/float64(rows)), 1), Log: true})
	}
	return out
}

// DefaultSpace is the space where nobody says otherwise: the default methods, or the one that c names, each with a
// logarithmic range around the default of its primary hyperparameter; the size of batches and the number of blocks, for
// the methods that have them, as far as the rows go round. On a table of that many training rows, unless time to a
// target counts, it is what decides how nets do on new rows; 0: it is something else. What c fixes is no axis.
func DefaultSpace(c trainer.Config) (out []Dimension, table int) {
	names := defaultMethods
	if c.Optimizer != "" {
		names = []string{c.Optimizer}
	}
	by := c.Weights
	c.Weights = "" // which may be a score of rows that are chosen later
	rows := math.MaxInt
	if p, err := trainer.Prepare(&c); err == nil {
		rows = p.Train.Rows()
		if p.Data.Table != nil && c.TargetError == 0 && c.TargetLoss == 0 {
			table = rows
			if c.Optimizer == "" {
				names = tableMethods
			}
			out = tableSpace(&c, rows)
			if by == "f1" && c.ClassWeights == "" && c.Out == "" && c.Loss == "" && hasRareClass(p.Data) {
				out = append(out, Dimension{Key: "class-weights", Choices: []string{"none", "balanced"}})
			}
		}
		if there := p.External; there != nil {
			whole := there.OffersBatches() != nil
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
				info, err := methods.Lookup(name)
				return err != nil || there.Offers(info.Needs) != nil || whole && info.Needs&optim.NeedsRows != 0
			})
		}
		_ = p.Close() // which has said what it can
	}
	if len(names) > 1 {
		out = append(out, Dimension{Key: optKey, Choices: slices.Clone(names)})
	}
	batches, blocks, schedules := false, false, false
	for _, name := range names {
		info, err := methods.Lookup(name)
		if err != nil {
			return nil, 0
		}
		batches = batches || parameter(info, "batch") != nil
		blocks = blocks || parameter(info, "blocks") != nil
		schedules = schedules || info.Planned != nil
		if d, ok := primary(info); ok && !fixes(&c, info.Primary) {
			if len(names) == 1 {
				d.Key = info.Primary
			}
			out = append(out, d)
		}
	}
	if most := min(maxBatch, rows/4); batches && c.Batch == 0 && rows >= fewRows && most > minBatch &&
		!fixes(&c, "batch") {
		out = append(out, Dimension{Key: "batch", Low: minBatch, High: float64(most), Log: true, Whole: true})
	}
	if most := min(maxBlocks, rows/fewRows); blocks && table == 0 && c.Model == "" && c.Blocks == 0 && most > 1 &&
		!fixes(&c, "blocks") {
		out = append(out, Dimension{Key: "blocks", Low: 1, High: float64(most), Log: true, Whole: true})
	}
	if schedules && table == 0 {
		out = append(out, scheduleSpace(&c)...)
	}
	return out, table
}

// hasRareClass reports whether a class has less than half of its even share of the training rows. Probabilities, and
// what follows from their order, are best without class weights; F1 is not.
func hasRareClass(d *datasets.Dataset) bool {
	n := make([]int, max(1, len(d.Classes)))
	for _, label := range d.Train.Labels {
		n[label]++
	}
	return 2*slices.Min(n)*len(d.Classes) < len(d.Train.Labels)
}

// scheduleSpace has rates fall along a line to 0, since a search knows no number of epochs over an axis of horizons.
func scheduleSpace(c *trainer.Config) (out []Dimension) {
	if c.Schedule == "" && !fixes(c, minibatch.Schedule.Key) {
		out = append(out, Dimension{Key: minibatch.Schedule.Key, Choices: []string{"linear"}})
	}
	if c.Schedule != minibatch.Constant && !fixes(c, minibatch.Horizon.Key) {
		out = append(out, Dimension{Key: minibatch.Horizon.Key, Low: minHorizon, High: maxHorizon, Log: true,
			Whole: true})
	}
	return out
}

// fixes reports whether a configuration gives a hyperparameter its value.
func fixes(c *trainer.Config, key string) bool {
	return slices.ContainsFunc(c.Set, func(kv string) bool { return settingKey(kv) == key })
}

// primary returns the range of a method's primary hyperparameter. SCG's λ is left out: any small one does.
func primary(info *optim.Info) (Dimension, bool) {
	h := parameter(info, info.Primary)
	if h == nil || h.Default <= 0 || info.Primary == "lambda" {
		return Dimension{}, false
	}
	span := float64(rateSpan)
	if info.Primary == "radius" {
		span = radiusSpan
	}
	d := Dimension{Key: info.Name + "." + h.Key, Log: true}
	d.Low, d.High = math.Max(rounded(h.Default/span), h.Min), math.Min(rounded(h.Default*span), h.Max)
	return d, d.Low < d.High
}

// rounded returns a number with two digits.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64) // which FormatFloat wrote
	return v
}
