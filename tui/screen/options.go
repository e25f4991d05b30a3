package screen

import (
	"context"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/internal/machine"
	"newtop/tui/render"
	"newtop/tui/style"
)

func (o *Options) program(ctx context.Context, environ []string, noColor bool) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if o.Input != nil {
		opts = append(opts, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		opts = append(opts, tea.WithOutput(o.Output))
	}
	if o.Environ != nil {
		opts = append(opts, tea.WithEnvironment(o.Environ))
	}
	if o.Size != (Size{}) {
		opts = append(opts, tea.WithWindowSize(o.Size.Width, o.Size.Height))
	}
	if noColor {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	return opts
}

// Options say how the UI appears. The zero value is right for a terminal on standard input and output.
type Options struct {
	Title       string       // in the header and the window's title; "" is "newtop"
	NoColor     bool         // no colours, as the environment's NO_COLOR
	Theme       style.Theme  // zero is the user's preference
	Glyphs      style.Glyphs // what drawings are made of; zero is the user's preference
	NoMouse     bool         // leave the mouse to the terminal
	Preferences string       // the file that keeps the user's choices (see PreferencesFile); "" keeps none
	Pictures    string       // the directory that pictures are written to; "" writes none
	// Browse opens the recorded runs over a run's screen, to come back from; nil: that is not to be had.
	Browse func() (Layer, func(), error)
	// Machine reads how the machine does that the run is trained on; nil: that is not shown. It is called once a
	// second.
	Machine func(context.Context) (machine.Sample, error)
	// Program says that a watched program ends with the screen: while it runs it takes two presses to quit.
	Program  bool
	Tour     bool      // a guided tour begins with the run
	First    bool      // nothing was recorded before: the first ? begins the tour
	DataSets []string  // names that the palette lists
	FPS      int       // how often a change may be drawn a second, 1…120; 0 is 120, over SSH 30
	Cast     string    // the file of a film of the session; "": none
	Input    io.Reader // nil is standard input
	Output   io.Writer // nil is standard output
	Environ  []string  // nil is this process's environment
	// Rings brings what calls the user; nil: nothing does.
	Rings <-chan RingMsg
	// Viewer is who looks, where the run is served to several; nil is its owner. A viewer's screen needs Input, Output,
	// Environ and Size, and touches nothing of this process.
	Viewer *Viewer
	// Size and Resizes tell the size of a terminal that is not Output itself. Zero: Output is asked.
	Size    Size
	Resizes <-chan Size
	// Budget is shared by the screens of all viewers; nil bounds nothing.
	Budget *render.Budget
}

// Size is that of a terminal, in cells.
type Size struct{ Width, Height int }

// Viewer is one of several who look at a run that is served to them. Leaving the screen leaves the run alone.
type Viewer struct {
	Name    string // as trainer.Viewer has it
	Control bool   // whether the viewer may steer the run
	Saves   string // what the directory is called that models are saved in, for readers
}

// Resizes hands the sizes on until the context ends.
func Resizes(ctx context.Context, p *tea.Program, sizes <-chan Size) {
	for {
		select {
		case s, ok := <-sizes:
			if !ok {
				return
			}
			p.Send(s)
		case <-ctx.Done():
			return
		}
	}
}
