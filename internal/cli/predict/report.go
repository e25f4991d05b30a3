package predict

import (
	"cmp"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/cli/print"
	"newtop/internal/score"
	"newtop/models/modelfile"
)

// report says how many rows there were, and how well they were predicted where that is known.
func (p *predictor) report(out io.Writer) error {
	scores := p.found.Scores("")
	var b strings.Builder
	b.WriteString(print.Count(p.rows, "row"))
	if known := scores.Rows; known > 0 {
		if known < p.rows {
			fmt.Fprintf(&b, ", %d of them with a target", known)
		}
		figures := score.Metrics(&scores)
		if p.model.Classes == nil {
			fmt.Fprintf(&b, ", %s %.6g\n", figures[0].Name, float64(scores.RMSE))
		} else {
			fmt.Fprintf(&b, ", %.2f %% wrong\n", 100*float64(scores.Error)) // as the run said it
		}
		b.WriteString(print.Metrics(figures[1:]))
		if p.model.Residuals != nil {
			fmt.Fprintf(&b, ", %.1f %% of the targets from q05 to q95", 100*float64(p.covered)/float64(p.targets))
		}
	}
	b.WriteByte('\n')
	if _, err := io.WriteString(out, b.String()); err != nil || scores.Rows == 0 {
		return err
	}
	width := cmp.Or(print.Width(out), print.TextWidth)
	if p.model.Classes != nil {
		if err := p.confusions(out, width); err != nil {
			return err
		}
	}
	return p.worstRows(out, width)
}

// confusions prints the matrix, or where that has no room which classes are most often taken for which.
func (p *predictor) confusions(out io.Writer, width int) error {
	table := print.Table{Headers: []string{""}}
	for _, class := range p.model.Classes {
		table.Headers = append(table.Headers, ">"+print.Printable(class))
	}
	for i, row := range p.found.Confusion {
		cells := []string{p.model.Classes[i]}
		for _, n := range row {
			cells = append(cells, strconv.Itoa(n))
		}
		table.Add(cells...)
	}
	if table.Width() <= width {
		fmt.Fprintln(out, "\nconfusion: a row for each class, a column for each prediction")
		return table.Print(out)
	}
	return p.topConfusions(out)
}

// maxPairs is how many confusions are listed.
const maxPairs = 10

func (p *predictor) topConfusions(out io.Writer) error {
	type pair struct{ is, said, n, of int }
	var list []pair
	for i, row := range p.found.Confusion {
		of := 0
		for _, n := range row {
			of += n
		}
		for j, n := range row {
			if i != j && n > 0 {
				list = append(list, pair{i, j, n, of})
			}
		}
	}
	if list == nil {
		return nil
	}
	sort.SliceStable(list, func(i, j int) bool { return list[j].n < list[i].n })
	fmt.Fprintf(out, "\nthe most frequent of %s\n", print.Count(len(list), "confusion"))
	table := print.Table{Headers: []string{"class", "taken for", ">rows", ">of"}}
	for _, c := range list[:min(len(list), maxPairs)] {
		table.Add(p.model.Classes[c.is], p.model.Classes[c.said], strconv.Itoa(c.n), strconv.Itoa(c.of))
	}
	return table.Print(out)
}

// worstRows prints the rows of the greatest loss.
func (p *predictor) worstRows(out io.Writer, width int) error {
	if len(p.found.Worst) == 0 {
		return nil
	}
	table := print.Table{Headers: []string{">row", ">line", "target", "prediction", ">loss"},
		Ranks: []int{0, 1, 0, 0, 0}}
	for i := range p.found.Worst {
		w := &p.found.Worst[i]
		line := ""
		at := p.positions[w.Row-1]
		if at.line > 0 {
			line = strconv.Itoa(at.line)
		}
		target, said := rawText(p.model, w.Targets), rawText(p.model, w.Outputs)
		if classes := p.model.Classes; classes != nil {
			target, said = classes[floats.MaxIdx(w.Targets)], classes[w.Output]
		}
		table.Add(strconv.Itoa(at.row), line, target, said, fmt.Sprintf("%.4g", w.Loss))
	}
	fmt.Fprintln(out, "\ngreatest loss")
	return table.Fit(out, width)
}

// rawText writes values of a network in the units of the data.
func rawText(m *modelfile.Model, values []float64) string {
	var list []string
	for j, v := range values {
		list = append(list, fmt.Sprintf("%.5g", v*m.Outputs[j].Scale+m.Outputs[j].Offset))
	}
	return strings.Join(list, " ")
}
