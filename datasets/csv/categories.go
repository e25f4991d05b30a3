package csv

import (
	"cmp"
	"maps"
	"slices"

	"newtop/datasets/csv/schema"
)

// Words that are in fewer rows to train on than rareRows, or than a share of them in a short table, are rare: they are
// one category. Where more than oneHot others are left, or there are more than oneHot words and the rare ones are in
// more than a share of the rows, statistics of the target stand for the words, the rare ones among them but for those
// of a single row: their smoothing makes up for few rows.
const (
	rareRows       = 10
	rareShare      = 50 // one row in this number
	oneHot         = 50
	maxRareShare   = 10     // one row in this number
	maxCategories  = 5000   // words with statistics
	maxMeans       = 20_000 // statistics of a column
	maxMeanClasses = 20     // for statistics; with more classes the most frequent words are inputs
	maxRare        = 1000   // words that are kept although they are no inputs, to tell new ones from them
)

// chooseWords decides which words of a column are inputs of their own. counts are of the rows to train on, and classes
// is the number of the target's, 0 for regression.
func chooseWords(f *schema.Field, counts map[string]int, rows, classes int) {
	rare := max(min(rareRows, rows/rareShare), 1)
	common := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	n, folded, single := len(common), 0, len(common)
	for n > 1 && counts[common[n-1]] < rare {
		n--
		folded += counts[common[n]]
		if counts[common[n]] < 2 {
			single = n
		}
	}
	switch means := classes; {
	case n <= oneHot && (len(common) <= oneHot || maxRareShare*folded <= rows):
	case means > maxMeanClasses:
		n = min(n, oneHot)
	default:
		if means <= 2 {
			means = 1
		}
		n = min(single, maxCategories, maxMeans/means)
		f.Kind, f.Missing = schema.Statistics, false
		f.Means = make([]float64, (n+2)*means)
	}
	f.Words, f.Rare = slices.Sorted(slices.Values(common[:n])), []string{}
	for _, word := range slices.Sorted(slices.Values(common[n:])) {
		if counts[word] > 0 {
			f.Other, f.Rare = f.Other || f.Kind == "", append(f.Rare, word)
		}
	}
	if len(f.Rare) > maxRare {
		f.Rare = nil
	}
}
