package dialogs

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/dashboard/desk"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// WhoOverlay lists those who look at the run, from a row on.
type WhoOverlay struct{ top int }

func (o *WhoOverlay) Hints(*desk.App) []widget.Hint {
	return []widget.Hint{widget.NewHint("esc", "close"), widget.NewHint("↑↓", "scroll")}
}

func (o *WhoOverlay) Handle(a *desk.App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return screen.Stay, nil
	}
	switch k.String() {
	case "esc", "enter", "q":
		return screen.Close, nil
	case "down", "j":
		o.top++
	case "up", "k":
		o.top--
	case "pgdown", "space":
		o.top += 10
	case "pgup":
		o.top -= 10
	}
	return screen.Stay, nil
}

func (o *WhoOverlay) Draw(a *desk.App, w, h int) []string {
	bw := min(w-2, 76)
	inner := bw - 4
	var viewers []event.Viewer
	if all := a.H.Status.Audience; all != nil {
		viewers = all.Viewers
	}
	rows := []string{a.Line(inner).Write(style.Muted, "name").To(inner-38).Write(style.Muted, "role").To(
		inner-28).Write(
		style.Muted, "since").To(inner-16).Write(style.Muted, "key").Full()}
	room := max(1, h-3)
	o.top = max(0, min(o.top, len(viewers)-room))
	you := false
	for i := range viewers {
		v := &viewers[i]
		mine := !you && desk.IsYou(a, v)
		you = you || mine
		if i >= o.top && i < o.top+room {
			rows = append(rows, viewerParts(a, v, mine, inner))
		}
	}
	title := format.Counted(len(viewers), "viewer")
	if len(viewers) > room {
		title += ", " + format.Count(o.top+1) + " to " + format.Count(min(o.top+room, len(viewers)))
	}
	return widget.DialogBox(&a.Pen, title, style.Clip(rows, h-2), bw)
}

// viewerParts is the row of a viewer.
func viewerParts(a *desk.App, v *event.Viewer, you bool, w int) string {
	name, role := style.Clean(v.Name), style.Muted.Of("looks")
	if v.Control {
		role = style.Strong.Of("controls")
	}
	mark := ""
	if you {
		mark = " (you)"
	}
	l := a.Line(w).Write(style.Text, ansi.Truncate(name, w-39-len(mark), "…")).Write(style.Accent, mark)
	return l.To(w-38).Write(role.Token, role.Text).To(w-28).Write(style.Text, since(v.Since, a.Clock())).To(w-16).Write(
		style.Muted, shortKey(v.Key)).Full()
}

// since writes a time of this day as its hour, an earlier one as its day.
func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	if y, m, d := now.Date(); t.Before(time.Date(y, m, d, 0, 0, 0, 0, now.Location())) {
		return t.Local().Format("2 Jan")
	}
	return t.Local().Format("15:04:05")
}

// shortKey is the beginning of a fingerprint.
func shortKey(s string) string {
	_, digest, ok := strings.Cut(s, ":")
	if !ok {
		digest = s
	}
	return style.Clean(digest[:min(len(digest), 12)])
}

// StopOverlay asks whether the run shall end for everybody.
type StopOverlay struct{}

func (*StopOverlay) Hints(*desk.App) []widget.Hint {
	return []widget.Hint{widget.NewHint("enter", "stop the run"), widget.NewHint("esc", "let it go on")}
}

func (*StopOverlay) Handle(a *desk.App, msg tea.Msg) (screen.Answer, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return screen.Stay, nil
	}
	switch k.String() {
	case "enter", "y":
		if reason := desk.Unsteerable(a); reason != "" {
			return screen.Close, a.Notify(style.Warn, reason)
		}
		return screen.Close, a.Send(event.Stop{})
	case "esc", "n", "q":
		return screen.Close, nil
	}
	return screen.Stay, nil
}

func (*StopOverlay) Draw(a *desk.App, w, h int) []string {
	others := 0
	if all := a.H.Status.Audience; all != nil {
		others = max(0, len(all.Viewers)-1)
	}
	watching := "nobody else is watching"
	if others == 1 {
		watching = "one other is watching"
	} else if others > 1 {
		watching = format.Count(others) + " others are watching"
	}
	bw := min(w-2, 56)
	put := func(t style.Token, s string) string { return a.Line(bw-4).Write(t, s).Full() }
	rows := []string{put(style.Warn, "The run ends for everybody and is not trained on."),
		put(style.Text, watching+"; what was reached stays"), "",
		put(style.Muted, "enter stops it, esc lets it go on")}
	return widget.DialogBox(&a.Pen, "stop the run?", style.Clip(rows, h-2), bw)
}
