package machine

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"newtop/internal/format"
	host "newtop/internal/machine"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// graph is one quantity over time, or two that belong together: a heading with what they are now, and their curves.
type graph struct {
	name   string
	values [][]style.Part // the latest, what matters most first
	curves []chart.Curve
	axis   chart.YAxis
	max    float64 // the greatest value that there can be, 0 where that is not known
	cores  bool    // bars of the cores stand under the heading
}

// shares is the axis of what goes from nothing to all.
var shares = chart.YAxis{Zero: true, Show: [2]float64{0, 1}, Unit: format.PercentUnit}

// curve is one of a graph's.
func curve(name string, s *chart.Series, second bool) chart.Curve {
	if second {
		return chart.Curve{Name: name, Token: style.Test, Series: s, Dashed: true, Mark: 'o'}
	}
	return chart.Curve{Name: name, Token: style.Train, Series: s, Mark: '*'}
}

// said are the parts of a value that are only worth showing together; its name may be "".
func said(name string, value style.Part) []style.Part {
	if name == "" {
		return []style.Part{value}
	}
	return []style.Part{style.Muted.Of(name + " "), value}
}

func labeled(name, value string) []style.Part { return said(name, style.Text.Of(value)) }

// graphs are those of which anything is reported, what matters most first.
func (b *Panel) graphs() (out []graph) {
	add := func(g graph) {
		if slices.ContainsFunc(g.curves, func(c chart.Curve) bool { return !c.Series.Empty() }) {
			out = append(out, g)
		}
	}
	if b.logged() {
		for _, s := range b.Logged.Series {
			add(graph{name: strings.TrimPrefix(s.Symbol, "system/"),
				values: [][]style.Part{labeled("", s.Format(s.Series.Last()))},
				curves: []chart.Curve{curve("", &s.Series, false)}})
		}
		sort.SliceStable(out, func(i, j int) bool { return importance(out[i].name) < importance(out[j].name) })
		return out
	}
	s := &b.Latest
	load := [][]style.Part{labeled("", percent(s.CPU))}
	if s.Load[0] == s.Load[0] {
		load = append(load, labeled("load", loadText(s.Load[0])))
	}
	if s.CPULimit == s.CPULimit {
		load = append(load, labeled("may use", cores(s.CPULimit)))
	}
	add(graph{name: "cpu", values: load, curves: []chart.Curve{curve("busy", &b.cpu, false)}, axis: shares, max: 1,
		cores: true})
	used, whole := float64(s.MemoryUsed), float64(s.MemoryTotal)
	memory := [][]style.Part{said("", full(memoryOf(used, whole), shareOf(used, whole)))}
	if s.SwapUsed > 0 {
		memory = append(memory, labeled("swap", Memory(float64(s.SwapUsed))))
	}
	add(graph{name: "memory", values: memory, curves: []chart.Curve{curve("used", &b.memory, false)}, axis: shares,
		max: 1})
	for i := range s.GPUs {
		if g := &s.GPUs[i]; g.Index >= 0 && g.Index < len(b.gpus) {
			add(b.gpuGraph(g))
		}
	}
	if s.Process != nil {
		add(b.processGraph())
	}
	disk := [][]style.Part{labeled("read", perSecond(s.DiskRead)), labeled("write", perSecond(s.DiskWrite))}
	if d := shareOf(float64(s.DiskUsed), float64(s.DiskTotal)); d == d {
		disk = append(disk, said("full", full(percent(d), d)))
	}
	rates := chart.YAxis{Zero: true, Show: [2]float64{0, 1000}}
	add(graph{name: "disk", values: disk, curves: []chart.Curve{curve("read", &b.read, false),
		curve("write", &b.written, true)}, axis: rates})
	add(graph{name: "network", values: [][]style.Part{labeled("in", perSecond(s.NetIn)),
		labeled("out", perSecond(s.NetOut))},
		curves: []chart.Curve{curve("in", &b.in, false), curve("out", &b.out, true)}, axis: rates})
	return out
}

// importance is the less the more a logged quantity matters.
func importance(name string) int {
	for i, word := range [...]string{"gpu", "cpu", "mem"} {
		if strings.HasPrefix(strings.ToLower(name), word) {
			return i
		}
	}
	return 3
}

func (b *Panel) processGraph() graph {
	p := b.Latest.Process
	values := [][]style.Part{labeled("", cores(p.CPU)), labeled("", Memory(float64(p.RSS)))}
	if p.GPUMemory > 0 {
		values = append(values, labeled("on gpu", Memory(float64(p.GPUMemory))))
	}
	if p.Count > 1 {
		values = append(values, said("", style.Muted.Of(format.Count(p.Count)+" processes")))
	}
	if p.Threads > 0 {
		values = append(values, said("", style.Muted.Of(format.Counted(p.Threads, "thread"))))
	}
	return graph{name: short(p.Name, 16), values: values, curves: []chart.Curve{curve("cores", &b.process, false)},
		axis: chart.YAxis{Zero: true, Show: [2]float64{0, 1}}}
}

