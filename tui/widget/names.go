package widget

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/tui/style"
)

// Cut shortens a name to w cells. Names differ at their ends more often than at their beginnings, so that the beginning
// goes. Where others would then look alike, what all these have in common goes, in front and behind, before what tells
// them apart.
func Cut(name string, w int, others []string) string {
	if style.Cells(name) <= w {
		return name
	}
	short := ending(name, w)
	from, to := len(name), len(name)
	for _, other := range others {
		if other == name || style.Cells(other) <= w || ending(other, w) != short {
			continue
		}
		i, k := 0, 0
		for i < min(len(name), len(other)) && name[i] == other[i] {
			i++
		}
		for k < min(len(name), len(other))-i && name[len(name)-1-k] == other[len(other)-1-k] {
			k++
		}
		from, to = min(from, i), min(to, k)
	}
	if from == len(name) {
		return short
	}
	between := "/"
	if !strings.Contains(name, between) {
		between = "_-.: "
	}
	from = strings.LastIndexAny(name[:from], between) + 1
	end := len(name)
	if i := strings.IndexAny(name[len(name)-to:], between); i >= 0 {
		end = len(name) - to + i
	}
	own, front := name[from:max(from, end)], ""
	if from > 0 {
		front = "…"
	}
	if rest := front + name[from:]; style.Cells(rest) <= w {
		return rest
	}
	const least = 4 // of an end that says something
	whole := front + own
	own = ansi.Truncate(whole, max(1, w-1), "…")
	switch left := w - style.Cells(own); {
	case own != whole:
	case left > least:
		own += ending(name[end:], left)
	case left > 0 && end < len(name):
		own += "…"
	}
	return ansi.Truncate(own, w, "")
}

// ending is the end of a text behind an ellipsis, in w cells.
func ending(s string, w int) string { return "…" + ansi.TruncateLeft(s, style.Cells(s)-w+1, "") }
