package runs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
	"newtop/internal/tfevents"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// tensorboard writes an event file into a directory: a step an epoch, its wall time when it would have ended had the
// run not paused. Numbers are single precision in it.
func (x *exporter) tensorboard(cmd *cobra.Command, s *store.Store, r *store.Run) error {
	dir := x.file
	if dir == "" {
		dir = filepath.Base(r.ID)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	begun := r.Started
	if r.Opening != nil {
		begun = r.Opening.Time
	}
	path := filepath.Join(dir, fmt.Sprintf("events.out.tfevents.%d.%s", begun.Unix(), print.ShortID(r.ID)))
	file := exporter{file: path}
	err := file.output(cmd, func(out io.Writer) error {
		wall := float64(begun.UnixNano()) / float64(time.Second)
		w, err := tfevents.NewWriter(out, wall)
		if err != nil {
			return err
		}
		start := wall
		return events(cmd, s, r, func(e event.Event) error {
			switch e := e.(type) {
			case event.EpochEvent:
				if e.Elapsed.Finite() {
					wall = start + float64(e.Elapsed)
				}
				return w.Write(scalars(&e, wall)...)
			case event.SpectrumEvent:
				return w.Write(eigenvalues(&e, wall)...)
			}
			return nil
		})
	})
	if err == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), path)
	}
	return err
}

// scalars returns an epoch's curves. TensorBoard puts tags with the same first part side by side.
func scalars(e *event.EpochEvent, wall float64) (out []tfevents.Scalar) {
	add := func(tag string, v event.Float) {
		if !v.Absent() { // a float there may be any
			out = append(out, tfevents.Scalar{Tag: tag, Step: int64(e.Epoch), Wall: wall, Value: float64(v)})
		}
	}
	late, own := e.Late()
	for i := range late {
		out = append(out, scalars(&late[i], wall)...)
	}
	e = &own
	for q := range event.QuantityCount {
		if tag := q.Info().Tag; tag != "" {
			add(tag, *q.Of(e))
		}
	}
	add("work/inner_iterations", e.InnerIterations())
	for i := range e.Metrics {
		add("method/"+e.Metrics[i].Key, e.Metrics[i].Value)
	}
	return out
}

// eigenvalues returns the ends of a spectrum.
func eigenvalues(e *event.SpectrumEvent, wall float64) []tfevents.Scalar {
	n := len(e.Eigenvalues)
	if n == 0 {
		return nil
	}
	at := func(name string, v event.Float) tfevents.Scalar {
		return tfevents.Scalar{Tag: "spectrum/" + name, Step: int64(e.Epoch), Wall: wall, Value: float64(v)}
	}
	return []tfevents.Scalar{at("largest", e.Eigenvalues[0]), at("smallest", e.Eigenvalues[n-1])}
}
