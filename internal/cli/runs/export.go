package runs

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/atomicfile"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/models/modelfile"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// exporter writes a run in a format of other programs.
type exporter struct{ format, file string }

// exports are the formats, by name.
var exports = []struct {
	name, meaning string
	write         func(*exporter, *cobra.Command, *store.Store, *store.Run) error
}{
	{"csv", "a row an epoch", (*exporter).csv},
	{"jsonl", "the events, as train --format jsonl prints them", (*exporter).jsonl},
	{"tensorboard", "a directory that TensorBoard reads", (*exporter).tensorboard},
	{"safetensors", "the latest checkpoint's weights", (*exporter).weights},
	{"onnx", "the same as a graph for runtimes", (*exporter).weights},
}

func newRunsExport(a *job.StoreFlags) *cobra.Command {
	var x exporter
	var names, meanings []string
	for _, e := range exports {
		names = append(names, e.name)
		meanings = append(meanings, e.name+": "+e.meaning)
	}
	cmd := &cobra.Command{
		Use: "export RUN",
		Short: "Write a recorded run as " + strings.Join(names[:len(names)-1], ", ") + " or " +
			names[len(names)-1],
		Example: "newtop runs export last --format csv > run.csv\nnewtop runs export last --format " +
			"tensorboard -o logs/run1",
		Args:              flags.OneArgument("a run's ID or name, or last"),
		ValidArgsFunction: a.Complete(1, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, e := range exports {
				if e.name != x.format {
					continue
				}
				return a.With(store.Options{ReadOnly: true}, func(s *store.Store) error {
					r, err := job.Find(cmd, s, args[0])
					if err != nil {
						return err
					}
					return e.write(&x, cmd, s, r)
				})
			}
			return flags.OneOf("--format", x.format, names...)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&x.format, "format", "csv", strings.Join(meanings, "; "))
	flags.Choices(cmd, "format", names...)
	set.StringVarP(&x.file, "output", "o", "",
		"`FILE` or directory; empty: standard output, or a file named by the run's ID for formats that need one")
	return cmd
}

// output calls write with the file of -o, which is there as a whole or not at all, or with standard output.
func (x *exporter) output(cmd *cobra.Command, write func(io.Writer) error) error {
	if x.file == "" || x.file == "-" {
		w := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
		return cmp.Or(write(w), w.Flush())
	}
	_, err := atomicfile.Write(x.file, write)
	return err
}

// events calls each with every event of a run, and ends with its error. It warns of a run that is not whole.
func events(cmd *cobra.Command, s *store.Store, r *store.Run, each func(event.Event) error) error {
	lost, err := readable(cmd.Context(), s, r, each)
	if lost != nil {
		print.Warn(cmd.ErrOrStderr(), print.OneLine(lost))
	}
	if text := thinnedText(r); text != "" && err == nil {
		print.Warn(cmd.ErrOrStderr(), "run "+r.ID+": "+text)
	}
	return err
}

// readable is events without a word; lost says which events could not be read.
func readable(ctx context.Context, s *store.Store, r *store.Run, each func(event.Event) error) (lost *store.DamageError,
	err error) {
	_, failed := s.Events(ctx, r.ID, 0, func(e event.Event) bool {
		err = each(e)
		return err == nil
	})
	if errors.As(failed, &lost) {
		failed = nil
	}
	return lost, cmp.Or(err, failed)
}

// thinnedText says that a run's history is not whole; empty for one that is.
func thinnedText(r *store.Run) string {
	if r.Thinned == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %d were thinned out of its history", print.Count(r.Thinned, "epoch"), r.Epochs)
}

func (x *exporter) jsonl(cmd *cobra.Command, s *store.Store, r *store.Run) error {
	return x.output(cmd, func(w io.Writer) error { return events(cmd, s, r, trainer.NewJSONLines(w).Record) })
}

// csv writes an epoch a row, what is told late in a row of its own: the fields of the event, the inner iterations and
// solves in all, and a method's own figures. What an epoch lacks is empty.
func (x *exporter) csv(cmd *cobra.Command, s *store.Store, r *store.Run) error {
	keys, err := metricKeys(cmd, s, r)
	if err != nil {
		return err
	}
	head := append(fieldNames(reflect.TypeFor[event.EpochEvent]()), "inner_solves", "inner_iterations")
	for _, key := range keys {
		head = append(head, "figure."+key)
	}
	return x.output(cmd, func(out io.Writer) error {
		w := csv.NewWriter(out)
		w.Write(head) // an error stays in w
		err := events(cmd, s, r, func(e event.Event) error {
			epoch, ok := e.(event.EpochEvent)
			if !ok {
				return nil
			}
			late, own := epoch.Late()
			for _, e := range append(late, own) {
				row := append(fieldTexts(reflect.ValueOf(e)), strconv.Itoa(len(e.Inner)), strconv.Itoa(iterations(&e)))
				for _, key := range keys {
					row = append(row, floatText(print.MetricOf(key)(&e)))
				}
				w.Write(row)
			}
			return w.Error()
		})
		if err != nil {
			return err
		}
		w.Flush()
		return w.Error()
	})
}

// iterations returns how many inner iterations an epoch took.
func iterations(e *event.EpochEvent) (n int) {
	for i := range e.Inner {
		n += e.Inner[i].Iterations
	}
	return n
}

// metricKeys returns the keys of the figures that the methods of a run have of their own, in the order of their
// first epochs.
func metricKeys(cmd *cobra.Command, s *store.Store, r *store.Run) (keys []string, err error) {
	seen := map[string]bool{}
	_, err = readable(cmd.Context(), s, r, func(e event.Event) error {
		if e, ok := e.(event.EpochEvent); ok {
			for i := range e.Metrics {
				m := &e.Metrics[i]
				if key := m.Key; !seen[key] && (!m.Late() || !event.IsQuantity(key)) {
					seen[key] = true
					keys = append(keys, key)
				}
			}
		}
		return nil
	})
	return keys, err
}

// simple reports whether a field is one value, for a cell of a table.
func simple(f reflect.StructField) bool {
	switch f.Type.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		return true
	}
	return f.Type == reflect.TypeFor[time.Time]()
}

