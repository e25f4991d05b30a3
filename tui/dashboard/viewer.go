package dashboard

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/routine"
	"newtop/tui/dashboard/desk"
	"newtop/tui/render"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// viewerPause is the least time between two frames of a viewer's screen: of keys that come faster the last one is
// drawn.
const viewerPause = 40 * time.Millisecond

// viewerModel is the model of a viewer's program: the dashboard, whose frames go to a renderer, with nothing that could
// reach this process's terminal, signals or files.
type viewerModel struct {
	*desk.App
	renderer *render.Renderer
	budget   *render.Budget
	drawn    time.Time // when the latest frame was handed over
	waiting  bool      // a frameMsg is under way
	failure  error     // why the screen can't continue: what broke, or the input's error
}

type (
	frameMsg  struct{}               // a frame that had to wait is due
	failedMsg struct{ reason error } // a command or the input broke
)

// runViewer shows the dashboard to a viewer, like Run.
func runViewer(ctx context.Context, a *desk.App, o screen.Options) error {
	if o.Input == nil || o.Output == nil || o.Environ == nil || o.Size.Width < 1 || o.Size.Height < 1 {
		panic("tui: a viewer without input, output, environment or size")
	}
	defer a.Close()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &viewerModel{App: a, renderer: render.NewRenderer(o.Output, o.Environ, o.Budget), budget: o.Budget}
	a.Throttle()
	a.Width, a.Height = o.Size.Width, o.Size.Height
	defer o.Budget.Enter()()
	routine.Go(func() {
		g.renderer.Run()
		cancel() // what is left of the program when its terminal is gone
	})
	var p *tea.Program
	c := screen.Debouncer{Now: time.Now, Send: func(m tea.Msg) { p.Send(m) }}
	p = tea.NewProgram(g, tea.WithContext(inner), tea.WithoutSignalHandler(), tea.WithoutRenderer(), tea.WithFPS(1),
		tea.WithOutput(nowhere{}),
		tea.WithInput(nil), tea.WithEnvironment(o.Environ), tea.WithColorProfile(style.ColorProfile(o.Environ)),
		tea.WithFilter(fromViewer(&c)))
	routine.Go(func() { screen.Resizes(inner, p, o.Resizes) })
	routine.Go(func() { listen(inner, parserOf(o.Input, o.Environ), p.Send) })
	defer screen.OnQuit(g.renderer.Restore)()
	_, err := p.Run()
	left := inner.Err() == nil
	close(g.renderer.Frames)
	<-g.renderer.Ended
	switch {
	case g.failure != nil:
		return g.failure
	case ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled):
		return ctx.Err()
	case g.renderer.Err != nil:
		return g.renderer.Err
	case left && errors.Is(err, tea.ErrProgramKilled):
		return err
	}
	return nil
}

// nowhere takes what Bubble Tea writes besides frames: questions to the terminal, which the renderer asks.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// fromViewer is Bubble Tea's filter for what a viewer's terminal sends: no size that stands among the keys, of which
// nobody knows how large it is, and nothing that stops this process.
func fromViewer(c *screen.Debouncer) func(tea.Model, tea.Msg) tea.Msg {
	return func(m tea.Model, msg tea.Msg) tea.Msg {
		switch msg := msg.(type) {
		case tea.WindowSizeMsg, tea.SuspendMsg, tea.InterruptMsg:
			return nil
		case screen.Size:
			return c.Filter(m, tea.WindowSizeMsg{Width: msg.Width, Height: msg.Height})
		}
		return c.Filter(m, msg)
	}
}

// Init arms the wait for the first Delta.
func (g *viewerModel) Init() tea.Cmd { return g.cover(g.Wait(0)) }

// Update delegates, and has frames wait that come too soon.
func (g *viewerModel) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			g.failure = &render.PanicError{Value: v, Stack: debug.Stack()}
			g.Common.Forget()
			cmd = tea.Quit
		}
	}()
	defer g.Common.Lock()()
	if _, news := msg.(desk.DeltaMsg); news {
		defer g.budget.Updated(time.Now())
	}
	switch msg := msg.(type) {
	case failedMsg:
		g.failure = msg.reason
		return g, tea.Quit
	case frameMsg:
		g.waiting = false
	default:
		if _, cmd = g.App.Update(msg); desk.Waits(g.App, msg) {
			return g, g.cover(cmd)
		}
	}
	return g, tea.Batch(g.cover(cmd), g.frame())
}

// frame hands a frame over, or returns the command that has it handed over later.
func (g *viewerModel) frame() tea.Cmd {
	now := time.Now()
	if wait := viewerPause - now.Sub(g.drawn); wait > 0 {
		if g.waiting {
			return nil
		}
		g.waiting = true
		return screen.After(g.Ctx, wait, frameMsg{})
	}
	g.drawn = now
	g.renderer.Enqueue(desk.Frame(g.App))
	return nil
}

// View draws nothing: the renderer does.
func (g *viewerModel) View() tea.View { return tea.View{} }

// cover has a command that breaks end this screen, and nothing else.
func (g *viewerModel) cover(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = failedMsg{&render.PanicError{Value: v, Stack: debug.Stack()}}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = g.cover(batch[i])
			}
		}
		return msg
	}
}
