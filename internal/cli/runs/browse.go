package runs

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/trainer/store"
	"newtop/trainer/tune"
	"newtop/tui"
	"newtop/tui/screen"
)

// browses reports whether runs are looked at on the screen: in a terminal, unless a flag of the list says what to
// print.
func browses(cmd *cobra.Command, list *pflag.FlagSet) bool {
	if _, _, ok := print.Terminal(cmd); !ok {
		return false
	}
	printed := false
	list.VisitAll(func(f *pflag.Flag) { printed = printed || cmd.Flags().Changed(f.Name) })
	return !printed
}

// browse lists runs on the screen, and continues with the one that the user left for that.
func browse(cmd *cobra.Command, a *job.StoreFlags, f *flags.Screen) error {
	options, err := f.Options()
	if err != nil {
		return err
	}
	s, err := openAny(a)
	if err != nil {
		return err
	}
	options.Input, options.Output, _ = print.Terminal(cmd)
	resume, err := tui.Browse(cmd.Context(), recorded(cmd, s), options)
	if err = cmp.Or(err, s.Close()); err != nil || resume == "" {
		return err
	}
	next, _, err := cmd.Root().Find([]string{"resume"})
	if err != nil {
		return err
	}
	var args []string
	for _, name := range []string{"record", "theme", "glyphs", "no-mouse"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			args = append(args, "--"+name+"="+f.Value.String())
		}
	}
	if err := next.ParseFlags(args); err != nil {
		return err
	}
	next.SetContext(cmd.Context())
	return next.RunE(next, []string{resume})
}

// Over opens the runs of a record over a run's screen. None of them can be resumed from there: that would end the
// run.
func Over(cmd *cobra.Command, record job.StoreFlags, o screen.Options) func() (screen.Layer, func(), error) {
	return func() (screen.Layer, func(), error) {
		s, err := openAny(&record)
		if err != nil {
			return nil, nil, err
		}
		r := recorded(cmd, s)
		r.Unresumable = nil
		l, closed := tui.Browser(r, o, s.Close)
		return l, closed, nil
	}
}

// openAny opens the store to be changed, or where nobody may, to be read.
func openAny(a *job.StoreFlags) (*store.Store, error) {
	s, err := a.Open(store.Options{Existing: true})
	if err == nil {
		return s, nil
	}
	if s, readErr := a.Open(store.Options{ReadOnly: true}); readErr == nil {
		return s, nil
	}
	return nil, err
}

// recorded is what the screen shows of a store.
func recorded(cmd *cobra.Command, s *store.Store) tui.Recorded {
	return tui.Recorded{
		Store: s,
		Search: func(ctx context.Context, name string) (tui.Searching, error) {
			b, err := tune.Load(ctx, s, flags.Command, name)
			return &storedSearch{store: s, name: name, leaderboard: b}, err
		},
		Unresumable: func(r *store.Run) string {
			if err := job.Unresumable(cmd, r); err != nil {
				return err.Error()
			}
			return ""
		},
	}
}

// storedSearch is a search that others are at, or that is over.
type storedSearch struct {
	store       *store.Store
	name        string
	leaderboard *tune.Leaderboard
	stamp       string // of the store when it was read last
	over        bool   // what was read last is the last
}

// Leaderboard returns the latest one when the search was opened.
func (q *storedSearch) Leaderboard() *tune.Leaderboard { return q.leaderboard }

// Stop does nothing: the search is another's.
func (q *storedSearch) Stop() {}

// Wait reads the search again when the store has changed, as long as somebody is at it.
func (q *storedSearch) Wait(ctx context.Context, _ *tune.Leaderboard) (*tune.Leaderboard, error) {
	const poll, patience = time.Second, 10 * time.Second
	if q.over {
		return nil, io.EOF
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for begun := time.Now(); q.stamp == q.store.Stamp() && time.Since(begun) < patience; {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
	q.stamp = q.store.Stamp()
	w, err := tune.Find(ctx, q.store, q.name)
	if err != nil {
		return nil, err
	}
	q.over = !slices.ContainsFunc(w.Parts, func(p tune.Part) bool { return p.Running })
	return tune.Load(ctx, q.store, flags.Command, q.name)
}
