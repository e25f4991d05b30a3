package desk

import (
	"strings"
	"time"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/history"
	"newtop/tui/style"
)

// recordState is what the header knows of how the run is recorded.
type recordState struct {
	since time.Time // when events began to wait; zero while none does
}

// aMoment is how long events may wait for the disk before that is worth a word.
const aMoment = time.Second

// followRecording takes in how the record is doing.
func followRecording(a *App, r *event.Recording) {
	switch {
	case r.Backlog == 0:
		a.record.since = time.Time{}
	case a.record.since.IsZero():
		a.record.since = a.Clock()
	}
}

// recordAlert is what must not be overlooked but changes nothing on the screen: that the run is not recorded as it
// should be, or that a watched one has lost its writer or can't be read throughout. "" while all is well.
func recordAlert(a *App) string {
	r := &a.H.Status.Recording
	switch p := a.H.Status.Replay; {
	case r.Warning != "":
		return history.Unrecorded(r)
	case r.Lost > 0:
		return "the record lacks " + format.Counted(r.Lost, "event")
	case p != nil && p.Warning != "": // before Stale, which the run's state shows too
		return unread(p)
	case p != nil && p.Stale != "":
		return style.Clean(p.Stale)
	}
	return ""
}

// unread says what of a source could not be read, by its line alone: the header names the source.
func unread(p *event.Replay) string {
	reason := style.Clean(p.Warning)
	rest, ok := strings.CutPrefix(reason, style.Clean(p.Source)+":")
	if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return reason
	}
	return "line " + rest
}

// recordedAs writes how many events wait for the disk and under which name the run is recorded, its end alone where
// there is no room for all of it.
func recordedAs(a *App, l *style.Line) {
	r := &a.H.Status.Recording
	if r.Backlog > 0 && a.Clock().Sub(a.record.since) >= aMoment {
		l.Group(style.Muted.Of("  "), style.Warn.Of(format.Counted(r.Backlog, "event")+" to record"))
	}
	if r.Run == "" {
		return
	}
	name := style.Clean(r.Run)
	if !l.Group(style.Muted.Of("  recorded as " + name)) {
		l.Group(style.Muted.Of("  recorded as " + name[strings.LastIndexByte(name, '-')+1:]))
	}
}
