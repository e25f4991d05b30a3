package dialogs

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/dashboard/desk"
	"newtop/tui/history"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Saves is what has become of the files that were asked for here.
type Saves struct {
	Format string   // of the latest
	files  []string // that are not there yet
}

// saveForm asks for the file that the model is written to.
type saveForm struct {
	saves     *Saves
	file      textinput.Model
	formats   []screen.SaveFormat
	bare      bool   // the directory is the server's
	suggested string // the name that nobody has typed, without its extension
}

// Unsavable is why the model can't be saved at present. A run that has ended still can.
func Unsavable(a *desk.App) string {
	switch {
	case a.OnlyViews():
		return desk.ViewerOnly
	case a.H.Watched(), a.ReadOnly:
		return feed.ErrReadOnly.Error()
	case a.Viewer != nil && a.Viewer.Saves == "":
		return "no models are saved here: the server was started without --saves"
	case a.Closed:
		return "the feed is closed"
	case a.Stopping && !a.H.Over():
		return "the run is stopping"
	case a.H.Run == nil:
		return "there is no model yet"
	}
	return ""
}

// Open opens the form with a name that tells data and epoch, in the format that was chosen last.
func (s *Saves) Open(a *desk.App) {
	f := &saveForm{saves: s, file: widget.NewInput(400), formats: screen.SaveFormats[:], bare: a.Viewer != nil}
	if a.H.Elsewhere() {
		f.formats = screen.ParameterFormats[:]
	}
	f.file.Focus()
	f.file.SetValue("." + f.usual())
	f.file.CursorEnd()
	f.suggest(a)
	a.Dialog = f
}

// suggest names the current epoch as long as nobody has typed another name.
func (f *saveForm) suggest(a *desk.App) {
	if a.H.Run == nil {
		return
	}
	rest, ok := strings.CutPrefix(f.file.Value(), f.suggested)
	name := screen.PlainName(a.H.Run.Data.Name) + "-e" + strconv.Itoa(savedEpoch(a))
	moved := f.file.Position() < len([]rune(f.file.Value()))
	if !ok || rest != filepath.Ext(rest) || f.format() < 0 || name == f.suggested || moved {
		return
	}
	f.suggested = name
	f.file.SetValue(name + rest)
	f.file.CursorEnd()
}

// usual is the format that was chosen last, the first where that can't be had.
func (f *saveForm) usual() string {
	if slices.ContainsFunc(f.formats, func(k screen.SaveFormat) bool { return k.Name == f.saves.Format }) {
		return f.saves.Format
	}
	return f.formats[0].Name
}

// format is the index of the format that the file's extension names, −1 if it names none.
func (f *saveForm) format() int {
	extension := strings.ToLower(filepath.Ext(strings.TrimSpace(f.file.Value())))
	return slices.IndexFunc(f.formats, func(k screen.SaveFormat) bool { return extension == "."+k.Name })
}

