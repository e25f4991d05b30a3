package job

import (
	"fmt"
	"io"

	"newtop/internal/cli/print"
	"newtop/trainer"
	"newtop/trainer/event"
)

// ResolveDefaults has the configuration of a run that begins say what it leaves to the data, and returns what is to be
// told of it.
func ResolveDefaults(c *trainer.Config) (lines []string) {
	before := *c
	c.ResolveDefaults()
	if c.Validation != before.Validation {
		lines = append(lines, print.Share(
			c.Validation)+" of the training rows are validation rows and choose the best epoch: --validation 0 "+
			"for none")
	}
	if c.Patience != before.Patience {
		lines = append(
			lines, fmt.Sprintf("the run ends after %d epochs without improvement: --set patience=never to continue",
				c.Patience))
	}
	return lines
}

// noteRecorder passes events on, and tells of a run once that begins what was decided for it and its data: one that
// can't begin has its error alone.
type noteRecorder struct {
	trainer.Recorder
	w     io.Writer
	lines []string // about validation rows
}

func (t *noteRecorder) Record(e event.Event) error {
	if run, begins := e.(event.RunEvent); begins {
		printNotes(t.w, &run)
		if run.Data.ValidationRows > 0 {
			for _, line := range t.lines {
				fmt.Fprintln(t.w, line)
			}
		}
	}
	return t.Recorder.Record(e)
}
