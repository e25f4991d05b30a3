package tui

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/krylov"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// TestFuzz throws random keys, text, sizes, mice, looks and Deltas at the model. No frame may overflow.
func TestFuzz(t *testing.T) {
	steps := 500
	if testing.Short() {
		steps = 100
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		a := fuzzed(t, seed)
		for range steps {
			storm(t, a, r, byte(r.Uint32()))
		}
	}
}

// FuzzScreen does the same with what the fuzzer chooses.
func FuzzScreen(f *testing.F) {
	f.Add(uint64(1), []byte("\x03\x00zzzzz\x03?\x03:\x03\x03"))
	f.Add(uint64(2), []byte("aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ0123456789"))
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		r := rand.New(rand.NewPCG(seed, 7))
		a := fuzzed(t, seed)
		for _, b := range steps[:min(len(steps), 100)] {
			storm(t, a, r, b)
		}
	})
}

// fuzzed is a model whose program has ended, so that no command of it waits for anything.
func fuzzed(t *testing.T, seed uint64) *App {
	t.Helper()
	a := newApp(&tuitest.Feed{}, screen.Options{Glyphs: style.Glyphs(seed % uint64(style.GlyphsCount)), NoColor: seed%2 == 0, DataSets: []string{"letters", "数据\n"}}, tuitest.Methods())
	a.hold = chartHold * time.Duration(seed%2)
	a.Close()
	frameText(t, a)
	return a
}

// fuzzKeys are all that something is bound to, and some that nothing is.
var fuzzKeys = func() []string {
	keys := strings.Fields("esc esc esc enter tab up down left right home end pgup pgdown backspace delete ctrl+p ctrl+n ctrl+u ctrl+k ctrl+w " +
		"a A b c C d g G h j l m n r R v w x X y [ ] < > , . 0 q é 数 👩")
	for _, b := range bindings() {
		keys = append(keys, b.Keys()...)
	}
	return keys
}()

// storm lets one thing happen, what that asks for included, and looks at the screen.
func storm(t *testing.T, a *App, r *rand.Rand, kind byte) {
	t.Helper()
	before := a.dialog
	background := true // it is not the user's doing
	switch kind % 8 {
	case 0:
		w, h := r.IntN(301), r.IntN(101)
		if r.IntN(6) == 0 {
			w, h = r.IntN(3), r.IntN(3)
		}
		update(a, tea.WindowSizeMsg{Width: w, Height: h})
	case 1:
		if r.IntN(2) == 0 {
			update(a, tea.WindowSizeMsg{Width: layout.MinWidth + r.IntN(100), Height: layout.MinHeight + r.IntN(40)})
		}
		update(a, fromOutside(r))
	case 2:
		background = false
		randomMouse(a, r)
	case 3:
		background = false
		if r.IntN(6) == 0 { // from one thing in front, or from a run that is ending, to another
			a.dialog, a.stopping, a.focus = nil, false, layout.ID(r.IntN(int(layout.Panes)))
			update(a, typed([]string{"f", "e", "u", "?", "o", ":", "z", "w"}[r.IntN(8)]))
		}
		update(a, typed(fuzzKeys[(int(kind)/8+r.IntN(len(fuzzKeys)))%len(fuzzKeys)]))
	case 4:
		background = false
		update(a, typed([]string{"up", "down", "left", "right", "tab", "enter", "space"}[r.IntN(7)]))
	case 5:
		background = false
		update(a, tea.PasteMsg{Content: randomText(r)})
		a.SetGlyphs(style.Glyphs(1 + r.IntN(int(style.GlyphsCount)-1)))
		a.SetTheme(style.Theme(1 + r.IntN(int(style.ThemeCount)-1)))
	default:
		update(a, came(randomDelta(r)))
	}
	if background && a.dialog != before {
		t.Fatalf("%T became %T by itself", before, a.dialog)
	}
	frameText(t, a)
}

// fromOutside is something that comes from the terminal or from a timer.
func fromOutside(r *rand.Rand) tea.Msg {
	return []tea.Msg{
		tea.ColorProfileMsg{Profile: colorprofile.Profile(r.IntN(6))}, tea.BackgroundColorMsg{Color: ansi.BasicColor(r.IntN(16))},
		drawMsg{}, tickMsg{}, AskMsg{event.Slice{}}, replyMsg{}, replyMsg{errors.New(randomText(r))}, stoppedMsg{errors.New("no")}, screen.PictureMsg{},
	}[r.IntN(9)]
}

