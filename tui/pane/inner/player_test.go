package inner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
)

func withSolves(epochs, blocks int) *pane.View {
	return panetest.View(tuitest.SolvesRun(epochs, blocks)...)
}

// TestPlayer draws the zoomed pane in every state that it has.
func TestPlayer(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks int
		keys   []string
		slice  bool
	}{
		{"live", 1, nil, false},
		{"back", 1, []string{"up"}, false},
		{"negative", 1, []string{"up", "up", "up", "up"}, false},
		{"blocks", 4, []string{"up", "up", "left", "left"}, false},
		{"slice", 1, []string{"l"}, true},
		{"asked", 1, []string{"l"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, size := range [][2]int{{40, 16}, {56, 11}, {80, 21}, {120, 37}, {200, 57}} {
				v := withSolves(7, c.blocks)
				if c.slice {
					v.H.Apply(&feed.Delta{Status: v.H.Status, Slices: []event.SliceEvent{tuitest.SliceAlong("tr-newton", 0.09)}})
				}
				p := &Pane{}
				for _, k := range c.keys {
					if _, taken := pane.Press(p, v, k); !taken {
						t.Fatalf("%s was not taken", k)
					}
				}
				if text := playerText(t, v, p, size[0], size[1]); size[0] < 200 || c.name == "live" {
					add(fmt.Sprintf("%dx%d", size[0], size[1]), text)
				}
			}
		})
	}
}

// playerText is the zoomed pane without escape sequences, its size checked.
func playerText(t *testing.T, v *pane.View, p *Pane, w, h int) string {
	t.Helper()
	rows := new(pane.Cache).Draw(p, v, layout.Rect{X: 0, Y: 0, W: w, H: h}, pane.CacheKey{Zoomed: true})
	if len(rows) != h {
		t.Fatalf("%d rows in %d", len(rows), h)
	}
	for i, r := range rows {
		if n := ansi.StringWidth(r); n != w {
			t.Fatalf("row %d has %d columns of %d: %q", i, n, w, ansi.Strip(r))
		}
	}
	return ansi.Strip(strings.Join(rows, "\n"))
}

// TestPlayerSaysMinimum: where the step is the model's minimum in the Krylov space, the words beside the reason say what that brings.
func TestPlayerSaysMinimum(t *testing.T) {
	for want, in := range map[string]event.InnerSummary{
		"+5 Lanczos steps, 1.82 times the decrease of CG's step, λ 0.0300":           {LanczosSteps: 5, Multiplier: 0.03, SteihaugShare: 0.55},
		"+1 Lanczos step, 1.82 times the decrease of CG's step, λ 0":                 {LanczosSteps: 1, Multiplier: 0, SteihaugShare: 0.55},
		"minimum in the Krylov space, 1.82 times the decrease of CG's step, λ 12.00": {Multiplier: 12, SteihaugShare: 0.55},
		"minimum in the Krylov space, the decrease of CG's step, λ 12.00":            {Multiplier: 12, SteihaugShare: 0.999},
		"the step follows p to the boundary":                                         {Multiplier: event.Absent, SteihaugShare: event.Absent},
	} {
		v := withSolves(2, 1)
		solve, told := tuitest.SolveEvents(1, 0, 9, krylov.NegativeCurvature)
		told.LanczosSteps, told.Multiplier, told.SteihaugShare = in.LanczosSteps, in.Multiplier, in.SteihaugShare
		e := event.UnknownEpoch(1)
		e.Inner, e.Rho = []event.InnerSummary{told}, 0.9
		v = panetest.View(feed.Delta{Status: v.H.Status, Inner: solve, Epochs: []event.EpochEvent{e}})
		text := strings.Join(strings.Fields(playerText(t, v, &Pane{}, 140, 37)), " ")
		if !strings.Contains(text, "N negative curvature, step taken, ρ 0.90: ") || !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestPlayerAnySize draws every state in rooms of any size: nothing may be wider or higher.
func TestPlayerAnySize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		v := withSolves(r.IntN(4), 1+r.IntN(5))
		if r.IntN(2) == 0 {
			e := tuitest.SliceAlong("tr-gn", r.NormFloat64())
			e.Loss[r.IntN(len(e.Loss))] = tuitest.NaN
			v.H.Apply(&feed.Delta{Status: v.H.Status, Slices: []event.SliceEvent{e}})
		}
		p := &Pane{}
		for range r.IntN(12) {
			k := []string{"left", "right", "up", "down", "home", "end", "l", "v"}[r.IntN(8)]
			pane.Press(p, v, k)
		}
		w, h := 5+r.IntN(200), 3+r.IntN(60)
		rows := p.Body(v, w, h, true)
		if len(rows) > h {
			t.Fatalf("%d rows in %d × %d", len(rows), w, h)
		}
		for i, row := range rows {
			if n := ansi.StringWidth(row); n > w {
				t.Fatalf("row %d has %d columns of %d × %d: %q", i, n, w, h, ansi.Strip(row))
			}
		}
	}
}

