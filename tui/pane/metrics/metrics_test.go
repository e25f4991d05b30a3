package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// detector is a run of another program as object detectors write it: parts of the rows before the names, and many layers.
func detector(epochs, layers int, seed uint64) feed.Delta {
	r := rand.New(rand.NewPCG(seed, 5))
	replay := event.Replay{Source: "results.csv", Live: true, Seekable: true, Last: epochs, Epoch: epochs, Speed: 1}
	d := feed.Delta{Run: &event.RunEvent{Data: event.DataInfo{Name: "results.csv"}}, Status: event.Status{Phase: event.Running, Replay: &replay, Epoch: epochs}}
	n := float64(epochs)
	for e := 1; e <= epochs; e++ {
		x := float64(e)
		ev := event.UnknownEpoch(e)
		ev.Loss, ev.TestLoss, ev.Elapsed = event.Float(2.3*math.Exp(-5*x/n)+0.1+0.05*r.Float64()), event.Float(2.3*math.Exp(-5*x/n)+0.2), event.Float(0.7*x)
		f := func(key string, v float64) {
			ev.Metrics = append(ev.Metrics, event.Metric{Key: key, Value: event.Float(v)})
		}
		f("train/box_loss", 1.5*math.Exp(-4*x/n)+0.2*r.Float64())
		f("val/box_loss", 1.6*math.Exp(-4*x/n)+0.3)
		f("lr", 0.005*(1+math.Cos(math.Pi*x/n)))
		f("metrics/mAP50(B)", 0.7*(1-math.Exp(-6*x/n)))
		f("metrics/recall(B)", 0.75*(1-math.Exp(-7*x/n)))
		for k := range layers {
			f(fmt.Sprintf("layers.%d.grad_norm", k), math.Exp(0.3*r.NormFloat64()-2-float64(k)/20-x/n))
		}
		d.Epochs = append(d.Epochs, ev)
	}
	return d
}

// text draws a grid and fails if it has not its size.
func text(t testing.TB, g *Grid, w, h int, active bool) string {
	t.Helper()
	pen := tuitest.Pen()
	rows := g.Draw(&pen, w, h, active)
	if len(rows) > h {
		t.Fatalf("%d rows of %d", len(rows), h)
	}
	for _, row := range rows {
		if n := ansi.StringWidth(row); n > w {
			t.Fatalf("a row is %d wide, not %d: %q", n, w, ansi.Strip(row))
		}
	}
	return ansi.Strip(strings.Join(rows, "\n"))
}

func press(g *Grid, keys ...string) {
	for _, k := range keys {
		t := ""
		if len([]rune(k)) == 1 {
			t = k
		}
		g.HandleKey(k, t)
	}
}

// gridOf shows runs.
func gridOf(deltas ...feed.Delta) *Grid {
	var runs []Run
	for i := range deltas {
		h := &history.History{}
		h.Apply(&deltas[i])
		runs = append(runs, Run{Name: style.RacerLetter(i), H: h, Token: style.RacerToken(i), Mark: rune('a' + i)})
	}
	g := &Grid{}
	g.Show(runs)
	return g
}

// scenes are keys that lead to what a grid can show.
var scenes = map[string][]string{
	"begin": nil, "selected": {"l", "down", "right"}, "second-page": {"pgdown"}, "filter": {"/", "l", "o", "s", "s"}, "filtered": {"/", "n", "o", "r", "m", "enter", "end"},
	"wrong": {"/", "(", "a"}, "nothing": {"/", "z", "z", "enter"}, "pinned": {"end", "*", "home", "*"}, "grouped": {"g"}, "folded": {"g", "g", "down", "enter"},
	"by-name": {"S"}, "by-change": {"S", "S"}, "cursor": {".", "<", ","}, "seconds": {"x", "m", "y"}, "zoomed-x": {".", "<", "<", "+", "+"}, "chart": {"right", "right", "enter", "left"},
	"next-chart": {"enter", "pgdown"},
}

func TestScenes(t *testing.T) {
	for name, keys := range scenes {
		t.Run(name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range [][2]int{{56, 12}, {76, 20}, {116, 36}, {196, 56}} {
				g := gridOf(detector(60, 40, 1))
				text(t, g, size[0], size[1], true)
				for _, k := range keys {
					press(g, k)
					text(t, g, size[0], size[1], true)
				}
				if picture := text(t, g, size[0], size[1], true); size[0] == 76 || name == "begin" {
					add(fmt.Sprintf("%dx%d", size[0], size[1]), picture)
				}
			}
		})
	}
}

