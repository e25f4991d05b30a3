package analyses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// TestSpectrumPane draws the pane with everything that it can show, small and zoomed.
func TestSpectrumPane(t *testing.T) {
	add := tuitest.Archive(t)
	v := panetest.View(tuitest.EdgeRun("0.11")...)
	for _, c := range []struct {
		w, h   int
		zoomed bool
	}{{40, 14, false}, {60, 12, false}, {80, 14, false}, {40, 24, true}, {80, 24, true}, {120, 40, true}} {
		rows := new(pane.Cache).Draw(&Spectrum{}, v, layout.Rect{X: 0, Y: 0, W: c.w, H: c.h}, pane.CacheKey{Zoomed: c.zoomed})
		for i, r := range rows {
			if n := ansi.StringWidth(r); n != c.w {
				t.Errorf("%d × %d: row %d is %d wide", c.w, c.h, i, n)
			}
		}
		add(fmt.Sprintf("%dx%d", c.w, c.h), ansi.Strip(strings.Join(rows, "\n")))
	}
}

// TestEdgeOfStability runs the two methods on the quadratic ½λw² itself: their steps shrink exactly while λ is
// below the edge.
func TestEdgeOfStability(t *testing.T) {
	const rate = 0.1
	for _, c := range []struct {
		optimizer string
		momentum  float64
		want      float64
	}{{"sgd", 0, 20}, {"momentum", 0.9, 38}, {"momentum", 0, 20}, {"momentum", 0.5, 30}} {
		h := &history.History{}
		h.Status.Optimizer = c.optimizer
		h.Status.Settings = []event.Setting{{Key: "rate", Text: "0.1"}, {Key: "momentum", Text: fmt.Sprint(c.momentum)}}
		edge, _, ok := stabilityEdge(h, &event.SpectrumEvent{Operator: "hessian"})
		if !ok || math.Abs(edge-c.want) > 1e-12 {
			t.Errorf("%s %g: edge %g, want %g", c.optimizer, c.momentum, edge, c.want)
		}
		for _, lambda := range []float64{0.99 * edge, 1.01 * edge} {
			w, speed := 1.0, 0.0
			for range 5000 {
				speed = c.momentum*speed - rate*lambda*w
				w += speed
			}
			if grew := math.Abs(w) > 1 || math.IsNaN(w); grew != (lambda > edge) {
				t.Errorf("%s %g: from 1 to %g at %g of the edge", c.optimizer, c.momentum, w, lambda/edge)
			}
		}
	}
}

func TestNoEdge(t *testing.T) {
	rate := []event.Setting{{Key: "rate", Text: "0.1"}}
	for _, c := range []struct {
		optimizer, operator string
		settings            []event.Setting
	}{
		{"adam", "hessian", rate}, {"tr-newton", "hessian", nil}, {"sgd", "gauss-newton", rate}, {"sgd", "hessian", nil},
		{"momentum", "hessian", rate}, {"sgd", "hessian", []event.Setting{{Key: "rate", Text: "0"}}},
		{"sgd", "hessian", []event.Setting{{Key: "rate", Text: "?"}}}, {"", "", nil},
	} {
		h := &history.History{}
		h.Status.Optimizer, h.Status.Settings = c.optimizer, c.settings
		if edge, _, ok := stabilityEdge(h, &event.SpectrumEvent{Operator: c.operator}); ok {
			t.Errorf("%v has the edge %g", c, edge)
		}
	}
}

