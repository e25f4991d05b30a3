package dashboard

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/layout"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// paletteEntry is something that the palette can do.
type paletteEntry = screen.Entry[*desk.App]

func openPalette(a *desk.App) {
	a.Dialog = screen.NewPalette(paletteEntries(a), "commands, methods, panes, settings, themes")
}

// paletteEntries lists what there is, in the order of an empty search.
func paletteEntries(a *desk.App) (out []paletteEntry) {
	out = append(out, commandEntries(a)...)
	out = append(out, audienceEntries(a)...)
	out = append(out, methodEntries(a)...)
	out = append(out, paneEntries(a)...)
	out = append(out, settingEntries(a)...)
	out = append(out, styleEntries(a)...)
	return append(out, dataEntries(a)...)
}

// commandEntries are the bindings, apart from those that only choose among methods.
func commandEntries(a *desk.App) (out []paletteEntry) {
	for _, b := range byGroup(a) {
		if b.Show == "1…9" || b.Keys[0] == ":" {
			continue
		}
		out = append(out, screen.BoundEntries(b, a)...)
	}
	if desk.Trains(a) {
		out = append(out, paletteEntry{Kind: "command", Text: "guided tour", Also: "the screen in twenty seconds",
			Reason: desk.Unchangeable(a), Do: beginTour})
	}
	return out
}

// byGroup lists the bindings in the order of the help: what ends a run does not come first.
func byGroup(a *desk.App) (out []*screen.Binding[*desk.App]) {
	for _, g := range desk.Groups {
		for _, b := range a.Bindings {
			if b.Group == g && !b.Absent(a) {
				out = append(out, b)
			}
		}
	}
	return out
}

func methodEntries(a *desk.App) (out []paletteEntry) {
	reason := desk.Unchangeable(a)
	for i, m := range a.Methods {
		e := paletteEntry{Kind: "method", Text: m.Name, Also: m.Title, Reason: reason,
			Do: func(a *desk.App) tea.Cmd { return a.Send(event.Switch{Optimizer: m.Name}) }}
		if reason == "" && a.H.Lacks(m.Name) {
			e.Reason = dialogs.Unsupported
		}
		if i < 9 {
			e.Key = string(rune('1' + i))
		}
		if m.Name == a.H.Status.Optimizer && reason == "" {
			e.Also += ", the current method"
		}
		out = append(out, e)
	}
	return out
}

func paneEntries(a *desk.App) (out []paletteEntry) {
	reason := desk.Covered(a)
	for id := range layout.ID(len(a.Panes)) {
		if desk.Absent(a, id) {
			continue
		}
		also := "zoom"
		if id == layout.Loss || id == layout.Accuracy {
			also += ", of training, validation and test rows"
		}
		out = append(out, paletteEntry{Kind: "pane", Text: a.Panes[id].Name(a.PaneView()), Also: also, Reason: reason,
			Do: func(a *desk.App) tea.Cmd { a.Focus, a.Zoomed = id, true; return nil }})
	}
	return out
}

func settingEntries(a *desk.App) (out []paletteEntry) {
	reason := desk.Unchangeable(a)
	for _, s := range a.H.Status.Settings {
		out = append(out, paletteEntry{Kind: "setting", Text: style.Clean(s.Key) + " = " +
			format.Setting(style.Clean(s.Text)), Also: style.Clean(s.Meaning), Reason: reason,
			Do: func(a *desk.App) tea.Cmd { return dialogs.OpenForm(a, s.Key) }})
	}
	return out
}

// styleEntries are how things look.
func styleEntries(a *desk.App) (out []paletteEntry) {
	add := func(kind, text, also string, current bool, do func(*desk.App) tea.Cmd) {
		if current {
			also += ", the current " + kind
		}
		out = append(out, paletteEntry{Kind: kind, Text: text, Also: also, Do: do})
	}
	for t := style.ThemeAuto; t < style.ThemeCount; t++ {
		add("theme", t.String(), "theme colors colours", t == a.ThemeChoice,
			func(a *desk.App) tea.Cmd { return a.SetTheme(t) })
	}
	for g := style.GlyphsAuto; g < style.GlyphsCount; g++ {
		add("glyphs", g.String(), "glyphs of drawings", g == a.GlyphChoice,
			func(a *desk.App) tea.Cmd { return a.SetGlyphs(g) })
	}
	for _, format := range []string{"svg", "png", "pdf"} {
		out = append(out, paletteEntry{Kind: "picture", Text: "chart as " + strings.ToUpper(format),
			Also: "picture of the focused pane", Reason: desk.Unpicturable(a),
			Do: func(a *desk.App) tea.Cmd { return chartPicture(a, format) }})
	}
	return out
}

// dataEntries name the data sets. A run has one data set for good, so they only say how to train on another.
func dataEntries(a *desk.App) (out []paletteEntry) {
	for _, name := range a.DataSets {
		name = style.Clean(name)
		reason := "starts another run: newtop --data " + name
		if a.H.Run != nil && name == style.Clean(a.H.Run.Data.Name) {
			reason = "this run trains on it"
		}
		out = append(out, paletteEntry{Kind: "data", Text: name, Also: "data set", Reason: reason})
	}
	return out
}

// audienceEntries are what the palette has where a run is served.
func audienceEntries(a *desk.App) (out []paletteEntry) {
	if a.Viewer == nil {
		return nil
	}
	out = append(out, paletteEntry{Kind: "command", Text: "who is watching", Also: "viewers, keys and roles",
		Do: func(a *desk.App) tea.Cmd { a.Dialog = &dialogs.WhoOverlay{}; return nil }})
	return append(out, paletteEntry{Kind: "command", Text: "stop the run", Also: "for everybody; asks first",
		Reason: desk.Unsteerable(a),
		Do:     func(a *desk.App) tea.Cmd { a.Dialog = &dialogs.StopOverlay{}; return nil }})
}
