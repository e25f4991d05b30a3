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
	reason, said := strings.CutPrefix(style.Clean(r.Warning), "the run is not being recorded: ")
	if !said && widget.Has(reason, "not recorded") {
		return reason
	}
	place := style.Clean(r.Path)
	if cause, ok := strings.CutPrefix(reason, place+": "); ok && place != "" {
		reason = cause + " (" + place + ")"
	}
	return "not recorded: " + reason
}
