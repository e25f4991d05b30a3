package widget

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"
)

// Has reports whether a text has another as it is, in capitals or not.
func Has(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(strings.TrimSpace(part)))
}

// Find returns the indices of the texts that match what was typed, best first; all of them while nothing was.
// names are what the texts begin with. Scattered letters match nearly everything: so a name that begins with the
// text comes first, then one that has it, then a text that has it or that has each of its words, in the order of
// the list. Only where there is none of these come those with its letters somewhere, by fuzzy score.
func Find(typed string, names, texts []string) []int {
	typed = strings.ToLower(strings.TrimSpace(typed))
	all := make([]int, len(texts))
	for i := range all {
		all[i] = i
	}
	if typed == "" {
		return all
	}
	const scattered = 4
	rank := func(i int) int {
		name, text := strings.ToLower(names[i]), strings.ToLower(texts[i])
		switch {
		case strings.HasPrefix(name, typed):
			return 0
		case strings.Contains(name, typed):
			return 1
		case strings.Contains(text, typed):
			return 2
		case !slices.ContainsFunc(strings.Fields(typed), func(
			word string) bool {
			return !strings.Contains(text, word)
		}):
			return 3
		}
		return scattered
	}
	var out []int
	matched := make([]bool, len(texts))
	for _, m := range fuzzy.Find(typed, texts) {
		out, matched[m.Index] = append(out, m.Index), true
	}
	for i := range texts {
		if !matched[i] && rank(i) < scattered {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		if order := cmp.Compare(rank(a), rank(b)); order != 0 || rank(a) == scattered {
			return order
		}
		return cmp.Compare(a, b)
	})
	if i := slices.IndexFunc(out, func(i int) bool { return rank(i) == scattered }); i > 0 {
		out = out[:i]
	}
	return out
}
