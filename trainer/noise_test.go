package trainer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/nightly"
	"newtop/trainer/config"
	"newtop/trainer/event"
)

// noise writes a table of pure noise: columns of a kind, and a target that has nothing to do with them.
func noise(t *testing.T, kind string, classes bool, rows, seed int) (file string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(seed), 7))
	kinds := map[string]func() string{
		"words":   func() string { return fmt.Sprintf("w%c%d", 'a'+rng.IntN(26), rng.IntN(3)) },
		"few":     func() string { return "w" + string('a'+rune(rng.IntN(12))) },
		"rare":    func() string { return fmt.Sprintf("w%d", int(math.Pow(400, rng.Float64()))) },
		"dates":   func() string { return fmt.Sprintf("20%02d-%02d-%02d", 10+rng.IntN(9), 1+rng.IntN(12), 1+rng.IntN(28)) },
		"numbers": func() string { return fmt.Sprintf("%.4g", math.Exp(2*rng.NormFloat64())) },
	}
	kinds["missing"] = func() string {
		if rng.IntN(3) == 0 {
			return ""
		}
		return kinds["numbers"]()
	}
	columns := []string{kind}
	if kind == "mixture" {
		columns = []string{"words", "few", "rare", "dates", "numbers", "missing"}
	}
	var text strings.Builder
	for j := range 24 {
		fmt.Fprintf(&text, "c%d,", j)
	}
	text.WriteString("target\n")
	side := rng.Perm(rows) // both sides have as many rows, or the larger one were better than chance
	for i := range rows {
		for j := range 24 {
			text.WriteString(kinds[columns[j%len(columns)]]() + ",")
		}
		if classes {
			text.WriteString([]string{"left", "right"}[side[i]%2] + "\n")
		} else {
			fmt.Fprintf(&text, "%.6f\n", rng.NormFloat64())
		}
	}
	file = filepath.Join(t.TempDir(), fmt.Sprint(kind, classes, seed, ".csv"))
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// No net may learn from the rows that judge it, not even by how columns are coded: on pure noise the error on them is
// chance, of a committee of folds as of each fold by itself. Of many kinds one is two standard errors away, none three.
func TestNoiseIsChance(t *testing.T) {
	const rows, folds = 800, 5
	kinds, tables := []string{"words", "mixture"}, 3
	if nightly.On() {
		kinds, tables = []string{"words", "few", "rare", "dates", "numbers", "missing", "mixture"}, 16
	}
	for _, kind := range kinds {
		for _, classes := range []bool{true, false} {
			var of [2]float64 // in standard errors, of committees and of folds alone
			for seed := range tables {
				c := config.Config{Data: noise(t, kind, classes, rows, seed), Test: noise(t, kind, classes, 100, 100+seed), Hidden: []int{4},
					Optimizer: "lbfgs", Epochs: 12, Folds: folds, Committee: folds, Weights: "last", Seed: 1}
				of[0] += luck(train(t, c)) / math.Sqrt(float64(tables))
				c.Committee, c.Fold = 0, seed%folds+1
				of[1] += luck(train(t, c)) / math.Sqrt(float64(tables))
			}
			for i, what := range []string{"committee", "folds"} {
				t.Logf("%s of %s, classes %v: %.1f standard errors above chance", what, kind, classes, of[i])
				if of[i] < -3 { // regressions that follow noise are worse than chance: only better is a leak
					t.Error("which is a leak")
				}
			}
		}
	}
}

// luck returns by how many standard errors the last validation error, or RMSE, is above that of guesses.
func luck(run *memory) float64 {
	epochs := of[event.EpochEvent](run)
	data, last := of[event.RunEvent](run)[0].Data, epochs[len(epochs)-1]
	rows := float64(data.ValidationRows)
	if rows == 0 {
		rows = float64(data.TrainRows)
	}
	if last.ValidationError.Finite() {
		return (float64(last.ValidationError) - 0.5) * math.Sqrt(4*rows)
	}
	return (float64(last.ValidationRMSE) - 1) * math.Sqrt(2*rows)
}