// problem says what is wrong with the file's name, "" if nothing is.
func (f *saveForm) problem() string {
	name := strings.TrimSpace(f.file.Value())
	base := filepath.Base(name)
	switch k := f.format(); {
	case name == "":
		return "expected a file name"
	case k < 0:
		var names []string
		for i := range f.formats {
			names = append(names, "."+f.formats[i].Name)
		}
		return "expected a name that ends in " + strings.Join(names, " or ")
	case base == "."+f.formats[k].Name || strings.HasSuffix(name, "/"):
		return "expected a name before the extension"
	case f.bare && (strings.ContainsAny(name, `/\`) || name[0] == '.' || name[0] == '-'):
		return "expected a bare file name: the directory is the server's"
	}
	return ""
}

// turn moves to the next format.
func (f *saveForm) turn() {
	name, k := strings.TrimSpace(f.file.Value()), f.format()
	if k >= 0 {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	f.file.SetValue(name + "." + f.formats[(k+1)%len(f.formats)].Name)
	f.file.CursorEnd()
}

func (f *saveForm) Hints(*desk.App) []widget.Hint {
	hints := []widget.Hint{widget.NewHint("enter", "save")}
	if len(f.formats) > 1 {
		hints = append(hints, widget.NewHint("tab", "other format"))
	}
	return append(hints, widget.NewHint("ctrl+u", "clear"), widget.NewHint("esc", "cancel"))
}

func (f *saveForm) Handle(a *desk.App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "esc":
			return screen.Close, nil
		case "tab", "shift+tab", "up", "down":
			f.turn()
			return screen.Stay, nil
		case "enter":
			return f.submit(a)
		}
	}
	f.file, _ = f.file.Update(msg)
	return screen.Stay, nil
}

func (f *saveForm) submit(a *desk.App) (screen.Answer, tea.Cmd) {
	if f.problem() != "" {
		return screen.Stay, nil
	}
	if reason := Unsavable(a); reason != "" {
		return screen.Close, a.Notify(style.Warn, reason)
	}
	file := strings.TrimSpace(f.file.Value())
	if len(f.formats) > 1 {
		f.saves.Format = f.formats[f.format()].Name
	}
	f.saves.files = append(f.saves.files, file)
	return screen.Close, a.Send(event.Save{File: file})
}

// Delta implements Observer: it says which of the files that were asked for are there, and has an open form name the
// latest epoch.
func (s *Saves) Delta(a *desk.App, d *feed.Delta) (noted tea.Cmd) {
	for i := range d.Saved {
		e := &d.Saved[i]
		if k := slices.Index(s.files, e.File); k >= 0 {
			s.files = slices.Delete(s.files, k, k+1)
			noted = a.Notify(style.Good, "saved "+style.Clean(e.File)+", "+format.Bytes(e.Bytes))
		}
	}
	if f, ok := a.Dialog.(*saveForm); ok {
		f.suggest(a)
	}
	return noted
}

// givesBest reports whether the run is over and gives the weights of its best epoch.
func givesBest(h *history.History) bool {
	return h.Done != nil && h.Done.Weights == event.WeightsBest && h.Over()
}

// savedEpoch is the epoch whose weights the run gives now.
func savedEpoch(a *desk.App) int {
	if givesBest(a.H) {
		return a.H.Done.BestEpoch
	}
	return a.H.Status.Epoch
}

func (f *saveForm) Draw(a *desk.App, w, h int) []string {
	v := a.PaneView()
	bw := min(w-2, 80)
	inner := bw - 4
	l := v.Line(inner).Write(style.Muted, "file ")
	widget.InputLine(&v.Pen, l, &f.file, true)
	rows := []string{l.Full(), ""}
	for i, k := range f.formats {
		l := v.Line(inner)
		arrow, color := "  ", style.Text
		if i == f.format() {
			arrow, color = "▸ ", style.Strong
		}
		l.Write(style.Accent, arrow).Write(color, style.Pad(k.Name, 13)).Write(style.Muted, k.Use)
		l.Group(style.Muted.Of("; " + k.About))
		rows = append(rows, l.Full())
	}
	rows = append(rows, "")
	l = v.Line(inner)
	place, more := v.Line(inner), v.Line(inner)
	if problem := f.problem(); problem != "" {
		l.Write(style.Bad, "× "+problem)
	} else {
		e, epoch := v.H.Latest, v.H.Latest.Epoch
		if d := v.H.Done; givesBest(v.H) {
			e, epoch = event.EpochEvent{TestError: d.TestError, TestRMSE: d.TestRMSE}, d.BestEpoch
		}
		l.Write(style.Muted, "the weights after epoch ").Write(style.Text, format.Count(epoch))
		if givesBest(v.H) {
			l.Write(style.Muted, ", the best")
		}
		fault, what, unit := float64(e.TestError), "  test error ", format.Percent
		if v.H.Regression() {
			fault, what, unit = float64(e.TestRMSE), "  test RMSE ", format.Number
		}
		if fault == fault && v.H.Epochs > 0 {
			l.Group(style.Muted.Of(what), style.Test.Of(unit(fault)))
		}
		if a.Viewer != nil {
			place.Write(style.Muted, "on the server, in "+style.Clean(a.Viewer.Saves))
		}
		more.Write(style.Muted, "a file of that name is replaced")
	}
	if rows = append(rows, l.Full()); a.Viewer != nil {
		rows = append(rows, place.Full())
	}
	return widget.DialogBox(&v.Pen, "save the model", style.Clip(append(rows, more.Full()), h-2), bw)
}
