package job

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/trainer/store"
)

// StoreFlags is the run store of commands that look at runs.
type StoreFlags struct{ File string }

// Add declares --record, for cmd and the commands below it.
func (a *StoreFlags) Add(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&a.File, "record", "",
		"database `FILE` with the runs; empty: runs.db in the state directory")
	flags.Files(cmd, "record", "db")
}

// EmptyError says that there is no run store in the default place yet.
type EmptyError struct{ file string }

func (e *EmptyError) Error() string {
	return e.file + ": no run is recorded yet: newtop and newtop train record every one"
}

// Path returns the store's file, which may be none.
func (a *StoreFlags) Path() (string, error) { return storePath(a.File) }

// With opens the store, and closes it after what is done with it.
func (a *StoreFlags) With(o store.Options, do func(*store.Store) error) (err error) {
	s, err := a.Open(o)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	return do(s)
}

// Open opens the store. An error that there is none in the default place is an *EmptyError.
func (a *StoreFlags) Open(o store.Options) (*store.Store, error) {
	s, err := OpenStore(a.File, o)
	if errors.Is(err, fs.ErrNotExist) && a.File == "" {
		if file, pathErr := store.DefaultPath(); pathErr == nil {
			return nil, &EmptyError{file}
		}
	}
	return s, err
}

// Find returns the run of a name, and warns of one whose row is damaged but can be read.
func Find(cmd *cobra.Command, s *store.Store, name string) (*store.Run, error) {
	r, err := s.Find(cmd.Context(), name)
	if err == nil && r.Damage != nil {
		print.Warn(cmd.ErrOrStderr(), print.OneLine(r.Damage))
	}
	return r, err
}

// FindRuns returns the runs of the names, in their order.
func FindRuns(cmd *cobra.Command, s *store.Store, names []string) ([]*store.Run, error) {
	runs := make([]*store.Run, len(names))
	for i, name := range names {
		r, err := Find(cmd, s, name)
		if err != nil {
			return nil, err
		}
		runs[i] = r
	}
	return runs, nil
}

// completed is how many runs a shell is offered.
const completed = 50

// Complete offers the names of runs to a shell, for as many arguments as most; 0 is any number. Beside them it offers
// what the directive says, such as files. Trials of searches are offered once something is typed.
func (a *StoreFlags) Complete(most int, beside cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		err := a.With(store.Options{ReadOnly: true}, func(s *store.Store) error {
			runs, err := s.Runs(cmd.Context(), store.Filter{Text: begun, Limit: completed, Alone: begun == ""})
			for i := range runs {
				r := &runs[i]
				about := fmt.Sprintf("%s %s, %s, %d epochs, %s", r.DataName(), r.Method(),
					print.When(r.Started, time.Now()), r.Epoch(), r.State)
				for _, name := range []string{r.Name, r.ID} {
					if name != "" {
						out = append(out, cobra.CompletionWithDesc(print.Printable(name), print.Printable(about)))
					}
				}
			}
			return err
		})
		if err != nil {
			return nil, beside
		}
		return out, beside
	}
}
