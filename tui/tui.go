// Package tui is the terminal UI: a dashboard of a run, the list of recorded runs, the board of a search, and a
// workspace of several runs, watched or recorded. It shows what others publish and sends commands; it knows none of the
// mathematics. The screens and what they share are packages of their own below it.
package tui

import (
	"context"
	"errors"

	"newtop/internal/routine"
	"newtop/internal/rundiff"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/logs/files"
	"newtop/trainer/store"
	"newtop/trainer/stream"
	"newtop/trainer/tune"
	"newtop/tui/dashboard"
	"newtop/tui/runs"
	"newtop/tui/screen"
	"newtop/tui/system"
	"newtop/tui/tuning"
	"newtop/tui/workspace"
)

// Options are what all screens are opened with.
type Options = screen.Options

// MaxCompared is how many recorded runs are compared on the screen at most.
const MaxCompared = 32

// Searching is a search for settings as Tune shows it.
type Searching = tuning.Search

// Run shows a feed until the user quits, the context ends or the program fails, and restores the terminal on every way
// out, a panic included. It returns the context's error if that ended it. Signals are the caller's: they are expected
// to end the context.
func Run(ctx context.Context, f feed.Feed, o Options) error { return dashboard.Run(ctx, f, o) }

// Compare shows recorded runs of a store over one another like Run.
func Compare(ctx context.Context, s *store.Store, ids []string, o Options) error {
	l, closed, err := compared(ctx, s, ids, o)
	if err != nil {
		return err
	}
	defer closed()
	return screen.NewStack(l).Run(ctx, o)
}

// Tune shows a search like Run. A user who quits while it is under way stops it first, and Tune returns when its last
// Leaderboard was seen, or at once if asked a third time. Its trials' runs are in a store.
func Tune(ctx context.Context, s Searching, runs *store.Store, o Options) error {
	return tuning.Run(ctx, s, trials(runs, o), o)
}

// trials opens the runs of a search's trials.
func trials(s *store.Store, o Options) tuning.Opener {
	return func(ctx context.Context, t *tune.Trial) (screen.Layer, func(), error) {
		var console files.Path
		if t.Dir != "" {
			console = files.Here(t.Dir).Join(tune.ConsoleFile)
		}
		return recorded(ctx, s, t.Run, console, o)
	}
}