func randomMouse(a *App, r *rand.Rand) {
	m := tea.Mouse{X: r.IntN(320) - 10, Y: r.IntN(120) - 10, Button: tea.MouseButton(r.IntN(9)), Mod: tea.KeyMod(r.IntN(8))}
	update(a, []tea.Msg{tea.MouseClickMsg(m), tea.MouseReleaseMsg(m), tea.MouseMotionMsg(m), tea.MouseWheelMsg(m)}[r.IntN(4)])
}

// update gives the model a message, and what its commands bring.
func update(a *App, msg tea.Msg) {
	queue := []tea.Msg{msg}
	for n := 0; len(queue) > 0 && n < 50; n++ {
		msg, queue = queue[0], queue[1:]
		batch, ok := msg.(tea.BatchMsg)
		if !ok {
			_, cmd := a.Update(msg)
			batch = tea.BatchMsg{cmd}
		}
		for _, cmd := range batch {
			if cmd == nil {
				continue
			}
			if next := cmd(); next != nil {
				queue = append(queue, next)
			}
		}
	}
}

func randomFloat(r *rand.Rand) event.Float {
	switch r.IntN(9) {
	case 0:
		return event.Float(math.NaN())
	case 1:
		return event.Float(math.Inf(1 - 2*r.IntN(2)))
	case 2:
		return 0
	case 3:
		return event.Float(-math.Exp(600 * r.NormFloat64()))
	case 4:
		return event.Float(math.Exp(300 * r.NormFloat64()))
	}
	return event.Float(r.NormFloat64())
}

func randomText(r *rand.Rand) string {
	return []string{"", "tr-gn", "a\x1b[2Jb\r\n", strings.Repeat("long ", 80), "数据集", "👩\u200d💻", "x\u202e\u0301"}[r.IntN(7)]
}

func randomDelta(r *rand.Rand) feed.Delta {
	f := func() event.Float { return randomFloat(r) }
	n := r.IntN(2000)
	d := feed.Delta{Status: event.Status{
		Phase: event.Phase(r.IntN(4)), Epoch: n, EpochLimit: r.IntN(3) * 700, Optimizer: randomText(r), Unit: r.IntN(9), Units: r.IntN(9),
		Elapsed: float64(f()), Equivalents: float64(f()),
		Settings: []event.Setting{{Key: randomText(r), Text: randomText(r), Primary: r.IntN(2) == 0}, {Key: "rate", Text: fmt.Sprint(f()), Primary: r.IntN(2) == 0}},
	}}
	if r.IntN(3) == 0 {
		d.Status.Optimizer = []string{"sgd", "momentum", "lbfgs"}[r.IntN(3)]
	}
	if r.IntN(5) == 0 {
		d.Status.Computing = "spectrum"
	}
	for e := range r.IntN(40) {
		d.Status.Kept = append(d.Status.Kept, e*(1+r.IntN(2)))
	}
	randomLooks(r, &d, n)
	randomRace(r, &d, n)
	randomRecord(r, &d, n)
	if r.IntN(4) == 0 {
		d.Run = randomRun(r)
	}
	for range r.IntN(4) {
		e := event.EpochEvent{Epoch: n, Loss: f(), TestLoss: f(), Error: f(), TestError: f(), RMSE: f(), TestRMSE: f(), GradientNorm: f(), StepNorm: f(),
			Radius: f(), Rho: f(), Rate: f(), Accepted: r.IntN(2) == 0, Gradients: f(), Products: f(), Losses: f(), GradientEquivalents: f(), Seconds: f(), Elapsed: f()}
		for b := range r.IntN(5) {
			e.Inner = append(e.Inner, event.InnerSummary{Block: b, Member: r.IntN(4), Iterations: r.IntN(90), Stop: krylov.Stop(r.IntN(9)), Residual: f(), Curvature: f(), Ritz: []event.Float{f(), f()}})
			e.Blocks = append(e.Blocks, event.BlockNorms{To: b + 1, From: r.IntN(9) - 1, Weight: f(), Gradient: f(), Step: f()})
		}
		randomFigures(r, &e)
		d.Epochs = append(d.Epochs, e)
		d.Inner = append(d.Inner, event.InnerEvent{Epoch: n + r.IntN(2), Block: r.IntN(3), Member: r.IntN(3), Iteration: r.IntN(50), Residual: f(), StepNorm: f(), Radius: f(), Curvature: f(), Model: f()})
		d.Spectra = append(d.Spectra, randomSpectrum(r, n))
		d.Switches = append(d.Switches, event.SwitchEvent{Epoch: n, From: randomText(r), To: randomText(r)})
		d.Settings = append(d.Settings, event.SettingEvent{Epoch: n, Key: randomText(r), Value: []any{nil, 2.5, "jacobi", randomText(r)}[r.IntN(4)]})
	}
	if r.IntN(60) == 0 {
		d.Diverged = &event.DivergedEvent{Epoch: n, Reason: randomText(r)}
	}
	if r.IntN(300) == 0 {
		d.Done = &event.DoneEvent{Reason: event.Reason(randomText(r)), Message: randomText(r), Loss: f(), Elapsed: f()}
	}
	return d
}

