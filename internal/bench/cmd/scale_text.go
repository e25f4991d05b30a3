package main

import (
	"fmt"
	"slices"

	"newtop/internal/bench"
	"newtop/internal/cli/print"
	"newtop/internal/format"
)

func (r *scaleReport) document() Document {
	return Document{r.facts(), r.exchanges(), r.products()}
}

// facts are what stands above the tables, by name.
func (r *scaleReport) facts() Facts {
	measured := fmt.Sprintf("%s, in %.0f s", r.Begun.Format("2006-01-02 15:04 UTC"), r.Seconds)
	if r.Quick {
		measured += "; quick: smaller problems, figures to try it out and for nothing else"
	}
	return Facts{
		{"newtop", r.Version},
		{"machine", machineWords(&r.Machine)},
		{"processes", fmt.Sprintf("%d of %s on %s, %s", r.Ranks, print.Count(r.Machine.Threads, "thread"), print.Hosts(r.Hosts), print.Printable(r.Library))},
		{"command", r.Command},
		{"measured", measured},
	}
}

// exchanges has a row for each size and a column for what has that size.
func (r *scaleReport) exchanges() *FigureTable {
	f := &FigureTable{Title: fmt.Sprintf("Process 0 sends to all %d and has their sum back, one of them 8 bytes long", r.Ranks), Key: "median, the best in brackets",
		Columns: []string{"sent", "sum", "sum in order"}}
	at := map[string]int{bench.ToAll: 0, bench.FastSum: 1, bench.OrderedSum: 2}
	for i := range r.Exchanges {
		x := &r.Exchanges[i]
		name := print.Bytes(int64(x.Bytes))
		if n := len(f.Rows); n == 0 || f.Rows[n-1].Name != name {
			f.Add(name, nothing, nothing, nothing)
		}
		f.Rows[len(f.Rows)-1].Cells[at[x.What]] = timesCell(x.MedianUS/1e6, x.BestUS/1e6)
	}
	return f
}

// products has two rows for each problem and a column for each setup, which is the same for all.
func (r *scaleReport) products() *FigureTable {
	f := &FigureTable{Title: "Hv on kept passes, of letters", Key: "processes × threads of each: median, the best in brackets; below how many times as fast as in the first column, at best",
		Notes: []string{"One process is newtop without MPI. All share this machine's cores where they are on it."}}
	if slices.ContainsFunc(r.Hosts, func(h string) bool { return h != r.Hosts[0] }) {
		f.Notes[0] = "One process is newtop without MPI, on the first host."
	}
	for i := range r.Products {
		p := &r.Products[i]
		taken := FigureRow{Name: fmt.Sprintf("%s, %s rows", p.Net, format.Count(p.Rows))}
		faster := FigureRow{Name: format.Count(p.Weights) + " weights"}
		for j, s := range p.Setups {
			if i == 0 {
				f.Columns = append(f.Columns, fmt.Sprintf("%d × %s", s.Ranks, print.Count(s.Threads, "thread")))
			}
			taken.Cells = append(taken.Cells, timesCell(s.MedianMS/1e3, s.BestMS/1e3))
			faster.Cells = append(faster.Cells, Cell{Figure: nothing})
			if j > 0 {
				faster.Cells[j].Figure = fmt.Sprintf("%.2f ×", p.Setups[0].BestMS/s.BestMS)
			}
		}
		f.Rows = append(f.Rows, taken, faster)
	}
	return f
}

// timesCell writes two times in seconds.
func timesCell(median, best float64) Cell {
	return Cell{Figure: duration(median), Beside: " (" + duration(best) + ")"}
}

// duration writes seconds with three digits.
func duration(seconds float64) string {
	switch {
	case seconds < 0.9995e-6:
		return short(seconds*1e9) + " ns"
	case seconds < 0.9995e-3:
		return short(seconds*1e6) + " µs"
	case seconds < 0.9995:
		return short(seconds*1e3) + " ms"
	}
	return short(seconds) + " s"
}
