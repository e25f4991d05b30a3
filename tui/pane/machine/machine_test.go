package machine

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	host "newtop/internal/machine"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/history"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// told is a pane that was told samples.
func told(list []host.Sample) *Pane {
	p := &Pane{}
	for _, s := range list {
		p.Add(s)
	}
	return p
}

// text fails if a row is wider than the place.
func text(t *testing.T, rows []string, w, h int) string {
	t.Helper()
	if len(rows) > h {
		t.Fatalf("%d rows in %d", len(rows), h)
	}
	var b strings.Builder
	for _, row := range rows {
		if n := ansi.StringWidth(row); n > w {
			t.Fatalf("a row of %d columns in %d: %q", n, w, ansi.Strip(row))
		}
		b.WriteString(strings.TrimRight(ansi.Strip(row), " ") + "\n")
	}
	return b.String()
}

func TestPane(t *testing.T) {
	add := tuitest.Archive(t)
	v := panetest.View()
	for _, gpus := range []int{0, 2} {
		for _, size := range [][2]int{{34, 9}, {60, 16}, {80, 24}, {120, 40}} {
			p := told(tuitest.MachineSamples(200, gpus))
			var d pane.Cache
			rows := d.Draw(p, v, layout.Rect{W: size[0], H: size[1]}, pane.CacheKey{})
			add(fmt.Sprintf("%d gpus, %dx%d", gpus, size[0], size[1]), text(t, rows, size[0], size[1]))
		}
	}
}

func TestRow(t *testing.T) {
	add := tuitest.Archive(t)
	pen := tuitest.Pen()
	for _, gpus := range []int{0, 1, 2, 8} {
		p := told(tuitest.MachineSamples(200, gpus))
		for _, w := range []int{40, 60, 80, 120, 160} {
			add(fmt.Sprintf("%d gpus, %d columns", gpus, w), text(t, []string{p.Row(&pen, w)}, w, 1))
		}
	}
	list := tuitest.MachineSamples(1, 0)
	list[0].Process, list[0].DiskUsed, list[0].MemoryUsed = nil, 99e9, 235<<26
	add("full", text(t, []string{told(list).Row(&pen, 50)}, 50, 1))
	list = tuitest.MachineSamples(2, 0)
	list[1].Process = nil
	add("ended", text(t, []string{told(list).Row(&pen, 70)}, 70, 1))
	add("nothing", text(t, []string{told(nil).Row(&pen, 50)}, 50, 1))
}

// TestLogged draws what the run's own log tells, and not what this machine does.
func TestLogged(t *testing.T) {
	add := tuitest.Archive(t)
	d := feed.Delta{}
	for i := range 40 {
		d.Machine = append(d.Machine, event.MachineEvent{Elapsed: event.Float(15 * i), Metrics: []event.Metric{
			{Key: "system/network/recv", Value: event.Float(i)}, {Key: "system/gpu/0/temp", Value: 70}}})
	}
	v := panetest.View()
	v.H = &history.History{}
	v.H.Apply(&d)
	p := told(tuitest.MachineSamples(200, 1))
	for _, size := range [][2]int{{100, 6}, {60, 14}} {
		l := v.Line(size[0])
		p.Header(v, l)
		all := l.Full() + "\n" + text(t, p.Body(v, size[0], size[1], false), size[0], size[1])
		add(fmt.Sprintf("%dx%d", size[0], size[1]), all)
	}
}

// TestNothingIsTold shows samples that tell nothing, or hardly anything, at every size.
func TestNothingIsTold(t *testing.T) {
	nan := math.NaN()
	empty := host.Sample{CPU: nan, CPULimit: nan, Load: [3]float64{nan, nan, nan}, DiskRead: nan, DiskWrite: nan, NetIn: nan, NetOut: nan,
		Process: &host.Process{CPU: nan}, GPUs: []host.GPU{{Busy: nan, MemoryUsed: nan, MemoryTotal: nan, Temperature: nan, Power: nan, PowerLimit: nan, Clock: nan}}}
	strange := tuitest.MachineSamples(3, 20)
	strange[2].GPUs[3] = host.GPU{Index: 3, Name: "\x1b[31m", Busy: 7, MemoryUsed: math.MaxFloat64, MemoryTotal: 1, Temperature: -300, Clock: 1e300, Power: 1e9, PowerLimit: nan}
	strange[2].Process.Name, strange[2].Process.CPU = strings.Repeat("漢", 40), 1e6
	strange[2].Core = make([]float64, 512)
	strange[2].MemoryTotal, strange[2].MemoryUsed = math.MaxUint64, 1
	v := panetest.View()
	for _, glyphs := range []style.Glyphs{style.GlyphsBraille, style.GlyphsASCII} {
		v.Glyphs = glyphs.Set(nil)
		for _, p := range []*Pane{told(nil), told([]host.Sample{empty}), told(strange)} {
			for w := 1; w < 200; w += 7 {
				for h := 1; h < 60; h += 5 {
					all := text(t, p.Body(v, w, h, w%2 == 0), w, h) + text(t, p.Strip(v, w, h), w, h) + text(t, []string{p.Row(&v.Pen, w)}, w, 1)
					if strings.Contains(all, "NaN") || strings.ContainsRune(all, '\x1b') {
						t.Fatalf("%d×%d:\n%s", w, h, all)
					}
				}
			}
		}
	}
}

// TestWindow widens and narrows what the curves show, to both ends.
func TestWindow(t *testing.T) {
	p := told(tuitest.MachineSamples(3000, 0))
	v := panetest.View()
	var seen []string
	for _, k := range []string{"]", "]", "[", "[", "[", "[", "[", "["} {
		if _, taken := pane.Press(p, v, k); !taken {
			t.Fatalf("%s was not taken", k)
		}
		left, right := p.window()
		seen = append(seen, fmt.Sprintf("%s %g", p.Span(), right-left))
	}
	want := []string{"the last minute 60", "the last minute 60", "the last 5 min 300", "the last 30 min 1800", "the last 3 h 2999", "the last 24 h 2999", "all that was seen 2999", "all that was seen 2999"}
	if strings.Join(seen, ", ") != strings.Join(want, ", ") {
		t.Errorf("%q", seen)
	}
	if before := p.Samples(); before != 3000 {
		t.Errorf("%d samples", before)
	}
	p.Add(p.Latest)
	if p.Samples() != 3000 {
		t.Error("a sample was taken twice")
	}
}
