package datasets

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"newtop/datasets/fault"
)

// order says where rows go: row i, as they follow one another where they come from, to positions[i] (nil: i), and there
// are first the rows to train on, then those to decide by, then those to test on.
type order struct {
	positions []int
	Sizes
}

// Streams of the seeded generator, each for a draw of its own, behind 0, which draws the rows of generated sets and
// tables.
const (
	streamValidation = 1 + iota
	streamTest
)

// to returns where row i goes: to which row of which part.
func (o *order) to(i int) (Part, int) {
	if o.positions != nil {
		i = o.positions[i]
	}
	for part, n := range o.Sizes {
		if i < n {
			return Part(part), i
		}
		i -= n
	}
	panic("datasets: a row behind the last")
}

// text says how many rows there are of what, as in "1000 training rows, 200 test rows".
func (s Sizes) text(what string) string {
	what = cmp.Or(what, " rows")
	text := fmt.Sprintf("%d training%s", s[Train], what)
	if n := s[Validation]; n > 0 {
		text += fmt.Sprintf(", %d validation%s", n, what)
	}
	if n := s[Test]; n > 0 {
		text += fmt.Sprintf(", %d test%s", n, what)
	}
	return text
}

// arrange takes the rows to decide by from all rows but the last tests, as positions has them (nil: as they are). label
// tells the class of row i; nil for regression. Rows stay in their order in each part.
func (o *Options) arrange(rows, tests int, positions []int, label func(i int) int) (order, error) {
	result := order{positions, Sizes{Train: rows - tests, Test: tests}}
	n := rows - tests
	decide, err := o.validationRows(n)
	if err != nil || decide == 0 && o.Folds == 0 {
		return result, err
	}
	at := make([]int, n) // which row is at a place
	for i := range rows {
		p := i
		if positions != nil {
			p = positions[i]
		}
		if p < n {
			at[p] = i
		}
	}
	var classes []int
	if label != nil {
		classes = make([]int, n)
		for p, i := range at {
			classes[p] = label(i)
		}
	}
	if o.Folds == 0 {
		to, taken := apart(drawRows(n, decide, classes, o.Seed, streamValidation))
		return result.move(at, to, taken), nil
	}
	folds := foldsOf(n, o.Folds, classes, o.Seed)
	if o.Fold == 0 {
		return result.move(at, interleaved(folds, o.Folds), 0), nil
	}
	picked := make([]bool, n)
	for p, k := range folds {
		picked[p] = k == o.Fold-1
	}
	to, taken := apart(picked)
	return result.move(at, to, taken), nil
}

// move moves the row at each place of those to train on to another, the last of which are to decide by.
func (o order) move(at, to []int, decide int) order {
	rows := o.Sizes[Train] + o.Sizes[Test]
	next := order{make([]int, rows), o.Sizes}
	for i := range next.positions {
		next.positions[i] = i
		if o.positions != nil {
			next.positions[i] = o.positions[i]
		}
	}
	for p, i := range at {
		next.positions[i] = to[p]
	}
	next.Sizes[Train] -= decide
	next.Sizes[Validation] = decide
	return next
}

// apart returns where rows go so that the picked ones follow the others, and how many these are.
func apart(picked []bool) (positions []int, count int) {
	positions = make([]int, len(picked))
	for _, p := range picked {
		if p {
			count++
		}
	}
	others, behind := 0, len(picked)-count
	for i, p := range picked {
		to := &others
		if p {
			to = &behind
		}
		positions[i] = *to
		*to++
	}
	return positions, count
}

