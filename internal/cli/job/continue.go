package job

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/trainer"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
)

// How long a run that continues waits for its last process to be gone. One on another machine counts as alive for ten
// seconds after it was last heard of; one on this machine that was told to end takes a moment for it.
const (
	ownerPatience = 15 * time.Second
	endPatience   = 3 * time.Second
)

// AddContinue declares --continue.
func AddContinue(cmd *cobra.Command, resume *bool) {
	set := cmd.Flags()
	set.BoolVar(resume, "continue", false,
		"resume the recorded run of this --name where it stopped, or start it if there is none")
	flags.Under(flags.Recording, set, "continue")
}

// Start returns the run that c says: a new one, or with goOn the rest of the one that has the name.
func Start(f *flags.Run, cmd *cobra.Command, c trainer.Config, resume bool) (*Job, error) {
	if err := KeepInput(cmd, &c); err != nil {
		return nil, err
	}
	if resume {
		if f.Name == "" || f.Store == flags.Unrecorded {
			return nil, flags.Invalid("--continue", "true", "a recorded run, and --name NAME to find it by")
		}
		j, err := restOf(f, cmd, c)
		if j != nil || err != nil {
			return j, err
		}
	}
	WarnOfUnused(cmd, &c)
	decisions := ResolveDefaults(&c)
	r, err := keepRecord(f, cmd, c, resume)
	if err != nil {
		return nil, err
	}
	return &Job{config: c, record: r, decisions: decisions}, nil
}

// restOf returns what is left of the run of the name; nil if there is none.
func restOf(f *flags.Run, cmd *cobra.Command, c trainer.Config) (*Job, error) {
	r := Resumption{Store: StoreFlags{f.Store}, Flags: *f, again: true}
	var run *store.Run
	err := r.Store.With(store.Options{ReadOnly: true}, func(st *store.Store) (err error) {
		run, err = st.Find(cmd.Context(), f.Name)
		return err
	})
	// of which newtop serve has another default than newtop train
	if run != nil && !f.Given(cmd, "spectrum-every") {
		c.SpectrumEvery, c.SpectrumShare = run.Config.SpectrumEvery, run.Config.SpectrumShare
	}
	settled := c
	settled.ResolveDefaults()
	var (
		none  *store.NotFoundError
		empty *EmptyError
	)
	switch {
	case errors.As(err, &none), errors.As(err, &empty), errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case run.Name != f.Name: // it is another's ID that this is the beginning or the end of
		return nil, nil
	// as those of before
	case !flags.SameProblem(run.Config, flags.Absolute(settled)) && !flags.SameProblem(run.Config, flags.Absolute(c)):
		return nil, &OtherFlagsError{run: run.Name, command: run.Command}
	}
	return r.Job(cmd, run.ID)
}

// claim makes this process the one that records a run. One that continues by itself waits a while for the last process.
func (r *Resumption) claim(cmd *cobra.Command, s *store.Store, id string) (*recorder.Recorder, error) {
	var busy *store.BusyError
	for begin, decisions := time.Now(), false; ; {
		recorder, err := recorder.Continue(cmd.Context(), s, id)
		if !r.again || !errors.As(err, &busy) || time.Since(begin) > ownerPatience || busy.Sure &&
			time.Since(begin) > endPatience {
			return recorder, err
		}
		if !decisions && !busy.Sure {
			fmt.Fprintf(cmd.ErrOrStderr(), "waiting for %s, which recorded the run\n", busy.Owner)
			decisions = true
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-cmd.Context().Done():
			return nil, cmd.Context().Err()
		}
	}
}

// OtherFlagsError says that a run was begun with other flags than those it is to continue with.
type OtherFlagsError struct{ run, command string }

func (e *OtherFlagsError) Error() string {
	return "run " + e.run + " was started with other flags: expected another --name, or those of " + e.command
}