func TestManyRuns(t *testing.T) {
	add := tuitest.Archive(t)
	g := gridOf(detector(60, 3, 1), detector(40, 3, 2), detector(50, 2, 3))
	g.runs[2].Thick = true
	text(t, g, 76, 20, true)
	add("76x20", text(t, g, 76, 20, true))
	press(g, ".", "<")
	add("cursor", text(t, g, 116, 36, true))
	g.Show(nil)
	add("no run", text(t, g, 76, 5, true))
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]struct {
		base string
		part part
	}{
		"train/x": {"x", train}, "val/x": {"x", held}, "x": {"x", plain}, "val_x": {"x", held}, "x_train": {"x", train}, "x_val": {"x", held}, "loss/Test": {"loss", test},
		"train-rmse": {"rmse", train}, "valid_1's l2": {"1's l2", held}, "eval_accuracy": {"accuracy", held}, "val": {"val", plain}, "train/": {"train/", plain},
		"value": {"value", plain}, "training.lr": {"lr", train}, "a/b/val": {"a/b", held}, "/val": {"/val", plain}, "": {"", plain},
	} {
		if base, p := split(name); base != want.base || p != want.part {
			t.Errorf("%q is of %q, part %d", name, base, p)
		}
	}
}

// Two parts of one name share a chart, and whatever is told twice or alone has its own.
func TestPairs(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"train/x val/x", "x:2"}, {"x val_x", "x:2"}, {"x_train x_val x_test", "x:3"}, {"val/x", "val/x:1"}, {"x train/x val/x", "x:2 train/x:1"},
		{"train/x x val/x", "train/x:2 x:1"}, {"a/train/x a/val/x", "a/train/x:1 a/val/x:1"}, {"Val/X train/x", "X:2"}, {"val val/val", "val:2"},
	} {
		ev := event.UnknownEpoch(1)
		for i, k := range strings.Fields(c.keys) {
			ev.Metrics = append(ev.Metrics, event.Metric{Key: k, Value: event.Float(i)})
		}
		g := gridOf(feed.Delta{Run: &event.RunEvent{}, Status: event.Status{Replay: &event.Replay{}}, Epochs: []event.EpochEvent{ev}})
		var got []string
		for i := range g.catalog.all {
			m := &g.catalog.all[i]
			got = append(got, fmt.Sprintf("%s:%d", m.name, len(m.curves)))
			if g.catalog.at[m.name] != i {
				t.Errorf("%s: %q is not found", c.keys, m.name)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, not %s", c.keys, s, c.want)
		}
	}
}

// TestFlat: what has one value, or is constant, is a line under the charts until it moves, unless it is pinned; what a
// model is judged by comes first.
func TestFlat(t *testing.T) {
	epoch := func(e int, decay, nan float64) event.EpochEvent {
		ev := event.UnknownEpoch(e)
		ev.Rate, ev.Elapsed = event.Float(1/float64(e)), event.Float(e)
		ev.Metrics = []event.Metric{{Key: "gpu", Value: event.Float(e)}, {Key: "decay", Value: event.Float(decay)}, {Key: "bad", Value: event.Float(nan)}, {Key: "f1", Value: event.Float(e)}}
		return ev
	}
	g := gridOf(feed.Delta{Run: &event.RunEvent{}, Status: event.Status{Replay: &event.Replay{}}, Epochs: []event.EpochEvent{epoch(1, 3, 1), epoch(2, 3, math.Inf(1))}})
	items := func() (out []string) {
		g.Show(g.runs)
		text(t, g, 76, 20, true)
		for i := range g.items {
			out = append(out, fmt.Sprint(g.catalog.all[g.items[i].metric].name, map[bool]string{true: "-"}[g.items[i].flat]))
		}
		return out
	}
	if got := fmt.Sprint(items()); got != "[f1 learning rate gpu bad decay- seconds per epoch-]" {
		t.Error(got)
	}
	g.Select("decay")
	press(g, "*")
	if got := items(); got[0] != "decay" {
		t.Errorf("%s are shown once it is pinned", got)
	}
	press(g, "*")
	g.runs[0].H.Apply(&feed.Delta{Status: g.runs[0].H.Status, Epochs: []event.EpochEvent{epoch(3, 4, 1)}})
	if got := fmt.Sprint(items()); got != "[f1 learning rate gpu decay bad seconds per epoch-]" {
		t.Errorf("%s once it moves", got)
	}
}

