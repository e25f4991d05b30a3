package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
)

// Options says what Load should do. The zero value is the default for every set.
type Options struct {
	// Dir is where the files of real sets are, in it or in its subdirectory NAME. Empty: CacheDir.
	Dir string
	// Target is the target column of a CSV file: its name in the header, or its number from 1 if no other column has
	// that for its name; "name:" and "place:" before it say which is meant. Empty: the last column. Other sets ignore
	// it.
	Target string
	// Test is the part to test on: a number of rows ("4000") or a fraction of them ("0.2", between 0 and 1), or for a
	// CSV file another one, or several, with the same header, of which all rows are for testing. Sets with an order of
	// their own are tested on their last rows, CSV files and parity on rows drawn by Seed. Empty: the set's own
	// default, a fifth for most. The bpls sets ignore it.
	Test string
	// Validation is the part to decide by, taken from what would be trained on: a number of rows or a fraction of them,
	// as Test. They are drawn, with equal shares of all classes. Empty or 0: none.
	Validation string
	// Folds, if > 0, has them be part Fold, from 1, of that many equal parts that are drawn like this, instead of
	// Validation. With Fold 0 all of them stay among the rows to train on, of which every Folds-th from k − 1 on is
	// part k.
	Folds, Fold int
	// Columns says what is to be done with the columns of a table. Other sets ignore it.
	Columns lex.Options
	// Seed determines what generators draw, and the split where it is drawn.
	Seed uint64
	// Rows is how many rows a generator makes, and the most that are used of a file, from its start.
	// 0: the generator's default, the whole file. For parity it is a power of two, 2ⁿ rows of n bits.
	// The bpls sets ignore it.
	Rows int
	// Noise is the standard deviation of what is added to the targets of sine (0: 0.1, negative: none)
	// and to the training targets of the bpls sets (0 or negative: none, σ in [T, §III-A]). Other sets
	// ignore it.
	Noise float64
}

func (o *Options) check() error {
	if o.Rows < 0 {
		return &fault.OptionError{Field: "rows", Value: strconv.Itoa(o.Rows), Expected: "a whole number ≥ 0"}
	}
	if math.IsNaN(o.Noise) || math.IsInf(o.Noise, 0) {
		return &fault.OptionError{Field: "noise", Value: fmt.Sprint(o.Noise), Expected: "a finite number"}
	}
	return nil
}

// testRows returns how many of rows are for testing. Both splits get one row at least.
func (o *Options) testRows(rows, otherwise int) (int, error) {
	n := otherwise
	if o.Test != "" {
		var ok bool
		if n, ok = parseTest(o.Test, rows); !ok {
			n = 0
		}
	}
	if n < 1 || n >= rows {
		return 0, &fault.OptionError{Field: "test", Value: o.Test,
			Expected: fmt.Sprintf("a number of rows from 1 to %d or a fraction between 0 and 1", rows-1)}
	}
	return n, nil
}

// parseTest reads "N" as a number of rows and whatever has a point or an exponent as a fraction, of
// which the nearest number of rows is taken, and one at least.
func parseTest(text string, rows int) (n int, ok bool) {
	if !strings.ContainsAny(text, ".eE") {
		n, err := strconv.Atoi(text)
		return n, err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0 && f < 1) {
		return 0, false
	}
	return min(max(int(math.Round(f*float64(rows))), 1), rows-1), true
}

// count returns how many rows a generator should make, between lowest and highest.
func (o *Options) count(otherwise, lowest, highest int) (int, error) {
	if o.Rows == 0 {
		return otherwise, nil
	}
	if o.Rows < lowest || o.Rows > highest {
		return 0, &fault.OptionError{Field: "rows", Value: strconv.Itoa(o.Rows),
			Expected: fmt.Sprintf("a whole number from %d to %d", lowest, highest)}
	}
	return o.Rows, nil
}

// generated returns how many rows a generator should make, between lowest and highest, and how many of them are for
// testing.
func (o *Options) generated(otherwise, lowest, highest int, test func(rows int) int) (rows, tests int, err error) {
	if rows, err = o.count(otherwise, lowest, highest); err == nil {
		tests, err = o.testRows(rows, test(rows))
	}
	return rows, tests, err
}

// fifth is one row in five, and one at least.
func fifth(rows int) int { return max(rows/5, 1) }

// characters returns n of them from the first one on, a text each.
func characters(first rune, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = string(first + rune(i))
	}
	return names
}

// shuffle returns where each of rows goes, so that the last ones are drawn by seed from all.
func shuffle(rows int, seed uint64) (positions []int) {
	return rand.New(rand.NewPCG(seed, 0)).Perm(rows)
}
