package analyses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/tui/internal/panetest"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/pane"
	"newtop/tui/style"
)

func watchedErrors(e event.ErrorsEvent) *pane.View {
	v := panetest.View(tuitest.NewRun(tuitest.Script{Epochs: 33})...)
	v.H.Apply(tuitest.DeltaOf(v.H.Status, e))
	return v
}

// scored adds scores to the errors of two classes, or of a regression.
func scored(e event.ErrorsEvent) event.ErrorsEvent {
	s := event.UnknownScores()
	s.Split, s.Rows = "test", 500
	if len(e.Classes) > 0 {
		s.Error, s.Log, s.AUC, s.F1, s.Positive, s.Calibration = 0.064, 0.2304, 0.9463, 0.9348, e.Classes[1], 0.04225
	} else {
		s.RMSE, s.MAE, s.R2 = 49.17, 40.8, 0.5817
	}
	e.Scores = []event.Scores{s}
	return e
}

// TestErrorsPane draws what there can be, in every kind of room.
func TestErrorsPane(t *testing.T) {
	for name, e := range map[string]event.ErrorsEvent{
		"letters": tuitest.ErrorsAt(30, 26, 0), "digits": tuitest.ErrorsAt(33, 10, 8), "regression": tuitest.ErrorsAt(33, 0, 0),
		"scored classes": scored(tuitest.ErrorsAt(33, 2, 0)), "scored regression": scored(tuitest.ErrorsAt(33, 0, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			add := tuitest.Archive(t)
			for _, c := range []struct {
				w, h   int
				zoomed bool
				page   int
			}{{40, 9, false, 0}, {80, 12, false, 0}, {40, 14, true, 0}, {80, 21, true, 0}, {80, 21, true, 1}, {120, 37, true, 0}} {
				rows := new(pane.Cache).Draw(&Errors{page: c.page}, watchedErrors(e), layout.Rect{X: 0, Y: 0, W: c.w, H: c.h}, pane.CacheKey{Zoomed: c.zoomed})
				add(fmt.Sprintf("%dx%d, page %d", c.w, c.h, c.page+1), ansi.Strip(strings.Join(rows, "\n")))
			}
		})
	}
}

// looksFit draws a pane in random rooms, with and without colours, and asks for exactly its rows and columns.
func looksFit(t *testing.T, v *pane.View, mk func(r *rand.Rand) pane.Pane) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		v.Palette = style.ThemeAuto.Palette(r.IntN(2) == 0, []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI, colorprofile.ASCII}[r.IntN(3)], r.IntN(3) == 0)
		v.Glyphs = (style.GlyphsBraille + style.Glyphs(r.IntN(3))).Set(nil)
		p := mk(r)
		at := layout.Rect{X: 0, Y: 0, W: 5 + r.IntN(200), H: 3 + r.IntN(60)}
		key := pane.CacheKey{Zoomed: r.IntN(2) == 0, Bare: r.IntN(4) == 0}
		rows := new(pane.Cache).Draw(p, v, at, key)
		if len(rows) != at.H {
			t.Fatalf("%+v %+v: %d rows", at, key, len(rows))
		}
		again := new(pane.Cache).Draw(p, v, at, key)
		for i, row := range rows {
			if n := ansi.StringWidth(row); n != at.W {
				t.Fatalf("%+v %+v: row %d is %d wide: %q", at, key, i, n, ansi.Strip(row))
			}
			if row != again[i] {
				t.Fatalf("%+v: row %d differs when drawn again", at, i)
			}
			if text := style.ToASCII(ansi.Strip(row)); v.Glyphs.ASCII && strings.ContainsRune(text, '?') {
				t.Fatalf("not in ASCII: %q", ansi.Strip(row))
			}
		}
	}
}

