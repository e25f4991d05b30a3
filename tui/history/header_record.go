package history

import (
	"strings"

	"newtop/trainer/event"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Unrecorded says that and why a run is not recorded, once, and the cause before the place: the header may have no
// room for both.
func Unrecorded(r *event.Recording) string {
	why, said := strings.CutPrefix(style.Clean(r.Warning), "the run is not being recorded: ")
	if !said && widget.Has(why, "not recorded") {
		return why
	}
	place := style.Clean(r.Path)
	if cause, ok := strings.CutPrefix(why, place+": "); ok && place != "" {
		why = cause + " (" + place + ")"
	}
	return "not recorded: " + why
}
