package tui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/style"
)

// chartPicture writes the focused pane's data as svg, png or pdf.
func (a *App) chartPicture(format string) tea.Cmd {
	p := a.panes[a.focus]
	f := a.figure()
	if f == nil {
		return a.refuse(p.name(a.paneView()) + " has nothing to draw; P takes the screen")
	}
	return a.picture(p.name(a.paneView()), format, func(w io.Writer) error { return f.write(w, format) })
}

// figure is what the focused pane's picture shows, nil for nothing.
func (a *App) figure() *figure {
	if p, ok := a.panes[a.focus].(pictured); ok {
		return p.figure(a.paneView())
	}
	return nil
}

// screenPicture writes the screen as it stands, as SVG.
func (a *App) screenPicture() tea.Cmd {
	rows, columns, dark := a.screen(), a.width, a.themeChoice.OnDark(a.dark)
	if a.Glyphs.ASCII {
		for i := range rows {
			rows[i] = style.ToASCII(rows[i])
		}
	}
	return a.picture("screen", "svg", func(w io.Writer) error { return WriteSVG(w, rows, columns, dark) })
}

// picture has the tea.Cmd that writes a file and says where.
func (a *App) picture(of, format string, draw func(io.Writer) error) tea.Cmd {
	if a.h.viewer {
		return a.refuse(viewerOnly)
	}
	if a.pictures == "" && a.guest != nil {
		return a.refuse("no pictures are kept here: the server was started without --saves")
	}
	if a.pictures == "" {
		return a.refuse("pictures can't be written from here")
	}
	data := "run"
	if a.h.run != nil {
		data = a.h.run.Data.Name
	}
	name := "newtop-" + PlainName(data) + "-" + PlainName(of) + "-" + strconv.Itoa(a.h.status.Epoch)
	base := filepath.Join(a.pictures, name)
	return func() tea.Msg {
		path, err := WriteNew(base, "."+format, draw)
		return PictureMsg{path, err}
	}
}

type PictureMsg struct {
	path string
	err  error
}

// pictureWritten says where a picture is, or why there is none.
func (a *App) pictureWritten(msg PictureMsg) tea.Cmd {
	if msg.err != nil {
		text := "no picture: " + style.Clean(msg.err.Error())
		a.h.say(a.h.status.Epoch, style.Warn, "%s", text)
		return a.refuse(text)
	}
	path, where := style.Clean(msg.path), ""
	if a.guest != nil {
		path, where = style.Clean(filepath.Base(msg.path)), " on the server"
	}
	a.h.say(a.h.status.Epoch, style.Text, "picture: %s", path)
	return a.tell("wrote " + path + where)
}

// refuse notes for a while why nothing happened.
func (a *App) refuse(text string) tea.Cmd {
	a.note(style.Warn, text)
	return a.expire()
}

// PlainName keeps what every file system and shell takes in a name.
func PlainName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			return unicode.ToLower(r)
		case r == '.' || r == '_':
			return r
		}
		return '-'
	}, s)
	if s = strings.Trim(s, "-."); s == "" {
		return "run"
	}
	return s[:min(len(s), 60)]
}

// WriteNew writes a file that did not exist: base with a suffix, or base-2, base-3, … with it.
func WriteNew(base, suffix string, draw func(io.Writer) error) (path string, err error) {
	var text bytes.Buffer
	if err := draw(&text); err != nil {
		return "", err
	}
	const most = 10_000
	for n := 1; n <= most; n++ {
		path = base + suffix
		if n > 1 {
			path = fmt.Sprintf("%s-%d%s", base, n, suffix)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = text.WriteTo(f)
		if err = errors.Join(err, f.Close()); err != nil {
			os.Remove(path)
		}
		return path, err
	}
	return "", fmt.Errorf("%s%s: there are %d of it", base, suffix, most)
}
