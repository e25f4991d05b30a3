package format

import (
	"slices"
	"strings"
)

// maxProposals bounds the names that a message proposes.
const maxProposals = 3

// DidYouMean ends a message about a name that is none of those known: it proposes those that were probably meant, and
// is empty where there are none.
func DidYouMean(typed string, known []string) string {
	near := Near(typed, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// Near returns the names that were probably meant, the likeliest first: those that continue what was typed, and those
// that two slips in every five letters lead to. Capitals do not matter.
func Near(typed string, known []string) (near []string) {
	const longest = 100 // a name that is longer is none that somebody typed
	if len(typed) > longest {
		return nil
	}
	typed = strings.ToLower(typed)
	slips := map[string]int{}
	for _, name := range known {
		n := slipsTo(typed, strings.ToLower(name))
		isPrefix := len(typed) >= 2 && strings.HasPrefix(strings.ToLower(name), typed)
		if _, twice := slips[name]; !twice && (isPrefix || n <= 2*len(name)/5) {
			near = append(near, name)
			slips[name] = n
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return slips[a] - slips[b] })
	return near[:min(len(near), maxProposals)]
}

// slipsTo counts the slips that make b of a: a byte too many, one too few, a wrong one, or two neighbours swapped
// (optimal string alignment, Damerau's distance in which no part is changed twice).
func slipsTo(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			substitution := last[j]
			if a[i] != b[j] {
				substitution++
			}
			row[j+1] = min(substitution, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