// TestSpectrumFacts: what is said, and in how many words there is room for.
func TestSpectrumFacts(t *testing.T) {
	for _, c := range []struct {
		rate   string
		w      int
		change func(e *event.SpectrumEvent)
		want   []string
	}{
		{"0.11", 60, nil, []string{"2/η 18.18  λ₁ 16.40  stable, below the edge", "trace 143.2 ± 6.310  by 10 probes", "Hessian over 2,048 of 16,000 rows, evenly spaced", "an eigenvalue lies within each ±, not surely the k-th"}},
		{"0.2", 60, nil, []string{"2/η 10.00  λ₁ 16.40  unstable, above the edge", "", "", ""}},
		{"0.2", 36, nil, []string{"2/η 10.00  λ₁ 16.40  unstable", "trace 143.2 ± 6.310  by 10 probes", "2,048 of 16,000 rows, evenly spaced", "an eigenvalue lies within each ±"}},
		{"0.2", 24, nil, []string{"2/η 10.00", "trace 143.2 ± 6.310", "2,048 of 16,000 rows", ""}},
		{"0.2", 60, func(e *event.SpectrumEvent) {
			e.Operator, e.Trace, e.Rows, e.Selection = "gauss-newton", nil, 16000, "all"
		}, []string{"Gauss–Newton over all 16,000 rows", ""}},
		{"0.2", 60, func(e *event.SpectrumEvent) {
			e.Method, e.Eigenvalues, e.Rows, e.Trace = "power", []event.Float{2, -3}, 0, nil
		}, []string{"λ₁ 2.000", "the largest |λ| is negative", ""}},
		{"0.2", 60, func(e *event.SpectrumEvent) { e.Stop, e.Open = krylov.Limit, "smallest" }, []string{"", "some ± of the smallest are larger than wanted", "", "", ""}},
		{"0.2", 30, func(e *event.SpectrumEvent) { e.Stop, e.Open = krylov.Limit, "both" }, []string{"", "some ± at both ends too large", "", "", ""}},
		{"0.2", 60, func(e *event.SpectrumEvent) { e.Stop = krylov.Limit }, []string{"", "some ± are larger than wanted", "", "", ""}},
		{"0.2", 80, func(e *event.SpectrumEvent) { e.Differences, e.Trace = true, nil }, []string{"", "products from differences: an estimate of their error is in each ±", ""}},
		{"0.2", 30, func(e *event.SpectrumEvent) { e.Differences, e.Trace = true, nil }, []string{"", "each ± from differences", ""}},
		{"0.2", 60, func(e *event.SpectrumEvent) { e.Trace.Error, e.Trace.Probes = tuitest.NaN, 1 }, []string{"", "trace 143.2  by 1 probe", "", ""}},
	} {
		v := panetest.View(tuitest.EdgeRun(c.rate)...)
		if c.change != nil {
			c.change(latestSpectrum(v.H))
		}
		strong, weak := new(Spectrum).facts(v)
		var got []string
		for _, f := range slices.Concat(strong, weak) {
			row := f.in(v, c.w)
			if n := ansi.StringWidth(row); n > c.w {
				t.Errorf("%q is %d wide", row, n)
			}
			got = append(got, strings.TrimSpace(ansi.Strip(row)))
		}
		if len(got) != len(c.want) {
			t.Errorf("%q: expected %q", got, c.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("%q: expected %q", got[i], c.want[i])
			}
		}
	}
}

// TestSpectrumHoldsTheRoom draws densities of all kinds, broken ones too, at every size.
func TestSpectrumHoldsTheRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	bad := []event.Float{tuitest.NaN, event.Float(math.Inf(1)), 0, -1, 1e300, 1e-300, 5}
	densities := []*event.Density{{}, {Grid: event.Floats([]float64{3}), Values: event.Floats([]float64{1})}}
	for range 20 {
		d := &event.Density{Sigma: bad[r.IntN(len(bad))], Probes: r.IntN(3), Steps: -1}
		for range r.IntN(30) {
			d.Grid = append(d.Grid, bad[r.IntN(len(bad))])
			d.Values = append(d.Values, bad[r.IntN(len(bad))])
			d.Errors = append(d.Errors, bad[r.IntN(len(bad))])
		}
		d.Values = d.Values[:r.IntN(len(d.Values)+1)]
		densities = append(densities, d)
	}
	good, _ := tuitest.DensityAt(3)
	v := panetest.View(tuitest.EdgeRun("0.11")...)
	for _, d := range append(densities, good) {
		latestSpectrum(v.H).Density = d
		for w := 1; w < 130; w += 13 {
			for h := 1; h < 45; h += 5 {
				for _, row := range new(Spectrum).Body(v, w, h, h > 20) {
					if n := ansi.StringWidth(row); n > w {
						t.Fatalf("%d wide in %d × %d", n, w, h)
					}
				}
				if n := len(new(Spectrum).Body(v, w, h, h > 20)); n > h {
					t.Fatalf("%d rows in %d × %d", n, w, h)
				}
			}
		}
	}
}

// TestNoSpectrumIsSaid: an event without eigenvalues leaves the last ones standing and says why in the log.
func TestNoSpectrumIsSaid(t *testing.T) {
	h := &history.History{}
	h.Apply(tuitest.DeltaOf(h.Status, tuitest.SpectrumAt(4)))
	h.Apply(tuitest.DeltaOf(h.Status, event.SpectrumEvent{Epoch: 5, Stop: krylov.NotFinite}))
	if last := h.Log.Entries[len(h.Log.Entries)-1]; len(h.Spectra) != 1 || last.Epoch != 5 || last.Text != "no spectrum: a number was not finite" {
		t.Errorf("%d spectra, %+v", len(h.Spectra), last)
	}
}