// randomRecord has the run watched, sought through or recorded, in ways that make no sense either.
func randomRecord(r *rand.Rand, d *feed.Delta, epoch int) {
	d.Restart = r.IntN(12) == 0
	if r.IntN(3) > 0 {
		d.Status.Replay = &event.Replay{Source: randomText(r), Loading: float64(randomFloat(r)), Live: r.IntN(2) == 0, Seekable: r.IntN(3) > 0,
			Epoch: epoch - r.IntN(3), Last: r.IntN(3) * r.IntN(1e6), At: float64(randomFloat(r)), Length: float64(randomFloat(r)), Speed: float64(randomFloat(r))}
		if r.IntN(9) == 0 {
			d.Status.Replay.Stale, d.Status.Replay.Warning = randomText(r), randomText(r)
		}
	}
	if r.IntN(4) == 0 {
		d.Status.Recording = event.Recording{Run: randomText(r), Backlog: r.IntN(3) * r.IntN(1e6), Lost: r.IntN(2) * r.IntN(1e6), Warning: randomText(r)}
	}
	if r.IntN(8) == 0 {
		d.Resumes = append(d.Resumes, event.ResumeEvent{Epoch: epoch - r.IntN(9)})
		d.Saved = append(d.Saved, event.SavedEvent{Epoch: epoch, File: randomText(r), Bytes: r.Int64()})
	}
}

func randomFloats(r *rand.Rand, n int) (list []event.Float) {
	for range n {
		list = append(list, randomFloat(r))
	}
	return list
}

// randomLooks adds answers to what a viewer asks for, in no order.
func randomLooks(r *rand.Rand, d *feed.Delta, epoch int) {
	if r.IntN(8) == 0 {
		d.Rewinds = append(d.Rewinds, event.RewindEvent{Epoch: epoch, To: r.IntN(2000) - 1})
	}
	if r.IntN(8) == 0 {
		n := r.IntN(40)
		e := event.SliceEvent{Epoch: epoch, Member: r.IntN(3), Optimizer: randomText(r), StepNorm: randomFloat(r), Rho: randomFloat(r), Accepted: r.IntN(2) == 0}
		e.At, e.Loss = randomFloats(r, n), randomFloats(r, n)
		e.GaussNewton, e.Quadratic = randomFloats(r, n), randomFloats(r, n)
		d.Slices = append(d.Slices, e)
	}
	if r.IntN(8) == 0 {
		rows, cols, side := r.IntN(90), r.IntN(90), r.IntN(12)
		d.Weights = append(d.Weights, event.WeightsEvent{Epoch: epoch, To: r.IntN(5), From: r.IntN(4), Rows: rows, Cols: cols,
			Values: randomFloats(r, rows*cols), Height: side, Width: side})
	}
	if r.IntN(8) > 0 {
		return
	}
	e := tuitest.ErrorsAt(epoch, r.IntN(3)*r.IntN(20), r.IntN(3)*r.IntN(9))
	e.Train = r.IntN(2) == 0
	for i := range e.Classes {
		e.Classes[i] = randomText(r)
	}
	for i := range e.Worst {
		w := &e.Worst[i]
		w.Loss, w.Row, w.Target, w.Output = randomFloat(r), r.IntN(1e6), r.IntN(40)-1, r.IntN(40)-1
		w.Inputs, w.Targets, w.Outputs = randomFloats(r, r.IntN(100)), randomFloats(r, r.IntN(3)), randomFloats(r, r.IntN(3))
	}
	for i := range e.Residuals {
		e.Residuals[i] = randomFloats(r, r.IntN(300))
	}
	d.Errors = append(d.Errors, e)
}

