//go:build !unix

package screen

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/routine"
)

// mostFlushes is how often a second Bubble Tea's renderer looks for a frame, whether there is one or not.
const mostFlushes = 60

// Run shows the model of a screen with this base until it quits, the context ends or the program fails, with
// further options of the program if there are any.
func (b *Base) Run(ctx context.Context, m tea.Model, o Options, more ...tea.ProgramOption) error {
	defer b.Cancel()
	defer b.Prefs.Flush()
	var p *tea.Program
	d := Debouncer{Now: time.Now, Send: func(msg tea.Msg) { p.Send(msg) }}
	all := append(o.program(ctx, b.Environ, b.NoColor), tea.WithFPS(min(frames(o.FPS, b.Environ), mostFlushes)),
		tea.WithFilter(d.Filter))
	p = tea.NewProgram(m, append(all, more...)...)
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	routine.Go(func() { Resizes(inner, p, o.Resizes) })
	defer OnQuit(func() { _ = p.ReleaseTerminal() })()
	_, err := p.Run()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return ctx.Err()
	}
	return err
}

// Opening is what a screen asks of its terminal at first.
func (b *Base) Opening() tea.Cmd { return tea.Batch(tea.RequestBackgroundColor, b.rings()) }
