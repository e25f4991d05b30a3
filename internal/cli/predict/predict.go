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

	"newtop/datasets/csv/lex"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/score"
	"newtop/models/modelfile"
	"newtop/models/reduce"
)

// rowFlags say where the model and the rows are, of predict and explain.
type rowFlags struct {
	store  job.StoreFlags
	target string
	dir    string
	rows   string
}

var rowChoices = []string{"test", "validation", "train", "all"}

// add declares them.
func (f *rowFlags) add(cmd *cobra.Command, target string) {
	set := cmd.Flags()
	set.StringVar(&f.target, "target", "", target)
	set.StringVar(&f.dir, "data-dir", "",
		"`DIR` where real data sets are; empty: the cache that newtop data fetch fills")
	set.StringVar(&f.rows, "rows", "test", "which rows of a data set or a run: test, validation, train or all")
	flags.Choices(cmd, "rows", rowChoices...)
	flags.Complete(cmd, "data-dir", flags.Directories)
	f.store.Add(cmd)
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

// openBoth opens the model and the rows that the arguments name. The caller closes the rows.
func (f *rowFlags) openBoth(cmd *cobra.Command, args []string) (*modelfile.Model, rowSource, error) {
	m, err := launch.Until(cmd.Context(), func() (*job.Model, error) { return job.OpenModel(cmd, &f.store, args[0]) })
	if err != nil {
		return nil, nil, err
	}
	if len(args) < 2 && m.Data == nil {
		return nil, nil, flags.Usagef("%s: %s", cmd.CommandPath(), expectedArguments)
	}
	data := ""
	if len(args) > 1 {
		data = args[1]
	}
	source, err := launch.Until(cmd.Context(), func() (rowSource, error) { return f.open(cmd, m, data) })
	return m.Model, source, err
}

const expectedArguments = "expected two arguments: a saved model, and a CSV file, - or a data set's name; a recorded " +
	"run has rows of its own"

// predictFlags are those of newtop predict.
type predictFlags struct {
	rowFlags
	out    string
	format string
	worst  int
}

// New returns newtop predict.
func New() *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict MODEL [DATA]",
		Short: "Apply a saved model to new rows",
		Long: `Apply a model that --save or w wrote, .safetensors or .onnx, or a recorded run,
to the rows of a CSV file, of standard input (-) or of a data set by its name.
Without DATA a run predicts its own test rows. Columns are matched by the names
in the first line, else by position. If the targets are known, scores and the
confusion matrix follow on standard error.`,
		Example: `newtop predict letter.onnx rows.csv --out predictions.csv
newtop predict letter.safetensors letter --data-dir ../data --format jsonl
newtop predict last --worst 10 > predictions.csv`,
		Args: flags.Arguments(
			1, 2, "a saved model or a recorded run, and a CSV file, - or a data set's name"),
		ValidArgsFunction: complete,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.out, "out", "", "`FILE` for the predictions; empty: standard output")
	set.StringVar(&f.format, "format", "csv", "csv, or jsonl: one JSON object a row")
	flags.Choices(cmd, "format", "csv", "jsonl")
	set.IntVar(&f.worst, "worst", 0, "show the `N` rows with the largest loss")
	f.add(cmd, "target `COLUMN`, to compare; empty: the model's, if the table has it")
	return cmd
}

// run checks what can be checked before the first row.
func (f *predictFlags) run(cmd *cobra.Command, args []string) (err error) {
	if err := flags.OneOf("--format", f.format, "csv", "jsonl"); err != nil {
		return err
	}
	if f.worst < 0 {
		return flags.Invalid("--worst", strconv.Itoa(f.worst), "a number of rows ≥ 0")
	}
	m, source, err := f.openBoth(cmd, args)
	if err != nil {
		return err
	}
	defer source.Close()
	if f.worst > 0 && !source.truthful() {
		return flags.Usagef("--worst %d: expected a column with the target", f.worst)
	}
	out := cmd.OutOrStdout()
	if f.out != "" {
		file, err := f.create(args...)
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, file.Close()) }()
		out = file
	}
	pool := reduce.NewPool(0)
	defer pool.Close()
	p := newPredictor(m, pool, source, newPredictionWriter(out, f.format, m, source), f.worst)
	if _, err := launch.Until(cmd.Context(), func() (any, error) { return nil, p.all(cmd.Context()) }); err != nil {
		return err
	}
	printNotes(cmd, source)
	return p.report(cmd.ErrOrStderr())
}

