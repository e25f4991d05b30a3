package workspace

import (
	"context"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/chart"
	"newtop/tui/history"
	"newtop/tui/pane/metrics"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// run is a run of the workspace.
type run struct {
	name, source string
	host         string
	tags         []string
	number       int // in the order in which they came
	colour       int // of colours, and how often they began again
	off          bool
	buckets      int  // of a curve
	followed     bool // its feed is waited on
	read         bool // what it was has come
	feed         feed.Feed
	open         func(ctx context.Context) (screen.Layer, func(), error)
	h            *history.History
	err          error // why nothing more comes
	group
}

// colours are the inks of runs. Where they begin again, curves are dashed.
var colours = [...]style.Token{style.Train, style.Test, style.Residual, style.NegativeCurvature, style.Limit,
	style.Text, style.NotFinite}

func (r *run) token() style.Token { return colours[r.colour%len(colours)] }

func (r *run) dashed() bool { return r.colour/len(colours)%2 == 1 }

// letter stands for the run where there are no colours.
func (r *run) letter() string {
	if letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"; r.number < len(letters) {
		return letters[r.number : r.number+1]
	}
	return "*"
}

// Buckets of all curves of a name together, and the least of one, so that the runs of a large directory have room in
// memory.
const (
	sharedBuckets = chart.MaxBuckets
	minBuckets    = 256
)

func (r *run) running() bool {
	if len(r.members) > 0 {
		return slices.ContainsFunc(r.members, (*run).running)
	}
	return r.h.Run != nil && !r.h.Over() && r.err == nil && !r.stale()
}

func (r *run) stale() bool { return r.h.Status.Replay != nil && r.h.Status.Replay.Stale != "" }

// state says what a run is doing, in a sign and in a word.
func (r *run) state() (sign style.Part, word string) {
	if len(r.members) > 0 {
		return r.groupState()
	}
	_, loading := r.h.Loading()
	switch d := r.h.Done; {
	case r.err != nil:
		return style.Bad.Of("×"), "lost"
	case d != nil && (d.Reason == event.ReasonDiverged || d.Reason == event.ReasonFailed), r.h.Diverged != nil:
		return style.Bad.Of("×"), "failed"
	case r.h.Over():
		return style.Good.Of("✓"), "ended"
	case r.host != "" && r.h.Status.Replay != nil && strings.Contains(r.h.Status.Replay.Warning, " is away: "):
		return style.Warn.Of("○"), "away"
	case r.h.Run == nil:
		return style.Muted.Of("○"), "waiting"
	case loading:
		return style.Warn.Of("○"), "loading"
	case r.stale():
		return style.Good.Of("✓"), "ended"
	case r.h.Status.Phase == event.Paused:
		return style.Warn.Of("○"), "paused"
	case r.h.Status.Replay != nil && !r.h.Status.Replay.Quiet.IsZero():
		return style.Warn.Of("○"), "quiet"
	}
	return style.Good.Of("●"), "running"
}

// sign is a stretch of the run's curves, or its letter where there are no colours.
func signOf(m *model, r *run, shown bool) style.Part {
	switch {
	case !shown:
		return style.Muted.Of("· ")
	case m.NoColor || m.Glyphs.ASCII || m.ThemeChoice == style.ThemeMono:
		return style.Text.Of(r.letter() + " ")
	case r.dashed():
		return r.token().Of("╌╌")
	}
	return r.token().Of("━━")
}

// shownRuns are the runs as the grid takes them: the selected one over the others, and the pinned one over all.
func shownRuns(m *model) (out []metrics.Run) {
	for _, r := range m.shown() {
		if len(r.members) > 0 {
			together(&m.list, r)
		}
		color := r.token()
		if m.faded && r != m.at && r != m.pinned {
			color = style.Grid
		}
		out = append(out, metrics.Run{Name: r.name, H: r.h, Token: color, Mark: rune(r.letter()[0]),
			Dashed: r.dashed(),
			Front:  r == m.at, Thick: r == m.pinned, Tag: r.letter()})
	}
	return out
}

// epoch is the latest one that a run has told.
func (r *run) epoch() string {
	epochs, latest := 0, 0
	for _, of := range r.each() {
		epochs, latest = epochs+of.h.Epochs, max(latest, of.h.Latest.Epoch)
	}
	if epochs == 0 {
		return "–"
	}
	return format.Count(latest)
}

// settings are what a run was begun with, by lower-case names; parts of parts are joined by dots.
func (r *run) settings() map[string]any {
	out := map[string]any{}
	if r.h.Run != nil {
		flat := map[string]any{}
		history.Flatten(flat, "", r.h.Run.Settings)
		for k, v := range flat {
			out[strings.ToLower(k)] = v
		}
	}
	if r.host != "" {
		out["host"] = r.host
	}
	if len(r.tags) > 0 {
		out["tags"] = strings.Join(r.tags, " ")
	}
	return out
}

// remaining is how long the run will still take, "" if that is not known.
func (r *run) remaining() string {
	s := &r.h.Status
	if len(r.members) > 0 || !r.running() || s.EpochLimit <= s.Epoch || s.Epoch == 0 || !(s.Elapsed > 0) {
		return ""
	}
	return format.Clock(s.Elapsed / float64(s.Epoch) * float64(s.EpochLimit-s.Epoch))
}

// each are a run, or those of a group.
func (r *run) each() []*run {
	if len(r.members) > 0 {
		return r.members
	}
	return []*run{r}
}

// groupState is the state of a group: running if one of its runs is, else what is not just ended, if anything.
func (r *run) groupState() (sign style.Part, word string) {
	for _, of := range r.members {
		if s, w := of.state(); word == "" || w == "running" || word == "ended" {
			if sign, word = s, w; w == "running" {
				break
			}
		}
	}
	return sign, word
}

// measure is what a run is judged by, or the first of a group's.
func (r *run) measure() event.Measure { return r.each()[0].h.Measure }
