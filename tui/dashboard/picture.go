package dashboard

import (
	"io"
	"path/filepath"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/figure"
	"newtop/tui/pane"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// chartPicture writes the focused pane's data as svg, png or pdf.
func chartPicture(a *App, format string) tea.Cmd {
	p := a.panes[a.focus]
	f := focusedFigure(a)
	if f == nil {
		return a.Tell(style.Warn, p.Name(a.paneView())+" has nothing to draw; P takes the screen")
	}
	if why := unpictured(a); why != "" {
		return a.Tell(style.Warn, why)
	}
	return a.Picture(pictureName(a, p.Name(a.paneView())), screen.Drawing{Suffix: "." + format,
		Draw: func(w io.Writer) error { return f.Draw(w, format) }})
}

// focusedFigure is what the focused pane's picture shows, nil for nothing.
func focusedFigure(a *App) *figure.Chart {
	if p, ok := a.panes[a.focus].(pane.Pictured); ok {
		return p.Figure(a.paneView())
	}
	return nil
}

// screenPicture writes the screen as it stands.
func screenPicture(a *App) tea.Cmd {
	if why := unpictured(a); why != "" {
		return a.Tell(style.Warn, why)
	}
	return a.ScreenPicture(a.screen(), pictureName(a, "screen"))
}

// copyName puts what newtop's commands know the run by into the clipboard of the terminal, which an SSH session has too
// (OSC 52).
func copyName(a *App) tea.Cmd {
	name := a.h.Status.Recording.Run
	if name == "" && a.h.Run != nil {
		name = a.h.Run.ID
	}
	if name = style.Clean(name); name == "" {
		return a.Tell(style.Warn, "the run has no name yet")
	}
	return tea.Batch(tea.SetClipboard(name), a.Tell(style.Text, "sent to the terminal's clipboard: "+name))
}

// unpictured is why no picture can be written from here, "" if one can.
func unpictured(a *App) string {
	switch {
	case a.onlooker():
		return viewerOnly
	case a.Pictures == "" && a.viewer != nil:
		return "no pictures are kept here: the server was started without --saves"
	}
	return ""
}

// pictureName tells the data, what is drawn and the epoch.
func pictureName(a *App, of string) string {
	data := "run"
	if a.h.Run != nil {
		data = a.h.Run.Data.Name
	}
	return "newtop-" + screen.PlainName(data) + "-" + screen.PlainName(of) + "-" + strconv.Itoa(a.h.Status.Epoch)
}

// pictureWritten says where a picture is, or why there is none.
func pictureWritten(a *App, msg screen.PictureMsg) tea.Cmd {
	if msg.Err != nil {
		text := "no picture: " + style.Clean(msg.Err.Error())
		a.say(style.Warn, text)
		return a.Tell(style.Warn, text)
	}
	path, where := style.Clean(msg.Path)+msg.Also, ""
	if a.viewer != nil {
		path, where = style.Clean(filepath.Base(msg.Path))+msg.Also, " on the server"
	}
	a.say(style.Text, "picture: "+path)
	return a.Tell(style.Text, "wrote "+path+where)
}