// TestProbeComesLast: what newtop.probe measured stands behind what the program logged, whichever came first.
func TestProbeComesLast(t *testing.T) {
	d := detector(20, 1, 1)
	for i := range d.Epochs {
		d.Epochs[i].Metrics = append([]event.Metric{{Key: "curvature/lambda-1", Value: event.Float(i)}}, d.Epochs[i].Metrics...)
	}
	g := gridOf(d)
	text(t, g, 116, 36, true)
	var charts []string
	for _, it := range g.items {
		if !it.flat {
			charts = append(charts, g.catalog.all[it.metric].name)
		}
	}
	if last := charts[len(charts)-1]; last != "curvature/lambda-1" {
		t.Errorf("%q comes last of %q", last, charts)
	}
}

// TestOver: x goes round epochs, seconds and what never falls, and a curve has each value where that was then.
func TestOver(t *testing.T) {
	d := detector(20, 1, 1)
	for i := range d.Epochs {
		d.Epochs[i].Metrics = append(d.Epochs[i].Metrics, event.Metric{Key: "tokens", Value: event.Float(100 * (i + 1))})
	}
	g := gridOf(d, d)
	var seen []string
	for range 5 {
		text(t, g, 116, 36, true)
		seen = append(seen, XName(g))
		press(g, "x")
	}
	if got := fmt.Sprint(seen); got != "[epochs seconds % of the log tokens epochs]" {
		t.Error(got)
	}
	SetOver(g, "tokens")
	if s := text(t, g, 116, 36, true); !strings.Contains(s, "2000 tokens") && !strings.Contains(s, "2k tokens") {
		t.Error(s)
	}
	g.On, g.Cursor = true, chart.Position{1000}
	if v, _ := g.Value(g.runs[1].H, false); v != float64(d.Epochs[9].Loss) {
		t.Errorf("%v at 1,000 tokens, not %v", v, d.Epochs[9].Loss)
	}
}