func (b *Panel) gpuGraph(g *host.GPU) graph {
	share := shareOf(g.MemoryUsed, g.MemoryTotal)
	values := [][]style.Part{labeled("", percent(g.Busy)), said("", full(memoryOf(g.MemoryUsed, g.MemoryTotal), share))}
	for _, text := range []string{celsius(g.Temperature), watts(g)} {
		if text != "" {
			values = append(values, labeled("", text))
		}
	}
	if g.Clock == g.Clock {
		values = append(values, said("", style.Muted.Of(strconv.Itoa(int(g.Clock/1e6))+" MHz")))
	}
	values = append(values, said("", style.Muted.Of(style.Clean(g.Name))))
	return graph{name: gpuName(g), values: values, axis: shares, max: 1,
		curves: []chart.Curve{curve("busy", &b.gpus[g.Index].busy, false),
			curve("memory", &b.gpus[g.Index].memory, true)}}
}

// What a graph needs at least.
const (
	minWidth  = 36
	minHeight = 4
)

// Draw draws all quantities into w × h cells: curves side by side where there is room for them, else a row each.
func (b *Panel) Draw(v *style.Pen, w, h int) []string {
	list := b.graphs()
	if len(list) == 0 {
		return []string{v.Line(w).Write(style.Muted, "nothing measured yet").Full()}
	}
	columns, each := grid(len(list), w, h)
	if columns == 0 {
		return b.list(v, list, w, h)
	}
	var rows []string
	for i := 0; i < len(list); i += columns {
		var blocks [][]string
		part := list[i:min(i+columns, len(list))]
		for k := range part {
			wide := (w-2*(len(part)-1))/len(part) + min(1, max(0, (w-2*(len(part)-1))%len(part)-k))
			blocks = append(blocks, style.Block(b.draw(v, &part[k], wide, each[i/columns]), wide, each[i/columns]))
		}
		rows = append(rows, style.Abreast(blocks, each[i/columns])...)
	}
	return rows
}

// grid divides a rectangle among n graphs: how many stand side by side, 0 where there is no room, and how high the rows
// are.
func grid(n, w, h int) (columns int, heights []int) {
	for columns = 1; columns <= n; columns++ {
		rows := (n + columns - 1) / columns
		if w < columns*minWidth {
			break
		}
		if h < rows*minHeight || columns < n && w >= 2*minWidth*columns && h < 2*rows*minHeight {
			continue
		}
		for i := range rows {
			heights = append(heights, h/rows+min(1, max(0, h%rows-i)))
		}
		return columns, heights
	}
	return 0, nil
}

// draw draws a graph with its heading.
func (b *Panel) draw(v *style.Pen, g *graph, w, h int) []string {
	l := v.Line(w).Write(style.Strong, g.name)
	g.writeValues(l, gap)
	if len(g.curves) == 2 { // which is which
		var key []style.Part
		for i := range g.curves {
			c := &g.curves[i]
			key = append(key, style.Text.Of(gap), c.Token.Of(c.Sign(v.Glyphs, 2)), style.Muted.Of(" "+c.Name))
		}
		if l.Width+style.Width(key) <= w {
			l.Group(key...)
		}
	}
	rows := []string{l.Full()}
	if g.cores && h >= minHeight+2 && len(b.Latest.Core) > 1 {
		bars := b.bars(v, w-12)
		rows = append(rows, v.Line(w).Write(style.Muted, "cores ").Write(style.Train, bars).Write(
			style.Muted, " "+format.Count(len(b.Latest.Core))).Full())
	}
	pl := chart.Plot{Curves: g.curves, Y: g.axis, XAxis: chart.XAxis{NoX: true}, Detail: true}
	pl.Window[0], pl.Window[1] = b.window()
	pl.Y.Margin = 7
	return append(rows, b.canvas.Draw(v, pl, w, h-len(rows))...)
}

// minBars is how many bars stand for the cores at least, where there are as many cores.
const minBars = 8

// writeValues writes as many of the values as have room, what matters most first.
func (g *graph) writeValues(l *style.Line, lead string) {
	for _, value := range g.values {
		if !l.Group(append([]style.Part{style.Text.Of(lead)}, value...)...) {
			return
		}
		lead = gap
	}
}

// list has a row for each quantity: its name, a small curve and its values.
func (b *Panel) list(v *style.Pen, list []graph, w, h int) (rows []string) {
	names := 9
	for i := range list {
		names = max(names, min(style.Cells(list[i].name)+1, w/3))
	}
	left, right := b.window()
	bars := 0
	if w >= 40 {
		bars = min(w/4, 24)
	}
	for i := range list[:min(len(list), h)] {
		g := &list[i]
		l := v.Line(w).Write(style.Muted, style.Pad(short(g.name, names-1), names))
		if bars > 0 {
			l.Write(style.Train, b.spark(v, g.curves[0].Series, right-left, g.max, bars)).Write(style.Text, gap)
		}
		g.writeValues(l, "")
		if room := l.Left() - style.Cells(gap+"cores "); g.cores && room >= min(len(b.Latest.Core), minBars) &&
			len(b.Latest.Core) > 0 {
			l.Write(style.Text, gap).Write(style.Muted, "cores ").Write(style.Train, b.bars(v, room))
		}
		rows = append(rows, l.Full())
	}
	return rows
}