// randomRace adds races and laps that make no sense.
func randomRace(r *rand.Rand, d *feed.Delta, epoch int) {
	d.Status.Racing = r.IntN(5) == 0
	if r.IntN(8) == 0 {
		e := event.RaceEvent{Epoch: epoch, State: []string{"begun", "over", "picked", "abandoned", "?"}[r.IntN(5)], Picked: r.IntN(12) - 2,
			Equivalents: randomFloat(r), Seconds: randomFloat(r)}
		for range r.IntN(12) {
			e.Racers = append(e.Racers, event.Racer{Name: randomText(r), Optimizer: randomText(r), Set: []string{randomText(r)}})
		}
		d.Races = append(d.Races, e)
	}
	for range r.IntN(6) {
		d.Laps = append(d.Laps, event.LapEvent{Racer: r.IntN(14) - 1, Ended: []string{"", "budget", randomText(r)}[r.IntN(3)], Lap: event.EpochEvent{
			Epoch: r.IntN(9), Loss: randomFloat(r), Error: randomFloat(r), TestError: randomFloat(r), TestRMSE: randomFloat(r),
			GradientEquivalents: randomFloat(r), Elapsed: randomFloat(r)}})
	}
}

// randomFigures gives an epoch what only some runs have: a method's own figures, a committee's members, a
// mixture's gates.
func randomFigures(r *rand.Rand, e *event.EpochEvent) {
	f := func() event.Float { return randomFloat(r) }
	for range r.IntN(8) {
		v := f()
		if r.IntN(2) == 0 {
			v = event.Float(r.IntN(1e7))
		}
		e.Figures = append(e.Figures, event.Figure{Key: randomText(r), Symbol: randomText(r), Meaning: randomText(r), Value: v})
	}
	for range r.IntN(4) * r.IntN(4) {
		e.Members = append(e.Members, event.MemberFigures{Loss: f(), TestLoss: f(), Error: f(), TestError: f(), RMSE: f(), TestRMSE: f()})
	}
	for range r.IntN(4) * r.IntN(9) {
		e.Gates = append(e.Gates, event.GateFigures{Center: f(), Width: f(), Slope: f(), Share: f()})
	}
}

func randomSpectrum(r *rand.Rand, epoch int) event.SpectrumEvent {
	f := func() event.Float { return randomFloat(r) }
	several := func() (list []event.Float) {
		for range r.IntN(9) * r.IntN(40) {
			list = append(list, f())
		}
		return list
	}
	e := event.SpectrumEvent{Epoch: epoch, Method: randomText(r), Operator: randomText(r), Rows: r.IntN(3) * r.IntN(1e6), Selection: randomText(r),
		Eigenvalues: []event.Float{f(), f(), f()}, Residuals: []event.Float{f()}}
	if r.IntN(2) == 0 {
		e.Operator, e.Method = []string{"hessian", "gauss-newton"}[r.IntN(2)], "power"
	}
	if r.IntN(2) == 0 {
		e.Density = &event.Density{Grid: several(), Values: several(), Errors: several(), Sigma: f(), Probes: r.IntN(2000), Steps: r.IntN(2000)}
	}
	if r.IntN(2) == 0 {
		e.Trace = &event.Trace{Value: f(), Error: f(), Probes: r.IntN(2000)}
	}
	return e
}

func randomRun(r *rand.Rand) *event.RunEvent {
	run := &event.RunEvent{Optimizer: randomText(r), Data: event.DataInfo{Name: randomText(r), TrainRows: r.IntN(1e6), Classes: r.IntN(3)}}
	run.Model.Parameters, run.Committee = r.IntN(1e7), r.IntN(12)
	if r.IntN(2) == 0 {
		run.Model.Experts = r.IntN(30)
	}
	if r.IntN(3) == 0 {
		return run // another program's
	}
	for range r.IntN(40) {
		run.Model.Layers = append(run.Model.Layers, r.IntN(1+r.IntN(5000)))
		run.Model.Activations = append(run.Model.Activations, randomText(r))
		to := r.IntN(42) - 1
		run.Model.Connections = append(run.Model.Connections, event.ConnectionInfo{To: to, From: to - 1 - r.IntN(3), Weights: r.IntN(1e7)})
	}
	return run
}
