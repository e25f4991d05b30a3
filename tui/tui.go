// Package tui is the terminal UI: a dashboard of a run, a comparison of recorded runs and the board of a search. It shows
// what others publish and sends commands; it knows none of the mathematics. The screens and what they share are packages
// of their own below it.
package tui

import (
	"context"

	"newtop/trainer/feed"
	"newtop/tui/compare"
	"newtop/tui/dashboard"
	"newtop/tui/screen"
	"newtop/tui/tuning"
)

// Options are what all screens are opened with.
type Options = screen.Options

// Compared is a recorded run as Compare shows it.
type Compared = compare.Recorded

// MostCompared is how many runs Compare shows at most.
const MostCompared = compare.Most

// Searching is a search for settings as Tune shows it.
type Searching = tuning.Search

// Run shows a feed until the user quits, the context ends or the program fails, and restores the terminal on every way
// out, a panic included. It returns the context's error if that ended it. Signals are the caller's: they are expected to
// end the context.
func Run(ctx context.Context, f feed.Feed, o Options) error { return dashboard.Run(ctx, f, o) }

// Compare shows recorded runs over one another like Run. It panics without runs, or with more than MostCompared.
func Compare(ctx context.Context, runs []Compared, o Options) error { return compare.Run(ctx, runs, o) }

// Tune shows a search like Run. A user who quits while it is under way stops it first, and Tune returns when its last
// Leaderboard was seen, or at once if asked a third time.
func Tune(ctx context.Context, s Searching, o Options) error { return tuning.Run(ctx, s, o) }