// TestFarApart: beside a log of 20 epochs one that is at 500,000 squeezes no chart that it is not in, and the share of
// the log gives both the same room.
func TestFarApart(t *testing.T) {
	d, far := detector(20, 1, 1), detector(20, 1, 1)
	for i := range far.Epochs {
		e := &far.Epochs[i]
		*e = event.EpochEvent{Epoch: 499_000 + 50*i, Loss: e.Loss, Metrics: []event.Metric{{Key: "late", Value: e.Loss}}}
	}
	g := gridOf(d, far)
	s := text(t, g, 116, 36, true)
	for _, want := range []string{"late  [x: 499k to 500k]", "[x: 1 to 20]"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if strings.Contains(s, "▸loss  [x") {
		t.Errorf("what both have is on an axis of its own:\n%s", s)
	}
	SetOver(g, shareOfLog)
	if s = text(t, g, 116, 36, true); strings.Contains(s, "[x") || !strings.Contains(s, "100 % of the log") {
		t.Error(s)
	}
	for i := range g.runs {
		first, last, _ := g.over.line(g.runs[i].H, &g.catalog.all[g.catalog.at["loss"]].curves[i]).Extent()
		if first[chart.Epochs] != 0 || last[chart.Epochs] != 100 {
			t.Errorf("run %d goes from %v to %v %%", i, first, last)
		}
	}
}

// TestOwnX: a chart whose metric has an x of its own says so and has its own axis; what the machine did comes behind all that
// the user logged, of several runs alone.
func TestOwnX(t *testing.T) {
	d := detector(60, 1, 1)
	d.Run.Axes = map[string]string{"test_loss": "epoch", "lr": "tokens"}
	d.Machine = []event.MachineEvent{{Elapsed: 1, Metrics: []event.Metric{{Key: "system/cpu", Value: 3}}}, {Elapsed: 9, Metrics: []event.Metric{{Key: "system/cpu", Value: 4}}}}
	g := gridOf(d, d)
	s := text(t, g, 116, 36, true)
	for _, want := range []string{"test loss  [x: epoch]", "lr  [x: tokens]"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	if strings.Contains(s, "loss  [x: epoch]  [x") || strings.Contains(s, "system/cpu") {
		t.Error(s)
	}
	press(g, "pgdown")
	if s = text(t, g, 116, 36, true); !strings.Contains(s, "system/cpu  [x: s]") || !strings.Contains(s, "9 s") || g.Selected() != "system/cpu" {
		t.Errorf("the second page is\n%s", s)
	}
	if one := gridOf(d); slices.Contains(one.Names(), "system/cpu") || !slices.Contains(one.Names(), "test loss") {
		t.Errorf("one run has %q", one.Names())
	}
}

// TestDivision: the user divides the page, by keys and by a click on them in the last row, and what was written is taken again.
func TestDivision(t *testing.T) {
	g := gridOf(detector(20, 30, 1))
	picture := text(t, g, 150, 40, true)
	press(g, "C", "C", "r", "r", "r")
	text(t, g, 150, 40, true)
	if p := g.pages[0]; len(p) != 3 || p[0].end != 2 || p[0].w != 74 || Charts(g) != "2x3" {
		t.Errorf("%v rows, %s", p, Charts(g))
	}
	for _, s := range g.status {
		if s.keys[0] == "C" {
			g.HandleMouse(tea.MouseClickMsg{X: s.from, Y: 39, Button: tea.MouseLeft}, s.from, 39)
			g.HandleMouse(tea.MouseClickMsg{X: s.from + 2, Y: 39, Button: tea.MouseLeft}, s.from+2, 39)
		}
	}
	if Charts(g) != "3x4" {
		t.Errorf("after the clicks %s", Charts(g))
	}
	for _, text := range []string{"", "x", "-1x2", "0x0"} {
		SetCharts(g, text)
	}
	if again := text(t, g, 150, 40, true); again != picture || Charts(g) != "" {
		t.Errorf("%q\n%s", Charts(g), again)
	}
}

// A run that begins again with fewer metrics has none of the others, before it is drawn again, too.
func TestBegunAgain(t *testing.T) {
	g := gridOf(detector(20, 9, 1))
	text(t, g, 116, 36, true)
	g.runs[0].H.Curves.Metrics = g.runs[0].H.Curves.Metrics[:2]
	press(g, "end", "*", "x", "S", "y", "enter", "x", "C")
	text(t, g, 116, 36, true)
}

func TestNatural(t *testing.T) {
	names := []string{"layer10", "Layer9", "layer9.b", "a", "layer", "layer09.a"}
	slices.SortFunc(names, natural)
	if got := strings.Join(names, " "); got != "a layer Layer9 layer09.a layer9.b layer10" {
		t.Error(got)
	}
}

// What is selected goes by its name: it stays when metrics come, and when a filter hides it for a while.
func TestSelectionStays(t *testing.T) {
	g := gridOf(detector(20, 10, 1))
	g.Select("layers.4.grad_norm")
	press(g, "/", "b", "o", "x", "enter")
	if got := g.Selected(); got != "box_loss" {
		t.Errorf("%q is selected of those that match", got)
	}
	press(g, "esc")
	d := detector(20, 30, 1)
	d.Run = nil
	g.runs[0].H.Apply(&d)
	g.Show(g.runs)
	if got := g.Selected(); got != "layers.4.grad_norm" {
		t.Errorf("%q is selected", got)
	}
	press(g, "g", "g")
	g.Select("metrics/mAP50(B)")
	if got := g.Selected(); got != "metrics/mAP50(B)" {
		t.Errorf("%q is selected of a folded group", got)
	}
}

// The cursor is at one place in all charts, and its values are those of the run there.
func TestCursorIsCommon(t *testing.T) {
	g := gridOf(detector(60, 2, 1), detector(40, 2, 2))
	text(t, g, 116, 36, true)
	press(g, ".", "<")
	text(t, g, 116, 36, true)
	at := g.Cursor[0]
	for run := range 2 {
		v, _ := g.Value(g.runs[run].H, false)
		if want := g.runs[run].H.Curves.Loss.At(0, at); v != want || v != v {
			t.Errorf("run %d has %v at epoch %v, not %v", run, v, at, want)
		}
	}
}

// TestCached draws a picture from what was kept, and the same anew.
func TestCached(t *testing.T) {
	keys := []string{"right", "down", "x", "m", ".", ",", "y", "Y", "*", "S", "g", "enter", "esc", "+", "0", "c", "pgdown", "pgup", "/", "a", "enter"}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 3))
		g := gridOf(detector(30, 12, 1))
		for range 120 {
			press(g, keys[r.IntN(len(keys))])
			if r.IntN(4) == 0 {
				d := detector(31+r.IntN(9), 12, seed)
				d.Run, d.Epochs = nil, d.Epochs[30:]
				g.runs[0].H.Apply(&d)
				g.Show(g.runs)
			}
			w, h := 40+r.IntN(100), 8+r.IntN(30)
			text(t, g, w, h, true)
			retained := text(t, g, w, h, true)
			g.cells = nil
			if anew := text(t, g, w, h, true); anew != retained {
				t.Fatalf("kept\n%s\nanew\n%s", retained, anew)
			}
		}
	}
}