// recorded opens the screen of a run of a store, with what its program printed to a file; the zero path for none.
func recorded(ctx context.Context, s *store.Store, id string, console files.Path, o Options) (screen.Layer, func(),
	error) {
	source, err := s.Source(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if console.Name != "" {
		source = stream.WithConsole(source, console)
	}
	w, closed := Play(ctx, source, id, stream.Options{}, o)
	return Layer(w.Feed, o), func() { _ = closed() }, nil // the feed has told of its error
}

// Host is a machine of System.
type Host = system.Host

// System shows how machines do and which processes use their GPUs, like Run.
func System(ctx context.Context, hosts []Host, o Options) error { return system.Run(ctx, hosts, o) }

// Layer returns the screen of a feed to stand over another one. The feed stays open.
func Layer(f feed.Feed, o Options) screen.Layer {
	o.Browse = nil
	return dashboard.Layer(f, o)
}

// Watched is a run of a Workspace.
type Watched = workspace.Watched

// Workspace shows several runs that are watched at once like Run, and says that older ones are left out, if any are.
// more brings runs that are found later, and may be nil or closed. The feeds stay open.
func Workspace(ctx context.Context, runs []Watched, left int, more <-chan Watched, o Options) error {
	return workspace.Run(ctx, runs, left, more, o)
}

// Recorded is the run store that Browse lists, and what is shown of it.
type Recorded struct {
	Store *store.Store
	// Search reads a search for Tune; the context ends what it waits for.
	Search func(ctx context.Context, name string) (Searching, error)
	// Unresumable says why a run can't be resumed, "" if it can; nil: that is not to be had.
	Unresumable func(r *store.Run) string
}

// Browse lists recorded runs like Run, with the screens of what is chosen over the list. It returns the ID of a run
// that the user left to continue with, "" for none. The store stays open.
func Browse(ctx context.Context, r Recorded, o Options) (resume string, err error) {
	m := runs.New(r.Store, r.host(o), o)
	err = screen.NewStack(m).Run(ctx, o)
	if err == nil {
		err = m.Flush()
	}
	return m.Resume(), err
}

// Browser returns the list of recorded runs for Options.Browse: it stands over a run's screen, and closed is called
// when it was left.
func Browser(r Recorded, o Options, closed func() error) (screen.Layer, func()) {
	m := runs.New(r.Store, r.host(o), o)
	return m, func() {
		// Nobody could read of an error here.
		_ = errors.Join(m.Flush(), closed())
	}
}

// host opens the screens over the list.
func (r Recorded) host(o Options) runs.Host {
	return runs.Host{
		MaxCompared: MaxCompared,
		Watch: func(ctx context.Context, id string) (screen.Layer, func(), error) {
			return recorded(ctx, r.Store, id, files.Path{}, o)
		},
		Compare: func(ctx context.Context, ids []string) (screen.Layer, func(), error) {
			return compared(ctx, r.Store, ids, o)
		},
		Search: func(ctx context.Context, name string) (screen.Layer, func(), error) {
			s, err := r.Search(ctx, name)
			if err != nil {
				return nil, nil, err
			}
			return tuning.New(s, trials(r.Store, o), o), nil, nil
		},
		Unresumable: r.Unresumable,
	}
}

// Play returns a run of a Workspace that plays a source until the context ends or closed is called, which says why the
// source could not be played.
func Play(ctx context.Context, source stream.Source, name string, how stream.Options, o Options) (w Watched,
	closed func() error) {
	ctx, cancel := context.WithCancel(ctx)
	player := stream.NewPlayer(source, how)
	f := player.Feed()
	ended := make(chan error, 1)
	routine.Go(func() {
		err := player.Run(ctx)
		if ctx.Err() != nil {
			err = nil
		}
		ended <- err
	})
	w = Watched{Name: name, Feed: f, Source: source.Name(),
		Open: func(context.Context) (screen.Layer, func(), error) {
			own := player.Feed()
			return Layer(own, o), own.Close, nil
		}}
	return w, func() error {
		cancel()
		err := <-ended
		f.Close()
		return err
	}
}

// Skim returns a run of a Workspace that is read when the workspace has time for it, of which nothing is kept but what
// that draws. open opens its source, once more for the run's own screen. closed says why it could not be read.
func Skim(open func() (stream.Source, error), name, source string, how stream.Options, o Options) (w Watched,
	closed func() error) {
	f, closed := stream.Skim(open)
	return Watched{Name: name, Feed: f, Source: source,
		Open: func(ctx context.Context) (screen.Layer, func(), error) {
			own, err := open()
			if err != nil {
				return nil, nil, err
			}
			w, closed := Play(ctx, own, name, how, o)
			return Layer(w.Feed, o), func() { _ = closed() }, nil // the feed has told of its error
		}}, closed
}

// compared is the screen of recorded runs over one another.
func compared(ctx context.Context, s *store.Store, ids []string, o Options) (l screen.Layer, closed func(), err error) {
	var ends []func() error
	closed = func() {
		for _, end := range ends {
			_ = end() // the feed has told of its error
		}
	}
	openings, names := make([]*event.RunEvent, len(ids)), make([]string, len(ids))
	runs := make([]Watched, len(ids))
	for i, id := range ids {
		r, err := s.Find(ctx, id)
		if err != nil {
			closed()
			return nil, nil, err
		}
		w, end := Skim(func() (stream.Source, error) { return s.Source(ctx, r.ID) }, r.ID, r.ID, stream.Options{}, o)
		w.Tags = r.Tags
		openings[i], names[i], runs[i], ends = r.Opening, r.Name, w, append(ends, end)
	}
	for i, label := range rundiff.Labels(openings, names) {
		runs[i].Name = label
	}
	return workspace.Compare(runs, o), closed, nil
}
