package figure

import (
	"cmp"
	"image/color"
	"slices"
	"sort"
)

// lineStyle is how a curve is drawn. Alone, a run's two sets of rows differ in colour too.
func (s *report) lineStyle(c *curve) pen {
	l := pen{color: hues[c.run], width: heavy}
	if c.train {
		l.width, l.dashes = light, dashed
		if len(s.runs) == 1 {
			l.color, l.width = hues[1], heavy
		}
	}
	return l
}

// dress gives the curves of a panel their looks, and the order in which they are drawn: test rows over training rows.
func (s *report) dress(p *quantityPanel) {
	for i := range p.curves {
		c := &p.curves[i]
		c.style = s.lineStyle(c)
		if p.quantity.test == nil {
			c.style = s.lineStyle(&curve{run: c.run})
		}
		if len(s.runs) > 1 && !c.train {
			c.shape, c.markers = shapes[c.run], [2]int{c.run, len(s.runs)}
		}
	}
	later := func(c curve) int {
		if c.train {
			return 0
		}
		return 1
	}
	sort.SliceStable(p.curves, func(i, j int) bool { return cmp.Less(later(p.curves[i]), later(p.curves[j])) })
}

// markColor is the colour of a run's switches.
func (s *report) markColor(run int) color.Color {
	if len(s.runs) == 1 {
		return faint
	}
	return hues[run]
}

// entries say which run is which, and which rows.
func (s *report) entries() (out []entry) {
	if len(s.runs) > 1 {
		for i, label := range s.labels {
			out = append(out, entry{line: pen{color: hues[i], width: heavy}, shape: shapes[i], text: label})
		}
	}
	if !slices.ContainsFunc(s.about, func(p quantityPanel) bool { return p.pair }) {
		return out
	}
	test, train := pen{color: black, width: heavy}, pen{color: black, width: light, dashes: dashed}
	if len(s.runs) == 1 {
		test, train = s.lineStyle(&curve{}), s.lineStyle(&curve{train: true})
	}
	return append(out, entry{line: test, text: "test rows", paired: true}, entry{line: train, text: "training rows"})
}