// TestPane draws runs of every kind among the panes, at many sizes.
func TestPane(t *testing.T) {
	for _, deltas := range [][]feed.Delta{nil, tuitest.ExternalRun(43, false), tuitest.ExternalRun(43, true), tuitest.RichRun(false, true), {detector(20, 30, 1)}} {
		v, p := panetest.View(deltas...), New()
		for _, size := range [][2]int{{1, 1}, {23, 3}, {58, 2}, {76, 20}, {196, 56}} {
			for _, zoomed := range []bool{false, true, false} {
				rows := p.Body(v, size[0], size[1], zoomed)
				if rows = append(rows, p.Strip(v, size[0]+1, size[1])...); len(rows) > 2*size[1] {
					t.Fatalf("%d rows in %d", len(rows), size[1])
				}
				for _, row := range rows {
					if n := ansi.StringWidth(row); n > size[0]+1 {
						t.Fatalf("a row is %d wide at %d", n, size[0])
					}
				}
			}
		}
		l := v.Line(20)
		p.Header(v, l)
		if blank := p.Blank(v.H); blank != (deltas == nil) && blank {
			t.Errorf("a run with figures is blank")
		}
	}
	bare := detector(20, 0, 1)
	for i := range bare.Epochs {
		bare.Epochs[i].Metrics, bare.Epochs[i].Elapsed, bare.Epochs[i].Seconds = nil, event.Absent, event.Absent
	}
	if v := panetest.View(bare); !New().Blank(v.H) {
		t.Error("a run of losses alone has metrics")
	}
}

// TestKeysAreToldApart: no key stands twice in the table, and none lacks words.
func TestKeysAreToldApart(t *testing.T) {
	g := gridOf(detector(9, 2, 1))
	for _, whole := range []bool{false, true} {
		g.whole = whole
		seen := map[string]bool{}
		for _, k := range g.Keys() {
			for _, name := range k.Names {
				if seen[name] && name != "esc" && name != "enter" {
					t.Errorf("%q stands twice", name)
				}
				seen[name] = true
			}
			if k.Names != nil && (k.Show == "" || k.Help == "") {
				t.Errorf("%v has no words", k.Names)
			}
		}
	}
}

// FuzzGrid throws keys, mice, sizes and Deltas at a grid.
func FuzzGrid(f *testing.F) {
	f.Add(uint64(1), []byte("jjll/abc\x01ggoopp..<<++xxmm"))
	f.Add(uint64(2), []byte{0, 1, 2, 3, 250, 251, 252, 253, 254, 255})
	special := []string{"up", "down", "left", "right", "home", "end", "pgup", "pgdown", "enter", "esc", "shift+left", "shift+right", "backspace", "space", "tab"}
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		r := rand.New(rand.NewPCG(seed, 8))
		g := &Grid{}
		var runs []Run
		for i := range r.IntN(4) {
			runs = append(runs, Run{Name: tuitest.RandomText(r), H: &history.History{}, Token: style.RacerToken(i), Mark: 'a', Thick: i == 1})
		}
		w, h := 1+r.IntN(140), 1+r.IntN(50)
		for _, b := range steps[:min(len(steps), 80)] {
			switch {
			case b < 8:
				w, h = r.IntN(140), r.IntN(50)
			case b < 32 && len(runs) > 0:
				d := tuitest.RandomDelta(r)
				if r.IntN(2) == 0 {
					d = detector(1+r.IntN(9), r.IntN(9), seed)
				}
				runs[r.IntN(len(runs))].H.Apply(&d)
			case b >= 0xe0:
				mouse := tea.Mouse{X: r.IntN(140), Y: r.IntN(50), Button: []tea.MouseButton{tea.MouseLeft, tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(3)]}
				g.HandleMouse([]tea.MouseMsg{tea.MouseClickMsg(mouse), tea.MouseWheelMsg(mouse), tea.MouseMotionMsg(mouse), tea.MouseReleaseMsg(mouse)}[b%4], mouse.X, mouse.Y)
			case b >= 0x80:
				press(g, special[int(b)%len(special)])
			default:
				press(g, string(rune(b)))
			}
			g.Show(runs[:len(runs)-len(runs)*int(b%2)/2])
			text(t, g, w, h, b%3 > 0)
			if n := len(g.Hints()); n > 40 {
				t.Fatal(n)
			}
		}
	})
}

var _ pane.Pane = New()