// TestWalk goes through everything that is kept, there and back, and at the end follows the run again.
func TestWalk(t *testing.T) {
	v := withSolves(3, 2)
	p := &Pane{}
	at := func() string {
		s, _ := p.cursor(v.H)
		return fmt.Sprintf("%d/%d/%d", s.Epoch, s.Block, s.now().N)
	}
	press := func(k string) string {
		pane.Press(p, v, k)
		return at()
	}
	press("home")
	if got := press("home"); got != "1/0/1" {
		t.Fatalf("home is %s", got)
	}
	if got := press("left"); got != "1/0/1" {
		t.Errorf("before the first comes %s", got)
	}
	seen := []string{at()}
	for p.pinned {
		seen = append(seen, press("right"))
		if len(seen) > 1000 {
			t.Fatal("it does not end")
		}
	}
	if n := v.H.Steps.Iterations + 1; len(seen) != n { // the last one again, followed
		t.Errorf("%d stops for %d iterations", len(seen), n-1)
	}
	for i := len(seen) - 3; i >= 0; i-- {
		if got := press("left"); got != seen[i] {
			t.Fatalf("back at %s: expected %s", got, seen[i])
		}
	}
	if got := press("down"); got != "1/1/22" && !strings.HasPrefix(got, "1/1/") {
		t.Errorf("down shows %s", got)
	}
	press("end")
	if p.pinned || at() != "4/0/12" {
		t.Errorf("the end is %s", at())
	}
	if _, taken := pane.Press(p, v, "tab"); taken {
		t.Error("tab was taken")
	}
}

// TestPlayerMouse clicks on an iteration and turns the wheel.
func TestPlayerMouse(t *testing.T) {
	v := withSolves(3, 1)
	p := &Pane{}
	playerText(t, v, p, 120, 37)
	point := p.points[1]
	if !p.HandleMouse(v, tea.MouseClickMsg{Button: tea.MouseLeft}, point.X, point.Y) {
		t.Fatal("a click was not taken")
	}
	if s, _ := p.cursor(v.H); s.now().N != 1 {
		t.Errorf("looks at iteration %d", s.now().N)
	}
	p.HandleMouse(v, tea.MouseWheelMsg{Button: tea.MouseWheelDown}, 0, 0)
	if s, _ := p.cursor(v.H); s.now().N != 2 {
		t.Errorf("the wheel went to iteration %d", s.now().N)
	}
	if p.HandleMouse(v, tea.MouseClickMsg{Button: tea.MouseLeft}, 0, 0) {
		t.Error("a click at nothing was taken")
	}
}

// TestSliceWords derives the words from the numbers.
func TestSliceWords(t *testing.T) {
	rising := tuitest.SliceAlong("tr-newton", 0.3)
	rising.Accepted = false
	gn := tuitest.SliceAlong("tr-gn", 0.02)
	gn.Rho = event.Float(float64(gn.Loss[12]) / float64(gn.GaussNewton[12]))
	for _, c := range []struct {
		e    event.SliceEvent
		want []string
	}{
		{tuitest.SliceAlong("tr-newton", 0), []string{"predicted −0.1200, got −0.1200: ρ 1.0", "the model holds as far"}},
		{tuitest.SliceAlong("tr-newton", 0.09), []string{"got −0.0300: ρ 0.25", "bends up past t = 0.63", "loss falls most, by 0.0812, at t = 0.63"}},
		{rising, []string{"got +0.1800", "rejected", "bends up past t = 0.5"}},
		{tuitest.SliceAlong("tr-newton", -0.1), []string{"falls faster", "a longer step would pay: at t = 2"}},
		{gn, []string{"predicted −0.0700", "the full quadratic model holds"}},
	} {
		v := panetest.View()
		got := profileText(v, &c.e)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q lacks %q", got, want)
			}
		}
	}
	if got := profileText(panetest.View(), &event.SliceEvent{At: event.Floats([]float64{0, 1}), Loss: []event.Float{0, tuitest.NaN}}); !strings.Contains(got, "not finite") {
		t.Errorf("says %q", got)
	}
}

// TestSliceWithoutGaussNewton: a model that another program has may have no Gauss–Newton matrix, which then is not named.
func TestSliceWithoutGaussNewton(t *testing.T) {
	v := panetest.View(tuitest.PeerRun(5, tuitest.ConvNet)...)
	e := tuitest.SliceAlong("tr-newton", 0.09)
	for _, none := range [][]event.Float{nil, slices.Repeat([]event.Float{tuitest.NaN}, len(e.At))} {
		e.GaussNewton = none
		v.H.Apply(&feed.Delta{Status: v.H.Status, Slices: []event.SliceEvent{e}})
		text := ansi.Strip(strings.Join(new(solvePlayer).profile(v, 80, 20), "\n"))
		if strings.Contains(text, "Gauss") || !strings.Contains(text, "full quadratic") || !strings.Contains(text, "true loss") || !strings.Contains(text, "got −0.0300: ρ 0.25") {
			t.Errorf("draws\n%s", text)
		}
	}
}