func TestErrorsFit(t *testing.T) {
	broken := tuitest.ErrorsAt(2, 3, 4)
	broken.Confusion[1] = broken.Confusion[1][:1]
	broken.Worst[0].Inputs = broken.Worst[0].Inputs[:2]
	broken.Worst[1].Output, broken.Worst[2].Height, broken.Worst[3].Loss = -1, 0, event.Float(math.NaN())
	flat := tuitest.ErrorsAt(1, 0, 0)
	flat.Residuals = [][]event.Float{{0, 0}, {event.Float(math.NaN())}}
	for _, e := range []event.ErrorsEvent{
		tuitest.ErrorsAt(30, 26, 0), tuitest.ErrorsAt(3, 10, 28), tuitest.ErrorsAt(3, 200, 8), tuitest.ErrorsAt(9, 0, 0), {}, broken, flat,
		{Confusion: [][]int{{3}}}, {Classes: []string{"a"}},
		scored(tuitest.ErrorsAt(30, 26, 0)), scored(tuitest.ErrorsAt(9, 0, 0)), {Scores: []event.Scores{event.UnknownScores()}},
	} {
		looksFit(t, watchedErrors(e), func(r *rand.Rand) pane.Pane {
			return &Errors{page: r.IntN(2), output: r.IntN(2)}
		})
	}
	looksFit(t, panetest.View(), func(*rand.Rand) pane.Pane { return &Errors{} })
}

// TestErrorsAsk: the zoomed pane asks by itself, not while an answer is due, and not more often than is cheap.
func TestErrorsAsk(t *testing.T) {
	v := panetest.View(tuitest.NewRun(tuitest.Script{Epochs: 3})...)
	p := &Errors{}
	if c := p.Ask(v.H); c != (event.ShowErrors{Worst: worstRows}) {
		t.Fatalf("asked %v", c)
	}
	for _, c := range []struct {
		epoch   int
		elapsed float64
		answer  bool
		asks    bool
	}{{0, 0, false, false}, {1, 2, false, false}, {2, 4, true, true}, {3, 0.5, true, false}, {4, 9, false, true}} {
		v.H.Status.Epoch += c.epoch
		v.H.Status.Elapsed += c.elapsed
		if c.answer {
			v.H.Apply(tuitest.DeltaOf(v.H.Status, tuitest.ErrorsAt(1, 3, 0)))
		}
		if got := p.Ask(v.H) != nil; got != c.asks {
			t.Errorf("%+v: asked is %v", c, got)
		}
	}
	if _, taken := pane.Press(p, v, "r"); !taken || p.question(v.H) != (event.ShowErrors{Train: true, Worst: worstRows}) {
		t.Error("r does not ask for the training rows")
	}
}

// The pane asks by itself after the first epoch and then ever more seldom, and not before an answer came.
func TestErrorsAtAGlance(t *testing.T) {
	v := panetest.View()
	v.H.Run = &event.RunEvent{Data: event.DataInfo{TestRows: 10}}
	p, asked := &Errors{}, []int{}
	for epoch := 1; epoch <= 22; epoch++ {
		v.H.Epochs, v.H.Status.Epoch = epoch, epoch
		if p.Glance(v.H) != nil {
			asked = append(asked, epoch)
			if epoch != 4 { // whose answer takes until epoch 10
				v.H.Analyses.ErrorsGen++
			}
		}
		if epoch == 10 {
			v.H.Analyses.ErrorsGen++
		}
	}
	if want := []int{1, 2, 4, 11, 22}; !slices.Equal(asked, want) {
		t.Errorf("asked after %v, want %v", asked, want)
	}
}

// Few classes have their matrix in a small pane, too.
func TestMatrixInASmallPane(t *testing.T) {
	v := panetest.View()
	e := &event.ErrorsEvent{Confusion: [][]int{{9, 1, 0}, {0, 8, 2}, {0, 3, 7}}}
	text := ansi.Strip(strings.Join((&Errors{}).brief(v, e, 70, 10), "\n"))
	for _, want := range []string{"rows: the class", "taken for"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}