// printNotes says what was decided about the rows that were read.
func printNotes(cmd *cobra.Command, source rowSource) {
	for _, note := range source.notes() {
		fmt.Fprintln(cmd.ErrOrStderr(), print.Printable(note))
	}
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
	nets   *modelfile.Predictor
	source rowSource
	write  predictionWriter

	rows      int
	found     *score.Gathering // of the rows whose targets are known
	positions []position       // of all rows, where the worst are asked for
	target    []float64        // of a row, as the network is trained to
	each      []*mat.Dense     // of a committee's nets for a regression; nil else

	targets, covered int // those that are known, and those of them that are within their bands
}

func newPredictor(m *modelfile.Model, pool *reduce.Pool, source rowSource, write predictionWriter,
	worst int) *predictor {
	p := &predictor{model: m, nets: m.NewPredictor(pool), source: source, write: write,
		target: make([]float64, len(m.Outputs)),
		found:  score.Gather(kindOf(m), len(m.Outputs), worst, m.Network.RowLoss)}
	if spreads(m) {
		for range m.Weights {
			p.each = append(p.each, mat.NewDense(chunk, len(m.Outputs), nil))
		}
	}
	return p
}

// kindOf returns what a model's outputs mean.
func kindOf(m *modelfile.Model) score.Kind {
	k := score.Kind{Classes: m.Classes, Probabilities: m.Network.Probabilities(), Positive: m.Meta["positive"]}
	for _, c := range m.Outputs {
		k.Units = append(k.Units, c.Scale)
	}
	return k
}

// spreads reports whether a model's nets tell how far they are apart.
func spreads(m *modelfile.Model) bool { return m.Classes == nil && len(m.Weights) > 1 }

// chunk is how many rows are computed at once, if that many are there.
const chunk = 1024

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
			if failed := p.predict(part(out, n), part(raw, n), truths); failed != nil {
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

// part returns a view of the first n rows.
func part(m *mat.Dense, n int) *mat.Dense {
	_, columns := m.Dims()
	return m.Slice(0, n, 0, columns).(*mat.Dense)
}

// predict writes what the model makes of raw rows and compares it with what is true.
func (p *predictor) predict(out, raw *mat.Dense, truths []truth) error {
	var each []*mat.Dense
	for _, u := range p.each {
		each = append(each, part(u, len(truths)))
	}
	p.nets.To(out, each, raw)
	for i, t := range truths {
		p.rows++
		values := out.RawRowView(i)
		if slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			p.write.flush()
			return fmt.Errorf(
				"row %d: found inputs so large that outputs are not finite, expected values nearer to the training "+
					"rows",
				t.row)
		}
		if p.found.Keeps() {
			p.positions = append(p.positions, position{t.row, t.line})
		}
		best := floats.MaxIdx(values)
		apart := spreadOf(p.model, each, i)
		if err := p.write.row(t.row, t, best, values, apart); err != nil {
			return err
		}
		if t.known {
			p.cover(t.values, apart)
			t.targetTo(p.target, p.model)
			for j, c := range p.model.Outputs {
				values[j] = (values[j] - c.Offset) / c.Scale
			}
			p.found.Add(p.rows, raw.RawRowView(i), p.target, values)
		}
	}
	return p.write.flush()
}

// cover counts the targets that are within the bands.
func (p *predictor) cover(targets []float64, bands []spread) {
	for j, b := range bands {
		if p.targets++; b.low <= targets[j] && targets[j] <= b.high {
			p.covered++
		}
	}
}

// position is where a row is: its number from 1, and its line in a text, 0 for none.
type position struct{ row, line int }

// truth is what is to be predicted of a row.
type truth struct {
	row    int      // its number, from 1
	unused []string // fields that pass through to the output
	known  bool
	text   string    // as the source has it
	line   int       // of a text; 0: none
	class  int       // the class
	values []float64 // or the values, in the data's units
}

// targetTo stores what the network is trained to put out.
func (t *truth) targetTo(dst []float64, m *modelfile.Model) {
	for j, c := range m.Outputs {
		v := 0.0
		switch {
		case m.Classes == nil:
			v = t.values[j]
		case j == t.class:
			v = 1
		}
		dst[j] = (v - c.Offset) / c.Scale
	}
}

// className returns the index of a class by its name, or by a number or a yes or no that is written in another way.
func className(classes []string, text string) (int, bool) {
	i := slices.Index(classes, text)
	if i < 0 && len(classes) == 2 {
		i = slices.IndexFunc(classes, func(class string) bool { return lex.SameTruth(class, text) })
	}
	if v, err := strconv.ParseFloat(text, 64); i < 0 && err == nil {
		i = slices.Index(classes, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return i, i >= 0
}