// validationRows returns how many of n rows there are to decide by.
func (o *Options) validationRows(n int) (int, error) {
	invalid := func(field, value, expected string) error {
		return &fault.OptionError{Field: field, Value: value, Expected: expected}
	}
	switch {
	case o.Folds != 0 && (o.Folds < 2 || o.Folds > n):
		return 0, invalid("folds", fmt.Sprint(o.Folds), fmt.Sprintf(
			"a number of parts from 2 to %d, the rows that are not for testing", n))
	case o.Folds != 0 && (o.Fold < 0 || o.Fold > o.Folds):
		return 0, invalid("fold", fmt.Sprint(o.Fold), fmt.Sprintf("a part from 1 to %d, or 0 for all", o.Folds))
	case o.Folds != 0 || o.Validation == "" || o.Validation == "0":
		return 0, nil
	}
	count, ok := parseTest(o.Validation, n)
	switch {
	case n == 1:
		return 0, invalid("validation", o.Validation, "0, as one row alone is not for testing")
	case !ok || count < 1 || count >= n:
		return 0, invalid("validation", o.Validation, fmt.Sprintf(
			"a number of rows from 0 to %d or a fraction between 0 and 1", n-1))
	}
	return count, nil
}

// drawRows picks count of n rows by seed, from each class its share, to the nearest row. If it can be, a row of each
// class stays. classes is nil for regression.
func drawRows(n, count int, classes []int, seed, stream uint64) (picked []bool) {
	quota := quotas(counts(n, classes), n, count)
	picked = make([]bool, n)
	for _, i := range rand.New(rand.NewPCG(seed, stream)).Perm(n) {
		if c := classOf(classes, i); quota[c] > 0 {
			quota[c]--
			picked[i] = true
		}
	}
	return picked
}

// quotas shares out count among classes of that many rows, n in all, by the greatest remainders.
func quotas(rows []int, n, count int) (quota []int) {
	quota = make([]int, len(rows))
	left := count
	byRemainder := make([]int, len(rows))
	for c, r := range rows {
		quota[c] = r * count / n
		left -= quota[c]
		byRemainder[c] = c
	}
	slices.SortStableFunc(byRemainder, func(a, b int) int { return rows[b]*count%n - rows[a]*count%n })
	for stays := 1; stays >= 0; stays-- {
		for before := -1; left > 0 && left != before; {
			before = left
			for _, c := range byRemainder {
				if left > 0 && quota[c] < rows[c]-stays {
					quota[c]++
					left--
				}
			}
		}
	}
	return quota
}

// foldsOf cuts n rows into that many parts by seed, each with an equal share of every class, and returns the part of
// each row, from 0. The first parts are a row longer than the others where the rows don't go round.
func foldsOf(n, parts int, classes []int, seed uint64) (of []int) {
	// A class continues where the one before it ended, so that the parts are equal to a row.
	next := make([]int, 1)
	for _, r := range counts(n, classes) {
		next = append(next, next[len(next)-1]+r)
	}
	of = make([]int, n)
	for _, i := range rand.New(rand.NewPCG(seed, streamValidation)).Perm(n) {
		c := classOf(classes, i)
		of[i] = next[c] % parts
		next[c]++
	}
	return of
}

// interleaved returns where rows go so that every parts-th from k on is of part k.
func interleaved(of []int, parts int) (positions []int) {
	next := make([]int, parts)
	for _, k := range of {
		positions = append(positions, next[k]*parts+k)
		next[k]++
	}
	return positions
}

// counts returns how many of n rows each class has: all of them one for regression.
func counts(n int, classes []int) []int {
	if classes == nil {
		return []int{n}
	}
	rows := make([]int, slices.Max(classes)+1)
	for _, c := range classes {
		rows[c]++
	}
	return rows
}

func classOf(classes []int, i int) int {
	if classes == nil {
		return 0
	}
	return classes[i]
}

// split parts a table whose last rows are for testing, and says in the title how many rows, of that name, there are of
// what.
func (d *Dataset) split(t *table, tests int, o *Options, rows string) error {
	var label func(i int) int
	if t.labels != nil {
		label = func(i int) int { return t.labels[i] }
	}
	to, err := o.arrange(t.rows(), tests, nil, label)
	if err != nil {
		return err
	}
	if to.positions != nil {
		t = t.reordered(to.positions)
	}
	d.divide(t, to.Sizes)
	d.Title += ": " + to.Sizes.text(rows)
	return nil
}

// divide cuts a table whose rows are in the order of the parts, without a copy.
func (d *Dataset) divide(t *table, sizes Sizes) {
	first := 0
	for part, n := range sizes {
		s := d.Split(Part(part))
		*s = t.slice(first, first+n)
		first += n
	}
}
