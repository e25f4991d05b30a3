package watch

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/stream"
)

// TestSaverSays: a record that is not whole is a warning of the source, and the end's error.
func TestSaverSays(t *testing.T) {
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	s, err := newSaver(cmd, job.StoreFlags{File: filepath.Join(t.TempDir(), "runs.db")}, "d")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.DB.Exec("CREATE TRIGGER full BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no room'); END"); err != nil {
		t.Fatal(err)
	}
	source := stream.Tap(stream.Lines(strings.NewReader("step 1 loss 2\n"), "log"), s)
	if err := stream.ReadAll(t.Context(), source, func(e event.Event) error {
		if _, begins := e.(event.RunEvent); begins {
			_, r := s.Recording()
			r.Grace = 0 // it tries once
		}
		return nil
	}, func() {}); err != nil {
		t.Fatal(err)
	}
	exit, ok := errors.AsType[*print.ExitError](s.close(cmd))
	if !ok || exit.Code != print.ExitUnrecorded || !strings.Contains(exit.Error(), "no room") || !strings.Contains(stream.Warning(source), "no room") {
		t.Errorf("%v; the source: %q", exit, stream.Warning(source))
	}
}