// fieldNames returns the names of a type's simple fields, as JSON has them.
func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if f := t.Field(i); simple(f) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// fieldTexts returns the values of a struct's simple fields; a number that is missing is empty.
func fieldTexts(v reflect.Value) (texts []string) {
	for i := range v.NumField() {
		if !simple(v.Type().Field(i)) {
			continue
		}
		switch f := v.Field(i).Interface().(type) {
		case event.Float:
			texts = append(texts, floatText(f))
		case time.Time:
			texts = append(texts, f.Format(time.RFC3339Nano))
		default:
			texts = append(texts, fmt.Sprint(f))
		}
	}
	return texts
}

// floatText writes a number with as many digits as it needs; one that is not finite is empty.
func floatText(f event.Float) string {
	text, err := f.MarshalJSON()
	if err != nil || string(text) == "null" {
		return ""
	}
	return string(text)
}

// weights writes the weights of the latest checkpoint. The data are loaded again, for the names of the columns and
// how they are scaled.
func (x *exporter) weights(cmd *cobra.Command, s *store.Store, r *store.Run) error {
	from, passed, err := s.Checkpoint(cmd.Context(), r.ID)
	if err != nil {
		return err
	}
	if passed != nil {
		print.Warn(cmd.ErrOrStderr(), fmt.Sprintf("%s; the weights are from the checkpoint before it, of epoch %d",
			print.OneLine(passed), from.Epoch))
	}
	if from == nil {
		return fmt.Errorf("run %s: it has no checkpoint, so no weights", r.ID)
	}
	file := x.file
	if file == "" {
		file = fmt.Sprintf("%s-e%d.%s", filepath.Base(r.ID), from.Epoch, x.format)
	}
	if format, err := modelfile.Format(file); err != nil || format != x.format {
		return flags.Invalid("--output", file, "a name that ends in ."+x.format)
	}
	e, err := trainer.Export(r.Config, from, r.Opening, file)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: epoch %d, %s\n", e.File, e.Epoch, print.Bytes(e.Bytes))
	if last := r.Last; last != nil && last.Epoch > from.Epoch {
		print.Warn(cmd.ErrOrStderr(),
			fmt.Sprintf("the latest checkpoint is of epoch %d, and the run is at epoch %d", from.Epoch,
				last.Epoch))
	}
	return nil
}
