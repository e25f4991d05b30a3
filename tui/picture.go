package tui

import (
	"io"
	"path/filepath"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/figure"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// chartPicture writes the focused pane's data as svg, png or pdf.
func (a *App) chartPicture(format string) tea.Cmd {
	p := a.panes[a.focus]
	f := a.figure()
	if f == nil {
		return a.Tell(style.Warn, p.name(a.paneView())+" has nothing to draw; P takes the screen")
	}
	if why := a.unpictured(); why != "" {
		return a.Tell(style.Warn, why)
	}
	return a.Picture(a.pictureName(p.name(a.paneView())), "."+format, func(w io.Writer) error { return f.Draw(w, format) })
}

// figure is what the focused pane's picture shows, nil for nothing.
func (a *App) figure() *figure.Chart {
	if p, ok := a.panes[a.focus].(Pictured); ok {
		return p.figure(a.paneView())
	}
	return nil
}

// screenPicture writes the screen as it stands, as SVG.
func (a *App) screenPicture() tea.Cmd {
	if why := a.unpictured(); why != "" {
		return a.Tell(style.Warn, why)
	}
	return a.ScreenPicture(a.screen(), a.pictureName("screen"))
}

// unpictured is why no picture can be written from here, "" if one can.
func (a *App) unpictured() string {
	switch {
	case a.h.Viewer:
		return viewerOnly
	case a.Pictures == "" && a.viewer != nil:
		return "no pictures are kept here: the server was started without --saves"
	}
	return ""
}

// pictureName tells the data, what is drawn and the epoch.
func (a *App) pictureName(of string) string {
	data := "run"
	if a.h.Run != nil {
		data = a.h.Run.Data.Name
	}
	return "newtop-" + screen.PlainName(data) + "-" + screen.PlainName(of) + "-" + strconv.Itoa(a.h.Status.Epoch)
}

// pictureWritten says where a picture is, or why there is none.
func (a *App) pictureWritten(msg screen.PictureMsg) tea.Cmd {
	if msg.Err != nil {
		text := "no picture: " + style.Clean(msg.Err.Error())
		a.h.Log.Say(a.h.Status.Epoch, style.Warn, "%s", text)
		return a.Tell(style.Warn, text)
	}
	path, where := style.Clean(msg.Path), ""
	if a.viewer != nil {
		path, where = style.Clean(filepath.Base(msg.Path)), " on the server"
	}
	a.h.Log.Say(a.h.Status.Epoch, style.Text, "picture: %s", path)
	return a.Tell(style.Text, "wrote "+path+where)
}

// refuse notes for a while why nothing happened.
func (a *App) refuse(text string) tea.Cmd {
	return a.Tell(style.Warn, text)
}
