package papers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"newtop/models"
)

// collect returns a figure of every outcome that there is. A NaN is no figure.
func collect(outcomes []*outcome, figure func(*outcome) float64) []float64 {
	var v []float64
	for _, o := range outcomes {
		if o == nil {
			continue
		}
		if f := figure(o); !math.IsNaN(f) {
			v = append(v, f)
		}
	}
	return v
}

// done returns those outcomes that there are.
func done(outcomes []*outcome) []*outcome {
	var some []*outcome
	for _, o := range outcomes {
		if o != nil {
			some = append(some, o)
		}
	}
	return some
}

// grid is what came of the trials of a table.
type grid struct {
	names   []string     // of the columns
	results [][]*outcome // of each column, by seed; nil: not finished
}

// of returns the trials of a column, nil if it was not chosen.
func (g *grid) of(name string) []*outcome {
	if i := slices.Index(g.names, name); i >= 0 {
		return g.results[i]
	}
	return nil
}

// shortage says which of so many trials of a column are not there or diverged; empty where all is well.
func (g *grid) shortage(i, trials int) string {
	var list []string
	if n := len(done(g.results[i])); n < trials {
		list = append(list, fmt.Sprintf("%d of %d trials", n, trials))
	}
	if text := lost(g.results[i]); text != "" {
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// beside is a cell of the mean with the paper's figure beside it.
func beside(v []float64, paper float64) Cell {
	c := measured(v)
	c.Paper = paper
	return c
}

// Writers of figures.
func percent(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

func decimal(v float64) string { return fmt.Sprintf("%.1f", v) }

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

func seconds(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f s", v)
	}
	return fmt.Sprintf("%.3g s", v)
}

// lost says what became of trials that diverged; empty where none did.
func lost(outcomes []*outcome) string {
	diverged := 0
	for _, o := range outcomes {
		if o != nil && o.diverged {
			diverged++
		}
	}
	if diverged == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d diverged", diverged, len(done(outcomes)))
}

// shapeOf writes the layers of a network, as 16-70-50-26.
func shapeOf(n *models.Network) string {
	a := n.Architecture()
	text := fmt.Sprint(a.Inputs)
	for _, l := range a.Layers {
		text += fmt.Sprintf("-%d", l.Nodes)
	}
	return text
}

// join writes a list as "a, b and c".
func join(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

// rounded is a number to three digits.
func rounded(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	return math.Round(v/unit) * unit
}
