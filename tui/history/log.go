package history

import (
	"fmt"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
	"newtop/tui/style"
)

const maxLog = 500

// Log has the latest lines of what happened.
type Log struct {
	Entries []Entry
	Gen     uint64
	full    bool // the epochs that come now are too many for it

	lastAction int // the latest of the audience's actions that has a line
}

// Entry is one line of the log.
type Entry struct {
	Epoch int
	Token style.Token
	Text  string           // empty for an epoch's figures
	Stats event.EpochEvent // of an epoch line
	Stop  krylov.Stop
	Inner int
}

// Say adds a line.
func (l *Log) Say(epoch int, t style.Token, format string, args ...any) {
	l.add(Entry{Epoch: epoch, Token: t, Text: fmt.Sprintf(format, args...)})
}

func (l *Log) add(e Entry) {
	l.Entries = chart.KeepLast(append(l.Entries, e), maxLog)
	l.Gen++
}

// recording notes when a run's record begins to fail, and when it is well again.
func (l *Log) recording(was *event.Status, now *event.Recording) {
	old := &was.Recording
	if now.Warning != old.Warning {
		switch {
		case now.Warning != "":
			l.Say(was.Epoch, style.Warn, "%s", Unrecorded(now))
		case now.Lost > 0:
			l.Say(was.Epoch, style.Warn, "recorded again, without %s", format.Counted(now.Lost, "event"))
		default:
			l.Say(was.Epoch, style.Good, "recorded again, nothing is missing")
		}
	}
	if now.Lost > 0 && old.Lost == 0 {
		l.Say(was.Epoch, style.Warn, "the record lacks events: too many waited for the disk")
	}
}

// replay notes what is wrong with the source of a watched run.
func (l *Log) replay(was, now *event.Replay) {
	if now == nil {
		return
	}
	if was == nil {
		was = &event.Replay{}
	}
	if now.Stale != "" && now.Stale != was.Stale {
		l.Say(now.Epoch, style.Warn, "%s", style.Clean(now.Stale))
	}
	if now.Warning != "" && was.Warning == "" { // it may count on with every epoch, which the header shows
		l.Say(now.Epoch, style.Warn, "%s", style.Clean(now.Warning))
	}
}

// action notes what somebody did.
func (l *Log) action(d *event.Action) {
	l.lastAction = d.Number
	if d.Refused != "" {
		l.Say(d.Epoch, style.Muted, "%s: %s, refused: %s", style.Clean(d.By), style.Clean(d.What),
			style.Clean(d.Refused))
		return
	}
	l.Say(d.Epoch, style.Accent, "%s: %s", style.Clean(d.By), style.Clean(d.What))
}

// more adds to the line of an epoch.
func (l *Log) more(late *event.EpochEvent) {
	for i := len(l.Entries) - 1; i >= 0; i-- {
		if e := &l.Entries[i]; e.Text == "" {
			if e.Stats.Epoch == late.Epoch {
				e.Stats = e.Stats.With(late)
				l.Gen++
			}
			return
		}
	}
}
