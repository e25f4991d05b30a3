package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/bench"

	"github.com/charmbracelet/x/ansi"
)

// writeScale writes a report in one of the formats.
func writeScale(out io.Writer, format string, r *scaleReport) (err error) {
	switch format {
	case "json":
		return writeJSON(out, r)
	case "md":
		_, err = io.WriteString(out, scaleMarkdown(r))
	default:
		_, err = io.WriteString(out, scaleText(r))
	}
	return err
}

// scaleTable is a table: the first column has names, the others figures.
type scaleTable struct {
	title string
	head  []string
	rows  [][]string
	notes []string
}

func (f *scaleTable) add(cells ...string) { f.rows = append(f.rows, cells) }

// text writes the table, at most 80 columns wide.
func (f *scaleTable) text(b *strings.Builder) {
	widths := make([]int, len(f.head))
	for _, row := range append([][]string{f.head}, f.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	b.WriteByte('\n')
	b.WriteString(f.title + "\n")
	for _, row := range append([][]string{f.head}, f.rows...) {
		line := "  " + after(row[0], widths[0])
		for i, cell := range row[1:] {
			line += "  " + before(cell, widths[i+1])
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, note := range f.notes {
		hanging(b, "  ", note)
	}
}

func (f *scaleTable) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n|", inMarkdown(strings.ToUpper(f.title[:1])+f.title[1:]))
	for _, cell := range f.head {
		fmt.Fprintf(b, " %s |", inMarkdown(cell))
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(f.head)-1) + "\n")
	for _, row := range f.rows {
		b.WriteString("|")
		for _, cell := range row {
			fmt.Fprintf(b, " %s |", inMarkdown(cell))
		}
		b.WriteByte('\n')
	}
	for _, note := range f.notes {
		b.WriteString("\n" + inMarkdown(strings.ToUpper(note[:1])+note[1:]) + "\n")
	}
}

func scaleText(r *scaleReport) string {
	var b strings.Builder
	for _, f := range r.facts() {
		hanging(&b, fmt.Sprintf("%-10s", f[0]), f[1])
	}
	for _, t := range r.tables() {
		t.text(&b)
	}
	return b.String()
}

func scaleMarkdown(r *scaleReport) string {
	var b strings.Builder
	for _, f := range r.facts() {
		text := inMarkdown(f[1])
		if f[0] == "command" {
			text = "`" + f[1] + "`"
		}
		fmt.Fprintf(&b, "- %s: %s\n", f[0], text)
	}
	for _, t := range r.tables() {
		t.markdown(&b)
	}
	return b.String()
}

// facts are what stands above the tables, by name.
func (r *scaleReport) facts() [][2]string {
	m := &r.Machine
	machine := fmt.Sprintf("%s, %s/%s, %s; kernel %s", count(m.Cores, "core"), m.OS, m.Arch, m.Go, m.Kernel)
	if m.CPU != "" {
		machine = m.CPU + ", " + machine
	}
	measured := fmt.Sprintf("%s, in %.0f s", r.Begun.Format("2006-01-02 15:04 UTC"), r.Seconds)
	if r.Quick {
		measured += "; quick: smaller problems, figures to try it out and for nothing else"
	}
	return [][2]string{
		{"newtop", r.Version},
		{"machine", machine},
		{"processes", fmt.Sprintf("%d of %s on %s, %s", r.Ranks, count(m.Threads, "thread"), hosts(r.Hosts), printable(r.Library))},
		{"command", r.Command},
		{"measured", measured},
	}
}

func (r *scaleReport) tables() []scaleTable {
	return []scaleTable{r.exchanges(), r.products(), r.model(), r.machines(), r.gains(), r.pays()}
}

func (r *scaleReport) exchanges() scaleTable {
	f := scaleTable{title: fmt.Sprintf("measured: process 0 sends to all %d and has their sum back", r.Ranks),
		head: []string{"", "median", "best", "model", "misfit"}}
	form := map[string]string{
		bench.ToAll:      "%s out, 8 bytes back",
		bench.FastSum:    "8 bytes out, %s back",
		bench.OrderedSum: "8 bytes out, %s back, in order",
	}
	for i := range r.Exchanges {
		x := &r.Exchanges[i]
		f.add(fmt.Sprintf(form[x.What], byteText(x.Bytes)), duration(x.MedianUS/1e6), duration(x.BestUS/1e6), duration(x.FittedUS/1e6), misfit(x.FittedUS, x.BestUS))
	}
	return f
}

func (r *scaleReport) products() scaleTable {
	f := scaleTable{title: "measured: Hv on kept passes, of letters", head: []string{"", "median", "best", "times", "model", "misfit"}}
	for i := range r.Products {
		p := &r.Products[i]
		f.add(fmt.Sprintf("%s, %s weights, %s rows", p.Net, grouped(p.Weights), grouped(p.Rows)), "", "", "", "", "")
		for _, s := range p.Setups {
			fitted, off := "", ""
			if s.FittedMS != nil {
				fitted, off = duration(*s.FittedMS/1e3), misfit(*s.FittedMS, s.BestMS)
			}
			f.add(fmt.Sprintf("– %s of %s", processCount(s.Ranks), count(s.Threads, "thread")), duration(s.MedianMS/1e3), duration(s.BestMS/1e3),
				fmt.Sprintf("%.2f", p.Setups[0].BestMS/s.BestMS), fitted, off)
		}
	}
	f.notes = []string{"times: how many times as fast as the first line, at best. One process is newtop without MPI. All share this machine's cores where they are on it."}
	if slices.ContainsFunc(r.Hosts, func(h string) bool { return h != r.Hosts[0] }) {
		f.notes[0] = "times: how many times as fast as the first line, at best. One process is newtop without MPI, on the first host."
	}
	return f
}

func (r *scaleReport) model() scaleTable {
	m := &r.Fitted
	f := scaleTable{title: "fitted to the best times above by least squares on their logarithms", head: []string{"", ""}}
	for _, v := range r.Speeds {
		f.add("F, operations/s of a process, "+v.Net, each(v.Operation, "FLOP/s"))
	}
	f.add("V, what is not shared, a weight", duration(m.Weight))
	f.add("α, a message", duration(m.Latency))
	f.add("1/β, bytes/s", each(m.Byte, "B/s"))
	f.add("1/γ, numbers added a second", each(m.Addition, "/s"))
	f.add("1/β, 1/γ of vectors of 2 MiB and more", each(m.LongByte, "B/s")+", "+each(m.LongAddition, "/s"))
	f.add("root mean square misfit", fmt.Sprintf("× %.2f", math.Exp(r.Misfit)))
	f.notes = []string{"T = operations·share/F + V·N + announcement + broadcast(N) + reduction(N); share is the busiest process's part of the rows. A price of which the fit found none is –."}
	return f
}

func (r *scaleReport) machines() scaleTable {
	a := &r.Assumed
	f := scaleTable{title: "predicted, not measured: Hv of 1,000,000 weights, 10 operations a weight and row",
		head: []string{"rows", "machines", "busiest", "fixed", "fast", "all-reduce"}}
	for i := range r.Predictions {
		p := &r.Predictions[i]
		rows := power(p.Rows)
		if p.Weak {
			rows = power(p.Rows/p.Machines) + " each"
		}
		cells := []string{rows, grouped(p.Machines), fmt.Sprintf("%.2f", p.Busiest)}
		for _, s := range p.Reductions {
			cells = append(cells, duration(s.Seconds)+before(shareText(s.Efficiency), 8))
		}
		f.add(cells...)
	}
	f.notes = []string{
		fmt.Sprintf("assumed: %s a machine, %s a message, %s of each machine's link; γ and V as fitted here.", si(a.FLOPS, "FLOP/s"), duration(a.Latency), si(a.Bandwidth*8, "bit/s")),
		"fixed, fast: how sums are added up (--reduce). all-reduce: if processes decided everything alike and needed no broadcast. %: of the speed that as many machines would have that need not wait. busiest: how many times its fair share of the rows the machine with the most has, since it has whole leaves of the tree. each: rows a machine."}
	return f
}

func (r *scaleReport) gains() scaleTable {
	f := scaleTable{title: "predicted, not measured: machines like this one on that network", head: []string{"", "one", "two", "at most", "machines"}}
	for i := range r.Gains {
		g := &r.Gains[i]
		f.add(fmt.Sprintf("%s, %s weights, %s rows", g.Net, grouped(g.Weights), grouped(g.Rows)), duration(g.OneMS/1e3),
			fmt.Sprintf("%.2f ×", g.Two), fmt.Sprintf("%.1f ×", g.Gain), strconv.Itoa(g.Machines))
	}
	f.notes = []string{"one: measured, with all threads of this machine. two, at most: how many times as fast two are, and as many as gain the most; powers of two up to one for each leaf of the tree; sums in fixed order."}
	return f
}

func (r *scaleReport) pays() scaleTable {
	f := scaleTable{title: "predicted, not measured: from how many rows on two machines are worth it", head: []string{"weights"}}
	var weights []int
	for _, p := range r.Pays {
		if !slices.Contains(weights, p.Weights) {
			weights = append(weights, p.Weights)
		}
		if p.Weights == r.Pays[0].Weights {
			speed := si(p.FLOPS, "FLOP/s")
			f.head = append(f.head, speed+": faster", fmt.Sprintf("%g ×", bench.Worth))
		}
	}
	for _, n := range weights {
		cells := []string{grouped(n)}
		for _, p := range r.Pays {
			if p.Weights == n {
				cells = append(cells, grouped(int(twoDigits(p.AtAll))), grouped(int(twoDigits(p.Well))))
			}
		}
		f.add(cells...)
	}
	f.notes = []string{fmt.Sprintf("the first pair of columns: machines as fast as this one; the second: as assumed. faster: at all; %g ×: that many times as fast as one.", bench.Worth)}
	return f
}

// misfit writes how far a model is from what was measured.
func misfit(model, measured float64) string { return fmt.Sprintf("%+.0f %%", 100*(model/measured-1)) }

// shareText writes a share in per cent, its tenths where it is not the whole.
func shareText(share float64) string {
	if share >= 0.9995 {
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}

// duration writes seconds with three digits.
func duration(seconds float64) string {
	switch {
	case seconds == 0:
		return "–"
	case seconds < 0.9995e-6:
		return short(seconds*1e9) + " ns"
	case seconds < 0.9995e-3:
		return short(seconds*1e6) + " µs"
	case seconds < 0.9995:
		return short(seconds*1e3) + " ms"
	}
	return short(seconds) + " s"
}

// each writes how many there are a second of what takes so many seconds.
func each(seconds float64, unit string) string {
	if seconds == 0 {
		return "–"
	}
	return si(1/seconds, unit)
}

// si writes three digits and a prefix.
func si(v float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P"}
	i := 0
	for ; v >= 999.5 && i < len(prefixes)-1; i++ {
		v /= 1000
	}
	return short(v) + " " + prefixes[i] + unit
}

// byteText writes a number of bytes.
func byteText(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d bytes", n)
	}
	number, unit, _ := strings.Cut(si(float64(n), "B"), " ")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + " " + unit
}

// grouped writes a number with commas.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// power writes a power of ten as such.
func power(n int) string {
	e := int(math.Round(math.Log10(float64(n))))
	if e < 6 || math.Pow10(e) != float64(n) {
		return grouped(n)
	}
	return "10" + raised(e)
}

// twoDigits rounds up to two digits.
func twoDigits(v float64) float64 {
	unit := math.Pow10(max(0, int(math.Floor(math.Log10(v)))-1))
	return math.Ceil(v/unit) * unit
}

// processCount writes how many processes there are.
func processCount(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
