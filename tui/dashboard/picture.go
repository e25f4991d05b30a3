package dashboard

import (
	"io"
	"path/filepath"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/figure"
	"newtop/tui/dashboard/desk"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// chartPicture writes the focused pane's data as svg, png or pdf.
func chartPicture(a *desk.App, format string) tea.Cmd {
	p := a.Panes[a.Focus]
	f := focusedFigure(a)
	if f == nil {
		return a.Notify(style.Warn, p.Name(a.PaneView())+" has nothing to draw; P takes the screen")
	}
	if reason := unpictured(a); reason != "" {
		return a.Notify(style.Warn, reason)
	}
	return a.Picture(pictureName(a, p.Name(a.PaneView())), screen.Drawing{Suffix: "." + format,
		Draw: func(w io.Writer) error { return f.Draw(w, format) }})
}

// focusedFigure is what the focused pane's picture shows, nil for nothing.
func focusedFigure(a *desk.App) *figure.Chart {
	if p, ok := a.Panes[a.Focus].(pane.Pictured); ok {
		return p.Figure(a.PaneView())
	}
	return nil
}

// screenPicture writes the screen as it stands.
func screenPicture(a *desk.App) tea.Cmd {
	if reason := unpictured(a); reason != "" {
		return a.Notify(style.Warn, reason)
	}
	return a.ScreenPicture(a.Rows(), pictureName(a, "screen"))
}

// copyName puts what newtop's commands know the run by into the clipboard of the terminal, which an SSH session has too
// (OSC 52).
func copyName(a *desk.App) tea.Cmd {
	name := a.H.Status.Recording.Run
	if name == "" && a.H.Run != nil {
		name = a.H.Run.ID
	}
	if name = style.Clean(name); name == "" {
		return a.Notify(style.Warn, "the run has no name yet")
	}
	return tea.Batch(tea.SetClipboard(name), a.Notify(style.Text, "sent to the terminal's clipboard: "+name))
}

// unpictured is why no picture can be written from here, "" if one can.
func unpictured(a *desk.App) string {
	switch {
	case a.OnlyViews():
		return desk.ViewerOnly
	case a.Pictures == "" && a.Viewer != nil:
		return "no pictures are kept here: the server was started without --saves"
	}
	return ""
}

// pictureName tells the data, what is drawn and the epoch.
func pictureName(a *desk.App, of string) string {
	data := "run"
	if a.H.Run != nil {
		data = a.H.Run.Data.Name
	}
	return "newtop-" + screen.PlainName(data) + "-" + screen.PlainName(of) + "-" + strconv.Itoa(a.H.Status.Epoch)
}

// pictureWritten says where a picture is, or why there is none.
func pictureWritten(a *desk.App, msg screen.PictureMsg) tea.Cmd {
	if msg.Err != nil {
		text := "no picture: " + style.Clean(msg.Err.Error())
		a.Say(style.Warn, text)
		return a.Notify(style.Warn, text)
	}
	path, where := style.Clean(msg.Path)+msg.Also, ""
	if a.Viewer != nil {
		path, where = style.Clean(filepath.Base(msg.Path))+msg.Also, " on the server"
	}
	a.Say(style.Text, "picture: "+path)
	return a.Notify(style.Text, "wrote "+path+where)
}
