// Package predict has the command that applies a saved model to new rows.
package predict

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/models/modelfile"
)

// predictFlags are those of newtop predict.
type predictFlags struct {
	out    string
	format string
	target string
	dir    string
	rows   string
}

// New returns newtop predict.
func New() *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA",
		Short: "Apply a saved model to new rows",
		Long: `Apply a model that --save or w wrote, .safetensors or .onnx, to the rows of a
CSV file, of standard input (-) or of a data set by its name. Columns are found
by the names in the first line, or else by their places.`,
		Example:           "newtop predict letter.onnx rows.csv --out predictions.csv\nnewtop predict letter.safetensors letter --data-dir ../data --format jsonl",
		Args:              flags.Arguments(2, 2, "two arguments: a saved model, and a CSV file, - or a data set's name"),
		ValidArgsFunction: complete,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], args[1]) },
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.out, "out", "", "`FILE` for the predictions; empty: standard output")
	set.StringVar(&f.format, "format", "csv", "csv, or jsonl: one JSON object a row")
	flags.Choices(cmd, "format", "csv", "jsonl")
	set.StringVar(&f.target, "target", "", "`COLUMN` with what is to be predicted, to compare; empty: the model's, if it is there")
	set.StringVar(&f.dir, "data-dir", "", "`DIR` where real data sets are; empty: the cache that newtop data fetch fills")
	set.StringVar(&f.rows, "rows", "test", "which rows of a data set: test, train or all")
	flags.Choices(cmd, "rows", "test", "train", "all")
	flags.Complete(cmd, "data-dir", flags.Directories)
	return cmd
}

// complete offers a shell the files of models, and behind one data.
func complete(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return []cobra.Completion{"safetensors", "onnx"}, cobra.ShellCompDirectiveFilterFileExt
	case 1:
		return flags.DataSets(cmd, args, begun)
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// run checks what can be checked before the first row.
func (f *predictFlags) run(cmd *cobra.Command, model, data string) (err error) {
	if err := flags.OneOf("--format", f.format, "csv", "jsonl"); err != nil {
		return err
	}
	m, err := modelfile.Read(model)
	if err != nil {
		return err
	}
	source, err := launch.Until(cmd.Context(), func() (rowSource, error) { return f.open(cmd, m, data) })
	if err != nil {
		return err
	}
	defer source.Close()
	out := cmd.OutOrStdout()
	if f.out != "" {
		file, err := f.create(model, data)
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, file.Close()) }()
		out = file
	}
	p := &predictor{model: m, source: source, write: newPredictionWriter(out, f.format, m, source)}
	if _, err := launch.Until(cmd.Context(), func() (any, error) { return nil, p.all(cmd.Context()) }); err != nil {
		return err
	}
	for _, note := range source.notes() {
		fmt.Fprintln(cmd.ErrOrStderr(), print.Printable(note))
	}
	_, err = fmt.Fprintln(cmd.ErrOrStderr(), p.summary())
	return err
}

// create opens the file for the predictions, which must not be what they are made from.
func (f *predictFlags) create(sources ...string) (*os.File, error) {
	if there, err := os.Stat(f.out); err == nil {
		for _, path := range sources {
			if other, err := os.Stat(path); err == nil && os.SameFile(there, other) {
				return nil, flags.Usagef("--out %s: expected another file than %s, which is read", f.out, path)
			}
		}
	}
	return os.Create(f.out)
}

// predictor takes rows from a source to a writer.
type predictor struct {
	model  *modelfile.Model
	source rowSource
	write  predictionWriter

	rows, known, wrong int
	squares            float64 // of the errors of rows whose targets are known
}

// chunk is how many rows are computed at once, if so many are there.
const chunk = 256

// all goes through the rows until there are no more.
func (p *predictor) all(ctx context.Context) error {
	raw := mat.NewDense(chunk, len(p.model.Inputs), nil)
	out := mat.NewDense(chunk, len(p.model.Outputs), nil)
	var truths []truth
	for {
		truths = truths[:0]
		var err error
		for len(truths) < chunk && err == nil {
			var t truth
			if t, err = p.source.read(raw.RawRowView(len(truths))); err == nil {
				truths = append(truths, t)
			}
			if p.source.waiting() {
				break
			}
		}
		if n := len(truths); n > 0 {
			dst := out.Slice(0, n, 0, len(p.model.Outputs)).(*mat.Dense)
			p.model.PredictTo(dst, raw.Slice(0, n, 0, len(p.model.Inputs)).(*mat.Dense))
			if failed := p.put(dst, truths); failed != nil {
				return failed
			}
		}
		switch {
		case err == io.EOF:
			return p.write.flush()
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// put writes predictions and compares them with what is true.
func (p *predictor) put(out *mat.Dense, truths []truth) error {
	for i, t := range truths {
		p.rows++
		values := out.RawRowView(i)
		if slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			p.write.flush()
			return fmt.Errorf("row %d: found inputs too large for its outputs to be finite, expected ones nearer to those trained on", t.row)
		}
		best := floats.MaxIdx(values)
		if t.known {
			p.known++
			if p.model.Classes == nil {
				d := floats.Distance(values, t.values, 2)
				p.squares += d * d
			} else if best != t.class {
				p.wrong++
			}
		}
		if err := p.write.row(t.row, t, best, values); err != nil {
			return err
		}
	}
	return p.write.flush()
}

// summary says how many rows there were, and how well they were predicted where that is known.
func (p *predictor) summary() string {
	text := print.Count(p.rows, "row")
	if p.known == 0 {
		return text
	}
	if p.known < p.rows {
		text += fmt.Sprintf(", %d of them with a target", p.known)
	}
	if p.model.Classes == nil {
		return fmt.Sprintf("%s, RMSE %.6g", text, math.Sqrt(p.squares/float64(p.known*len(p.model.Outputs))))
	}
	return fmt.Sprintf("%s, %.2f %% wrong", text, 100*(float64(p.wrong)/float64(p.known))) // as the run said it
}

// truth is what is to be predicted of a row.
type truth struct {
	row    int // its number, from 1
	known  bool
	text   string    // as the source has it
	class  int       // the class
	values []float64 // or the values, in the data's units
}

// className returns the index of a class by its name, or by a number that is written in another way.
func className(classes []string, text string) (int, bool) {
	i := slices.Index(classes, text)
	if v, err := strconv.ParseFloat(text, 64); i < 0 && err == nil {
		i = slices.Index(classes, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return i, i >= 0
}
