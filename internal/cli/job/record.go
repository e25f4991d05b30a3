package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/version"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
)

// Record is a run's place in a run store. A nil record is a run that is not kept.
type Record struct {
	store    *store.Store
	recorder *recorder.Recorder // nil where the store could not be opened
	path     string             // what --record says in commands that name the run; empty for the default
	trouble  string             // why the run is not kept, though it should be
}

// keepRecord opens the store of --record for a new run, which with sole has to have its name alone. The default place
// must not keep anyone from training, but for that: what is wrong there is said and the run goes without one.
func keepRecord(f *flags.Run, cmd *cobra.Command, c trainer.Config, exclusive bool) (*Record, error) {
	if f.Store == flags.Unrecorded {
		return nil, nil
	}
	if f.Name != "" {
		if err := store.CheckName(f.Name); err != nil {
			return nil, err
		}
	}
	s, err := OpenStore(f.Store, store.Options{})
	if err != nil && (exclusive || f.Store != "") {
		return nil, err
	}
	if err != nil {
		trouble := print.OneLine(err)
		print.Warn(cmd.ErrOrStderr(),
			"this run is not recorded: "+trouble+"; use --record FILE for another file, or --record off")
		return &Record{trouble: trouble}, nil
	}
	warnOfNetwork(cmd.ErrOrStderr(), s)
	if last, err := s.LastChange(cmd.Context()); err == nil && time.Until(last) > clockSlack {
		print.Warn(cmd.ErrOrStderr(),
			fmt.Sprintf("this machine's clock is behind: it says %s, and the last run in the record is of %s",
				time.Now().UTC().Format(time.DateTime), last.UTC().Format(time.DateTime)))
	}
	about := recorder.About{Config: flags.Absolute(c), Command: cmd.Root().Annotations[flags.CommandLine], Name: f.Name,
		Exclusive: exclusive, Version: version.Program()}
	return &Record{store: s, recorder: recorder.New(s, about), path: f.Store}, nil
}

// clockSlack is how far the clocks of machines with one record may be apart before it is said.
const clockSlack = 5 * time.Minute

// warnOfNetwork says what doesn't work with a record that several hosts see.
func warnOfNetwork(w io.Writer, s *store.Store) {
	if network := s.Network(); network != "" {
		print.Warn(w,
			fmt.Sprintf("%s is on %s, where SQLite's log does not work between hosts: watch the run on this host "+
				"(ssh HOST newtop watch) or with --serve",
				s.Path(), network))
	}
}

// OpenStore opens the run store in a file, or in the default place for an empty name.
func OpenStore(file string, o store.Options) (*store.Store, error) {
	file, err := storePath(file)
	if err != nil {
		return nil, err
	}
	return store.Open(file, o)
}

// storePath returns the default place for an empty name.
func storePath(file string) (string, error) {
	switch file {
	case flags.Unrecorded:
		return "", flags.Invalid("--record", file, "a database with recorded runs")
	case "":
		return store.DefaultPath()
	}
	return file, checkDirectory(file)
}

// checkDirectory refuses a file in a directory that is not there, as of a name that is misspelt. The directory of the
// default place is made.
func checkDirectory(file string) error {
	usual, err := store.DefaultPath()
	dir := filepath.Dir(file)
	if err == nil && filepath.Dir(usual) == dir {
		return nil
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return flags.Invalid("--record", file, "a file in a directory that is there: "+dir+" is not")
	}
	return nil
}

// recorders returns what the session has to record into.
func (r *Record) recorders() []trainer.Recorder {
	switch {
	case r == nil:
		return nil
	case r.recorder == nil:
		return []trainer.Recorder{(*troubled)(r)}
	}
	return []trainer.Recorder{r.recorder}
}

// troubled keeps nothing and says why on the screen.
type troubled Record

func (*troubled) Record(event.Event) error { return nil }
func (*troubled) Flush() error             { return nil }
func (r *troubled) Recording() event.Recording {
	return event.Recording{Warning: r.trouble}
}

// announce has trouble with the record printed as it comes and goes.
func (r *Record) announce(w io.Writer) {
	if r == nil || r.recorder == nil {
		return
	}
	r.recorder.OnWarning(func(text string) {
		if text == "" {
			text = "the run is being recorded again"
		}
		print.Warn(w, text)
	})
}

// complain prints what is wrong with a record in the end, where it was not printed as it came.
func (r *Record) complain(w io.Writer) {
	if r == nil || r.recorder == nil { // which was said at the start
		return
	}
	if text := r.recorder.Recording().Warning; text != "" {
		print.Warn(w, text)
	}
}

// close gives the store back after the session has ended.
func (r *Record) close() error {
	if r == nil || r.store == nil {
		return nil
	}
	return r.store.Close()
}

// abandon ends a record before anything came into it.
func (r *Record) abandon() {
	if r != nil && r.recorder != nil {
		r.recorder.Flush()
	}
}

// missing returns the error that a run ends with which came to its end and is not recorded as a whole.
func (r *Record) missing(ctx context.Context) error {
	switch {
	case r == nil:
		return nil
	case r.recorder == nil:
		return &print.ExitError{Code: print.ExitUnrecorded, Err: errors.New("the run is not recorded: " + r.trouble)}
	}
	return Missing(ctx, r.recorder)
}

// Missing is the error of a record that is over and not whole.
func Missing(ctx context.Context, r *recorder.Recorder) error {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := r.Missing(ctx); err != nil {
		return &print.ExitError{Code: print.ExitUnrecorded, Err: err}
	}
	return nil
}

// report says where the run is kept, and how it is looked at, or resumed where it was cut short.
func (r *Record) report(w io.Writer, cut bool) {
	if name := r.name(); name != "" {
		fmt.Fprintf(w, "recorded as %s: %s\n", name, r.command(cut))
	}
}

// name returns what the store calls the run, its name or its ID; empty as long as it has neither, and where the store's
// file is gone.
func (r *Record) name() string {
	if r == nil || r.recorder == nil {
		return ""
	}
	if _, err := os.Stat(r.store.Path()); err != nil {
		return ""
	}
	return r.recorder.Recording().Run
}

// command returns the command that looks at the run, or continues with it.
func (r *Record) command(cut bool) string {
	name := r.name()
	if idForm.MatchString(name) {
		name = print.ShortID(name)
	}
	what := "newtop runs show "
	if cut {
		what = "newtop resume "
	}
	return what + format.Quote(name) + flags.AtStore(r.path)
}

// idForm is how an ID looks that a run is given.
var idForm = regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{6}$`)
