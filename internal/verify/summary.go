package verify

import (
	"fmt"
	"slices"
	"strings"

	"newtop/models"
	"newtop/trainer/optim/methods"
)

// Summary counts results.
type Summary struct {
	OK         bool     `json:"ok"`
	Results    int      `json:"results"`
	Wrong      int      `json:"wrong"`
	Numbers    int      `json:"numbers"`
	NotCovered []string `json:"not_covered"`
}

// Summarize counts the results of the given methods, or of all where there are none.
func Summarize(r *References, results []Result, only []string) Summary {
	s := Summary{Results: len(results), NotCovered: r.gaps(only)}
	for i := range results {
		s.Numbers += results[i].Numbers
		if results[i].Fault != "" {
			s.Wrong++
		}
	}
	s.OK = s.Wrong == 0 && s.Numbers > 0
	return s
}

// String is the last line of a report.
func (s *Summary) String() string {
	if s.Wrong > 0 {
		return fmt.Sprintf("%d of %d are NOT right (%d numbers compared)", s.Wrong, s.Results, s.Numbers)
	}
	return fmt.Sprintf("all %d are right: %d numbers compared", s.Results, s.Numbers)
}

// gaps lists what the references do not cover of the given methods, or of all where there are none: losses and
// precisions, choices of settings, and what no reference can have.
func (r *References) gaps(only []string) (gaps []string) {
	for _, info := range methods.All() {
		if len(only) > 0 && !slices.Contains(only, info.Name) {
			continue
		}
		seen := map[string]bool{}
		for i := range r.Cases {
			if c := &r.Cases[i]; c.Method == info.Name {
				p := r.Problems[c.Problem]
				for precision := range c.Spread {
					seen[p.Loss.String()+" in "+precision] = true
				}
				for key, text := range c.Settings {
					seen[key+"="+text] = true
				}
			}
		}
		var missing []string
		note := func(what string) {
			if !seen[what] {
				missing = append(missing, what)
			}
		}
		for _, loss := range []models.LossFunction{models.SquaredError, models.CrossEntropy} {
			for _, precision := range models.PrecisionNames() {
				note(loss.String() + " in " + precision)
			}
		}
		for i := range info.Parameters {
			for _, choice := range info.Parameters[i].Choices {
				note(info.Parameters[i].Key + "=" + choice)
			}
		}
		if len(missing) > 0 {
			gaps = append(gaps, info.Name+": "+strings.Join(missing, ", "))
		}
	}
	return append(gaps, r.NotCovered...)
}
