package machine

import (
	"math"
	"strconv"
	"strings"

	"newtop/internal/format"
	host "newtop/internal/machine"
	"newtop/tui/chart"
	"newtop/tui/style"
)

// Row is how the machine does in one row of w columns, with what matters less left out where there is no room.
func (b *Panel) Row(v *style.Pen, w int) string {
	l := v.Line(w).Write(style.Text, " ")
	if b.added == 0 {
		return l.Write(style.Muted, "machine: nothing measured yet").Full()
	}
	var parts []style.Part
	for brevity := range brevities {
		if parts = b.rowParts(v, brevity); style.Width(parts) < w {
			break
		}
	}
	for _, p := range parts {
		l.Write(p.Token, p.Text)
	}
	return l.Full()
}

// What is left out of the row, in this order.
const (
	noLoad = 1 + iota
	noTemperature
	noDisk
	noCurve
	noTotals
	noResident
	noProcessor // of the process
	brevities
)

// gap stands between two things.
const gap = "  "

func (b *Panel) rowParts(v *style.Pen, brevity int) (out []style.Part) {
	s := &b.Latest
	add := func(name string, values ...style.Part) {
		if len(out) > 0 {
			out = append(out, style.Text.Of(gap))
		}
		out = append(append(out, style.Muted.Of(name+" ")), values...)
	}
	cpu := []style.Part{style.Text.Of(percent(s.CPU))}
	if brevity < noCurve {
		cpu = append([]style.Part{style.Train.Of(b.spark(v, &b.cpu, rowSeconds, 1, rowCurve) + " ")}, cpu...)
	}
	add("cpu", cpu...)
	used, whole := float64(s.MemoryUsed), float64(s.MemoryTotal)
	memory := memoryOf(used, whole)
	if brevity >= noTotals {
		memory = percent(shareOf(used, whole))
	}
	add("mem", full(memory, shareOf(used, whole)))
	if brevity < noLoad && s.Load[0] == s.Load[0] {
		add("load", style.Text.Of(loadText(s.Load[0])))
	}
	if disk := shareOf(float64(s.DiskUsed), float64(s.DiskTotal)); disk == disk &&
		(brevity < noDisk || disk >= host.NearlyFull) {
		add("disk", full(percent(disk), disk))
	}
	for _, g := range together(s.GPUs) {
		add(g.name, g.values(brevity)...)
	}
	p := s.Process
	switch {
	case p == nil && b.watched != "":
		out = append(out, style.Border.Of(gap+"│ "), style.Muted.Of(short(b.watched, 16)), style.Warn.Of(" ended"))
	case p != nil:
		out = append(out, style.Border.Of(gap+"│ "), style.Muted.Of(short(p.Name, 16)))
		if brevity < noProcessor {
			out = append(out, style.Text.Of(" "+cores(p.CPU)))
		}
		if brevity < noResident {
			out = append(out, style.Text.Of(" "+Memory(float64(p.RSS))))
		}
	}
	return out
}

// The curve of the row: its columns, and how many seconds it shows.
const (
	rowCurve   = 8
	rowSeconds = 60
)

// named is a GPU, or several as one, with its name.
type named struct {
	name string
	host.GPU
}

// together are the GPUs by themselves where they are one or two. More are one: the mean of how busy they are, all of
// their memory, and the greatest temperature.
func together(list []host.GPU) (out []named) {
	if len(list) <= 2 {
		for i := range list {
			out = append(out, named{gpuName(&list[i]), list[i]})
		}
		return out
	}
	all := host.GPU{Temperature: math.NaN()}
	for _, g := range list {
		all.Busy += g.Busy / float64(len(list))
		all.MemoryUsed += g.MemoryUsed
		all.MemoryTotal += g.MemoryTotal
		if !(all.Temperature >= g.Temperature) && g.Temperature == g.Temperature {
			all.Temperature = g.Temperature
		}
	}
	return []named{{format.Count(len(list)) + " gpus", all}}
}

// values are what the row says of a GPU.
func (g *named) values(brevity int) (out []style.Part) {
	out = append(out, style.Text.Of(percent(g.Busy)))
	memory := memoryOf(g.MemoryUsed, g.MemoryTotal)
	if brevity >= noTotals {
		memory = "mem " + percent(shareOf(g.MemoryUsed, g.MemoryTotal))
	}
	if g.MemoryTotal > 0 {
		out = append(out, style.Text.Of(" "+memory))
	}
	if t := celsius(g.Temperature); t != "" && brevity < noTemperature {
		out = append(out, style.Text.Of(" "+t))
	}
	return out
}

// spark draws the last seconds of a curve as bars in one row of n columns, each the mean of its time; most is the
// greatest value, 0: that of the bars.
func (b *Panel) spark(v *style.Pen, s *chart.Series, seconds, most float64, n int) string {
	right := b.elapsed()
	left := max(0, right-seconds)
	b.heights = b.heights[:0]
	sums, counts := make([]float64, n), make([]float64, n)
	for _, k := range s.Fine() {
		at := int((k.X1[chart.Epochs] - left) / max(right-left, 1) * float64(n))
		if k.N == 0 || k.X1[chart.Epochs] < left {
			continue
		}
		at = max(0, min(at, n-1))
		sums[at], counts[at] = sums[at]+k.Sum, counts[at]+float64(k.N)
	}
	before, first := math.NaN(), n
	for i := range n {
		if counts[i] > 0 {
			before, first = sums[i]/counts[i], min(first, i)
		}
		b.heights = append(b.heights, before)
	}
	if first == n {
		return style.Spaces(n)
	}
	if most == 0 {
		for _, y := range b.heights[first:] {
			most = max(most, y)
		}
	}
	for i := range b.heights {
		b.heights[i] /= max(most, math.SmallestNonzeroFloat64)
	}
	return strings.Repeat(" ", first) + string(b.blocks.Sparkline(v.Glyphs, b.heights[first:]))
}

// bars draws how busy the cores are, a bar each, or several as one where there is no room.
func (b *Panel) bars(v *style.Pen, room int) string {
	list := b.Latest.Core
	n := min(len(list), max(room, 1))
	b.heights = b.heights[:0]
	for i := range n {
		from, to := chart.Portion(i, n, len(list))
		sum := 0.0
		for _, x := range list[from:to] {
			sum += x
		}
		b.heights = append(b.heights, sum/float64(to-from))
	}
	return string(b.blocks.Sparkline(v.Glyphs, b.heights))
}

// Users has a line for each GPU of which processes are reported: who uses it, the one with the most memory first.
func (b *Panel) Users(v *style.Pen, w int) (rows []string) {
	for i := range b.Latest.GPUs {
		g := &b.Latest.GPUs[i]
		if g.UUID == "" {
			continue
		}
		l := v.Line(w).Write(style.Muted, gpuName(g)+" used by ")
		lead, used := "", false
		for _, u := range b.Latest.GPUUsers {
			if u.GPU != g.Index {
				continue
			}
			parts := []style.Part{style.Text.Of(lead + short(u.Name, 16)), style.Muted.Of(" " + strconv.Itoa(u.PID))}
			if u.Name == "" {
				parts[1].Text = "process" + parts[1].Text
			}
			if u.User != "" {
				parts = append(parts, style.Muted.Of(" "+short(u.User, 12)))
			}
			if u.Memory > 0 {
				parts = append(parts, style.Text.Of(" "+Memory(float64(u.Memory))))
			}
			if used = true; !l.Group(parts...) {
				break
			}
			lead = gap
		}
		if !used {
			l.Write(style.Muted, "no process")
		}
		rows = append(rows, l.Full())
	}
	return rows
}
