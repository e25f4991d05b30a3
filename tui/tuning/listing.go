package tuning

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"newtop/trainer/tune"
	"newtop/tui/history"
	"newtop/tui/widget"
)

// order is what the leaderboard is sorted by.
type order uint8

const (
	sortRank    order = iota // the search's own order
	sortMeasure              // the least measure first
	sortTime                 // the least time to the target first, without a target the least training time
	sortNumber               // the latest first
	tuneSorts
)

// listing is which trials the leaderboard has, in which order, and which of them is selected.
type listing struct {
	sort   order
	filter widget.Filter
	rows   []int // indices of trials
	number int   // of the selected trial; 0 for none
	picked bool  // by hand; until then it is the first row
	table  widget.Table[int]
}

// list sorts and filters the trials.
func (l *listing) list(s *standing) {
	trials := s.leaderboard.Trials
	l.rows = make([]int, 0, len(trials))
	words := strings.Fields(strings.ToLower(l.filter.Text))
	for i := range trials {
		if len(words) == 0 || matches(&trials[i], words) {
			l.rows = append(l.rows, i)
		}
	}
	slices.SortStableFunc(l.rows, func(i, j int) int { return l.compare(s, i, j) })
	l.picked = l.picked && l.row(s) >= 0
	if l.picked {
		return
	}
	l.number = 0
	if len(l.rows) > 0 {
		l.number = trials[l.rows[0]].Number
	}
}

// compare orders two trials as the leaderboard is sorted.
func (l *listing) compare(s *standing, i, j int) int {
	a, b := &s.leaderboard.Trials[i], &s.leaderboard.Trials[j]
	switch l.sort {
	case sortMeasure:
		return cmp.Compare(s.loss(float64(a.Best)), s.loss(float64(b.Best)))
	case sortTime:
		if s.leaderboard.Target > 0 {
			return cmp.Or(cmp.Compare(history.LastIfMissing(float64(a.TargetSeconds)),
				history.LastIfMissing(float64(b.TargetSeconds))), s.byRank(i, j))
		}
		return cmp.Compare(history.LastIfMissing(a.Seconds), history.LastIfMissing(b.Seconds))
	case sortNumber:
		return cmp.Compare(b.Number, a.Number)
	}
	return s.byRank(i, j)
}

// loss is a measure as less is better, that of a trial without one behind all others.
func (s *standing) loss(measure float64) float64 {
	if s.leaderboard.Max() {
		measure = -measure
	}
	return history.LastIfMissing(measure)
}

// byRank orders two trials as the search does; those that it has not ranked come last.
func (s *standing) byRank(i, j int) int {
	a, b := s.rank[i], s.rank[j]
	if a == 0 || b == 0 {
		return b - a
	}
	return a - b
}

// row is the row of the selected trial, −1 for none.
func (l *listing) row(s *standing) int {
	return slices.IndexFunc(l.rows, func(i int) bool { return s.leaderboard.Trials[i].Number == l.number })
}

// matches reports whether a trial has all of some words, and none of those with a minus before them.
func matches(t *tune.Trial, words []string) bool {
	var b strings.Builder
	b.WriteString(" #" + strconv.Itoa(t.Number) + " seed=" + strconv.FormatUint(t.Seed, 10) + " " +
		stateOf(t, true).Text + " " + t.Run)
	for _, c := range t.Choices {
		b.WriteString(" " + c.Key + "=" + c.Value)
	}
	return widget.Matches(strings.ToLower(b.String()), words)
}

// selected is the selected trial, nil for none.
func selected(m *model) *tune.Trial {
	if at := m.row(&m.standing); at >= 0 {
		return &m.leaderboard.Trials[m.rows[at]]
	}
	return nil
}

// selectTrial selects a trial by hand.
func selectTrial(m *model, i int) { m.number, m.picked = m.leaderboard.Trials[i].Number, true }

// moveTo selects another row of the leaderboard; home goes back to following the first one.
func moveTo(m *model, k string) {
	if len(m.rows) == 0 {
		return
	}
	selectTrial(m, m.rows[m.table.Move(k, max(0, m.row(&m.standing)), len(m.rows))])
	m.picked = k != "home"
}

// sortedBy names the order.
func sortedBy(m *model) string {
	switch m.sort {
	case sortMeasure:
		return m.measure()
	case sortTime:
		if m.leaderboard.Target > 0 {
			return "time to " + m.targetText()
		}
		return "training time"
	case sortNumber:
		return "latest first"
	}
	return m.goal()
}
