// Package render draws finished frames where Bubble Tea does not: on the terminals of many viewers, cell by cell what
// has changed, within a budget that they share; and as SVG or PNG.
package render

import (
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// Renderer draws frames on a viewer's terminal. Bubble Tea's renderer takes about a millisecond of a processor for a
// frame of 80 × 24 and looks thirty times a second whether there is one, which a hundred viewers can't have: this one
// compares rows, writes the cells that differ, and sleeps meanwhile.
//
//	Update ──► frames, room for one, the latest wins ──► run's goroutine ──► the terminal
//
// The program's goroutine puts frames and closes them; run ends after the last one, with the terminal as it was before,
// or when the terminal takes no more. So a terminal that does not read keeps nobody but run waiting.
type Renderer struct {
	out    io.Writer
	plain  bool // a terminal of the VT100's kind, which knows no titles and no modes of later ones
	budget *Budget
	Frames chan Frame
	Ended  chan struct{} // closed at run's end
	Err    error         // why it ended, to be read after that

	mu        sync.Mutex // of what follows
	shown     Frame
	patch     diff
	keys      bool // the terminal tells keys apart as kitty has it
	suspended bool

	given atomic.Bool // the terminal was given back by Restore
}

// Frame is a whole frame.
type Frame struct {
	Rows    []string // each as wide as the terminal; they are not changed any more
	Width   int
	Title   string
	Mouse   tea.MouseMode
	Redraws int // another number says that nobody knows what the terminal shows

	shared *Shared // that it is of, nil for a frame of one viewer
}

// NewRenderer returns a renderer that writes to a terminal with an environment, within an allowance; nil for no bound.
func NewRenderer(out io.Writer, environ []string, allowance *Budget) *Renderer {
	return &Renderer{
		out:    out,
		patch:  diff{profile: style.ColorProfile(environ)},
		plain:  style.OldTerminal(environ),
		budget: allowance,
		Frames: make(chan Frame, 1),
		Ended:  make(chan struct{}),
	}
}

// Owned makes it the renderer of the process's own terminal, before Run: of the profile that was found out, with keys
// distinguished.
func (p *Renderer) Owned(profile colorprofile.Profile) { p.patch.profile, p.keys = profile, true }

// Suspend gives the terminal back for a while. Frames are not drawn until Resume.
func (p *Renderer) Suspend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.suspended = true
	_ = p.end()
}

// Resume takes the terminal again; the next frame is drawn as a whole.
func (p *Renderer) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.suspended, p.shown = false, Frame{}
	_ = p.start()
}

// Enqueue hands over a frame in the place of one that was not drawn yet.
func (p *Renderer) Enqueue(f Frame) {
	select {
	case <-p.Frames:
	default:
	}
	p.Frames <- f
}

// Run draws until frames are closed, or until a write fails.
func (p *Renderer) Run() {
	defer close(p.Ended)
	defer func() {
		if v := recover(); v != nil {
			p.Err = &PanicError{v, debug.Stack()}
			_ = p.end()
		}
	}()
	if p.Err = p.start(); p.Err != nil {
		return
	}
	for f := range p.Frames {
		if p.Err = p.Draw(f); p.Err != nil {
			return
		}
	}
	if !p.given.Load() {
		p.Err = p.end()
	}
}

// XTWINOPS: the window's title put aside and taken back.
var saveTitle, oldTitle = ansi.WindowOp(22, 2), ansi.WindowOp(23, 2)

// start takes the terminal. Lines don't wrap, so that one that is wider than thought spoils no other.
func (p *Renderer) start() error {
	s := ansi.SetModeAltScreenSaveCursor + ansi.ResetModeTextCursorEnable + ansi.ResetModeAutoWrap
	if !p.plain {
		s += saveTitle + ansi.SetModeBracketedPaste + ansi.RequestBackgroundColor
		if p.keys {
			s += ansi.PushKittyKeyboard(ansi.KittyDisambiguateEscapeCodes)
		}
	}
	return p.write(s + ansi.EraseEntireScreen)
}

// end gives it back. A terminal without a second screen, as the Linux console, is left empty.
func (p *Renderer) end() error {
	s := ansi.ResetStyle
	if !p.plain {
		if p.keys {
			s += ansi.PopKittyKeyboard(1)
		}
		s += ansi.ResetModeSynchronizedOutput + mice(tea.MouseModeNone) + ansi.ResetModeBracketedPaste +
			ansi.SetWindowTitle("") + oldTitle
	}
	s += ansi.EraseEntireScreen + ansi.CursorHomePosition
	return p.write(s + ansi.SetModeAutoWrap + ansi.SetModeTextCursorEnable + ansi.ResetModeAltScreenSaveCursor)
}

// Restore gives the terminal back when the process is about to end, whatever else continues.
func (p *Renderer) Restore() {
	p.given.Store(true)
	_ = p.end()
}

func (p *Renderer) write(s string) error {
	_, err := io.WriteString(p.out, s)
	return err
}

// mice are the sequences that have the terminal tell of the mouse.
func mice(m tea.MouseMode) string {
	off := ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent
	switch m {
	case tea.MouseModeCellMotion:
		return off + ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr
	case tea.MouseModeAllMotion:
		return off + ansi.SetModeMouseAnyEvent + ansi.SetModeMouseExtSgr
	}
	return off + ansi.ResetModeMouseExtSgr
}

// Draw writes what differs from the frame before, in one piece.
func (p *Renderer) Draw(f Frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.suspended || p.given.Load() {
		return nil
	}
	start := time.Now()
	patch := p.patchTo(&f)
	p.shown = f
	if len(patch) == 0 {
		return nil
	}
	p.budget.drew(start)
	_, err := p.out.Write(patch)
	return err
}

// patchTo returns what turns the frame before into another.
func (p *Renderer) patchTo(f *Frame) []byte {
	again := f.Redraws != p.shown.Redraws || f.Width != p.shown.Width || len(f.Rows) != len(p.shown.Rows)
	key := patchKey{profile: p.patch.profile, plain: p.plain}
	switch {
	case f.shared == nil:
		return p.differ(f, again)
	case p.shown.shared == f.shared && !again:
		return nil
	case p.shown.shared != nil && !again:
		key.from = p.shown.shared.number
	case p.shown.Rows != nil:
		return p.differ(f, again)
	}
	return f.shared.patch(key, func() []byte { return p.differ(f, again) })
}

// differ computes it. The result is good until the next one.
func (p *Renderer) differ(f *Frame, again bool) []byte {
	b := &p.patch
	b.out = b.out[:0]
	if !p.plain {
		b.out = append(b.out, ansi.SetModeSynchronizedOutput...)
	}
	started := len(b.out)
	if f.Mouse != p.shown.Mouse && !p.plain {
		b.out = append(b.out, mice(f.Mouse)...)
	}
	if f.Title != p.shown.Title && !p.plain {
		b.out = append(b.out, ansi.SetWindowTitle(f.Title)...)
	}
	if again {
		b.out = append(b.out, ansi.EraseEntireScreen...)
	}
	for y, row := range f.Rows {
		switch {
		case again:
			b.row(y, "", row, true)
		case row != p.shown.Rows[y]:
			b.row(y, p.shown.Rows[y], row, false)
		}
	}
	if len(b.out) == started {
		return nil
	}
	if !p.plain {
		b.out = append(b.out, ansi.ResetModeSynchronizedOutput...)
	}
	return b.out
}
