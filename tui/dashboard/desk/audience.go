package desk

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/style"
)

// audienceParts says in the header how many watch and who controls, as there is room.
func audienceParts(a *App, w int) []style.Part {
	const roomy, full = 80, 110
	all := a.H.Status.Audience
	if all == nil || len(all.Viewers) == 0 {
		return nil
	}
	n := format.Count(len(all.Viewers))
	if w < roomy {
		return []style.Part{style.Muted.Of(n + "◉  ")}
	}
	names := 24
	if w < full {
		names = 12
	}
	who := inControl(a, all, names)
	n += " watching"
	if w < full && who != "" {
		n = format.Count(len(all.Viewers)) + "◉"
	}
	return []style.Part{style.Muted.Of(n), style.Text.Of(who), style.Text.Of("  ")}
}

// inControl says who controls the run, with names of at most that many columns together.
func inControl(a *App, all *event.Audience, longest int) string {
	var names []string
	you := false
	for i := range all.Viewers {
		v := &all.Viewers[i]
		switch {
		case !v.Control:
		case !you && IsYou(a, v):
			you = true
		default:
			names = append(names, style.Clean(v.Name))
		}
	}
	names = slices.Compact(names)
	verb := " control"
	if you {
		names = slices.Insert(names, 0, "you")
	} else if len(names) == 1 {
		verb += "s"
	}
	switch list := strings.Join(names, ", "); {
	case len(names) == 0:
		return ""
	case style.Cells(list) <= longest:
		return " · " + list + verb
	case len(names) == 1:
		return " · " + ansi.Truncate(list, longest, "…") + verb
	case you:
		return " · you and " + format.Count(len(names)-1) + verb
	}
	return " · " + format.Count(len(names)) + verb
}

// IsYou reports whether a viewer is the viewer of this screen, or has their name and role.
func IsYou(a *App, v *event.Viewer) bool {
	return a.Viewer != nil && v.Name == a.Viewer.Name && v.Control == a.Viewer.Control
}
