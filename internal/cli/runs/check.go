package runs

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/trainer/store"
	"newtop/trainer/store/upkeep"
)

func newRunsCheck(a *job.StoreFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "check [RUN…]",
		Short: "Look for damage in recorded runs",
		Long: `Read the given runs, or the whole database, and print a line for each damage.
The exit code is 1 if there is any.`,
		Example:           "newtop runs check\nnewtop runs check last --record old.db",
		ValidArgsFunction: a.Complete(0, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.With(store.Options{ReadOnly: true}, func(s *store.Store) error {
				found, err := findAny(cmd, s, names)
				if err != nil {
					return err
				}
				var ids []string
				for _, r := range found {
					ids = append(ids, r.ID)
				}
				return check(cmd, s, ids, a.File)
			})
		},
	}
}

// DamagedError says that a database is not as it was written.
type DamagedError struct {
	file, path string
	count      int
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: %s damaged: newtop runs salvage%s -o NEW.db writes what can be read into a new file",
		e.file, print.CountOf(e.count, "place is", "places are"), flags.AtStore(e.path))
}

func check(cmd *cobra.Command, s *store.Store, ids []string, path string) error {
	report := newFindings(cmd)
	c, err := upkeep.Check(cmd.Context(), s, ids, report.finding)
	if err != nil {
		return err
	}
	if report.err != nil {
		return report.err
	}
	if c.Damaged > 0 {
		return &DamagedError{s.Path(), path, c.Damaged}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: whole: %s, %s, %s\n", print.Printable(s.Path()),
		print.Count(c.Runs, "run"), print.Count(c.Events, "event"), print.Count(c.Checkpoints, "checkpoint"))
	return err
}

// findings prints what is damaged.
type findings struct {
	cmd *cobra.Command
	err error
}

func newFindings(cmd *cobra.Command) *findings { return &findings{cmd: cmd} }

func (t *findings) finding(f upkeep.Finding) {
	text := ""
	if f.Run != "" {
		text = "run " + f.Run + ": "
	}
	if f.Table != "" {
		text += f.Table
		if f.Seq != 0 {
			text += fmt.Sprintf(", event %d", f.Seq)
		}
		text += ": "
	}
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.cmd.OutOrStdout(), print.Printable(text+f.Text))
	}
}

func newRunsSalvage(a *job.StoreFlags) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "salvage -o NEW.db",
		Short: "Write all readable rows of a damaged database to a new one",
		Long: `Write all readable rows of the database of --record to a new one: runs with their
undamaged events and checkpoints, and searches. A line is printed for each part
left out. The damaged file does not change; one with a damaged header, or cut, is
read in a copy.`,
		Example: "newtop runs salvage -o new.db\nnewtop runs salvage --record old.db -o new.db",
		Args:    flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return flags.Invalid("--output", to, "the name of a new file")
			}
			from, err := a.Path()
			if err != nil {
				return err
			}
			report := newFindings(cmd)
			v, err := upkeep.Salvage(cmd.Context(), from, to, report.finding)
			if err != nil || report.err != nil {
				return cmp.Or(err, report.err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s, %s, %s; %s left out\n", print.Printable(to),
				print.Count(v.Runs, "run"), print.Count(v.Rows, "row"),
				print.Count(v.Checkpoints, "checkpoint"), print.CountOf(v.Searches, "search", "searches"),
				print.CountOf(v.Left, "place is", "places are"))
			return err
		},
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "`FILE` of the new database, which must not exist")
	return cmd
}