// TestSpectrumViews goes through the views of the zoomed pane.
func TestSpectrumViews(t *testing.T) {
	add := tuitest.Archive(t)
	v := panetest.View(tuitest.EdgeRun("0.11")...)
	p := &Spectrum{}
	for _, want := range []string{"density over time", "eigenvalues over time", "latest spectrum"} {
		if got := p.views(v)[p.at].name; got != want {
			t.Errorf("%q, expected %q", got, want)
		}
		for _, size := range [][2]int{{80, 21}, {120, 37}} {
			rows := new(pane.Cache).Draw(p, v, layout.Rect{X: 0, Y: 0, W: size[0], H: size[1]}, pane.CacheKey{Zoomed: true})
			add(fmt.Sprintf("%s %dx%d", want, size[0], size[1]), ansi.Strip(strings.Join(rows, "\n")))
		}
		pane.Press(p, v, "v")
	}
	if _, taken := pane.Press(p, panetest.View(tuitest.NewRun(tuitest.Script{Epochs: 3})...), "v"); taken {
		t.Error("v is taken where there is one view")
	}
}

func TestSpectrumFits(t *testing.T) {
	odd := tuitest.EdgeRun("0.11")
	for i := range odd {
		for j := range odd[i].Spectra {
			if s := &odd[i].Spectra[j]; s.Epoch%8 == 0 {
				s.Density = &event.Density{Grid: []event.Float{0, 0}, Values: []event.Float{1, tuitest.NaN}, Sigma: 0}
				s.Eigenvalues = s.Eigenvalues[:1]
			} else {
				s.Density.Sigma, s.Density.Values[3], s.Residuals[0] = 0, tuitest.NaN, 3
			}
		}
	}
	for _, deltas := range [][]feed.Delta{tuitest.EdgeRun("0.11"), odd, tuitest.NewRun(tuitest.Script{Epochs: 9, Spectra: true}), nil} {
		looksFit(t, panetest.View(deltas...), func(r *rand.Rand) pane.Pane { return &Spectrum{at: r.IntN(3)} })
	}
}

// Bars are as long as their values, what a bound leaves open is shaded, and a sign that it leaves open is said to be unknown.
func TestEigenvalueBars(t *testing.T) {
	v := panetest.View(tuitest.EdgeRun("0.11")...)
	p := &Spectrum{}
	for _, c := range []struct {
		q    pair
		sure int
		open int
		says bool
		ink  style.Token
	}{
		{pair{81, 0}, 81, 0, false, style.Text},
		{pair{40.5, 4.05}, 36, 9, false, style.Text},
		{pair{1, 1e-9}, 1, 0, false, style.Text},
		{pair{-27, 0}, 27, 0, false, style.NegativeCurvature},
		{pair{-8.1, 16.2}, 0, 20, true, style.Muted},
		{pair{8.1, 8.1}, 0, 14, true, style.Muted},
	} {
		text := ansi.Strip(p.row(v, c.q, 81, true, 9+2+81+style.Cells(v.Glyphs.Within)+8))
		sure, open := strings.Count(text, "━")+strings.Count(text, "┄"), strings.Count(text, "░")
		if sure != c.sure || open != c.open || strings.Contains(text, "sign unknown") != c.says || c.q.token() != c.ink {
			t.Errorf("%v: %d certain and %d open cells in %v: %s", c.q, sure, open, c.q.token(), text)
		}
	}
}

// TestEdgeFollowsTheSchedule: where a schedule moves the rate, the edge is a curve, as far as it is near.
func TestEdgeFollowsTheSchedule(t *testing.T) {
	deltas := tuitest.EdgeRun("0.2")
	for i := range deltas {
		d := &deltas[i]
		d.Status.Settings = append(slices.Clone(d.Status.Settings), event.Setting{Key: "schedule", Text: "linear"}, event.Setting{Key: "horizon", Text: "40"},
			event.Setting{Key: "warmup", Text: "0"}, event.Setting{Key: "end-rate", Text: "0"})
		for j := range d.Epochs {
			d.Epochs[j].Optimizer, d.Epochs[j].Rate = "sgd", event.Float(0.2*(1-float64(d.Epochs[j].Epoch)/40))
		}
	}
	v := panetest.View(deltas...)
	var top chart.Series
	for i := range v.H.Spectra {
		top.Add(float64(v.H.Spectra[i].Epoch), float64(v.H.Spectra[i].Eigenvalues[7]))
	}
	edge, ok := edgeCurve(v.H, &top)
	if first, last, _ := edge.Series.Ends(); !ok || first != 4 || last != 32 {
		t.Fatalf("the edge leads from %g to %g", first, last)
	}
	low, high, _ := edge.Series.Bounds(false)
	_, greatest, _ := top.Bounds(false)
	if math.Abs(low-10/0.9) > 1e-9 || high > 3*greatest || high < 2.5*greatest {
		t.Errorf("the edge is from %g to %g", low, high)
	}
	if got, _, _ := v.H.StabilityEdge(); math.Abs(got-400.0/7) > 1e-9 {
		t.Errorf("the edge of the newest epoch is %g", got)
	}
}
