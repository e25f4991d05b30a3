package flags

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/format"
	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/analysis"
	"newtop/trainer/config"
	"newtop/trainer/optim/minibatch"
)

// kind is how the command line gives a setting of a run. A configuration file gives all of them by their names.
type kind uint8

const (
	asFlag    kind = iota // --name VALUE
	asKey                 // --set name=VALUE
	asTable               // --table name=VALUE
	asLimit               // a term of --until
	asSetting             // --set name=VALUE as well, which is the hyperparameter that the field stands for
)

// row is a setting of a run. All that knows of single ones reads the table: the commands that train, the help,
// configuration files, errors, the command that trains a recorded run again, what runs are told to differ in, and
// newtop resume.
type row struct {
	name  string
	old   string // what the flag was called that it had, where that is not name
	in    kind
	short string // the usage in the short help, where it has the flag
	field string // of Run that it sets, as errors name it; of several the first, the others behind it
	usual any    // what it is where nobody says otherwise; nil: zero
	usage string
	group string // the heading of the help that it stands under
	value string // what the help calls its value; empty: by the field's type or the choices
	// choices are the names that it takes, other values beside them where form says so.
	choices []string
	offer   cobra.CompletionFunc // what completes it in a shell where that is more than choices; nil: nothing, or files
	form    *form                // how the flag is written where the field's type does not say it
	again   string               // its usage in newtop resume, where it changes the run's; empty: it can't
	told    bool                 // internal/rundiff tells in what runs differ here from the runs' own words
}

// table lists the settings in the order of the help. Who adds one adds a row here, of the kind asKey, and a field to
// trainer.Config.
var table = []row{
	{name: "data", short: "data set or table's file", group: "data", value: "NAME|FILE|-", offer: DataSets,
		field: "Data", told: true, usual: "letters",
		usage: "data set by name (see newtop data), a table's file (CSV, Parquet, NPY or NPZ, packed by gzip or " +
			"not), several: 'parts/*.csv', a.csv,b.csv, a directory; or -, standard input"},
	{name: "data-dir", group: "data", value: "DIR", offer: Directories, field: "DataDir", told: true,
		usage: "where real data sets are; empty: the cache that newtop data fetch fills"},
	{name: "target", short: "target column of a table; not given: the last", group: "data", value: "COLUMN",
		field: "Target",
		usage: "target column of a table, by name or number (name:7, place:7 where it may be either); empty: the last"},
	{name: "test", short: "test rows: a number, a fraction, or a file", group: "data", value: "N|FRACTION|FILE",
		field: "Test",
		usage: "test rows: a number, a fraction, or a file with the same columns; empty: those of the data set"},
	{name: "validation", short: "validation rows: a number or a fraction", group: "data", value: "N|FRACTION",
		field: "Validation", told: true,
		usage: "validation rows, taken from the training rows; 0: none; empty: 15 % of a table, none of another set"},
	{name: "folds", in: asKey, group: "data", field: "Folds", told: true,
		usage: "folds of cross-validation: train once for each, with another part of the training rows as " +
			"validation rows; 0: no folds"},
	{name: "fold", in: asKey, group: "data", field: "Fold", told: true,
		usage: "with folds: train only this fold, from 1; 0: all, one after another, or at once with a --committee " +
			"of as many nets, a fold each"},
	{name: "header", in: asTable, group: "table", choices: []string{"yes", "no"}, field: "Header",
		usage: "whether the first row names the columns; empty: detected"},
	{name: "missing", in: asTable, group: "table", choices: []string{"indicator", "mean", "median", "drop"},
		field: "Missing",
		told:  true, usage: "missing values: indicator (the mean, and an input that marks them), mean, median, or " +
			"drop the " +
			"row; empty: indicator"},
	{name: "decimal", in: asTable, group: "table", value: "CHAR", field: "Decimal",
		usage: "decimal separator, a point or a comma; empty: a point"},
	{name: "thousands", in: asTable, group: "table", value: "CHAR", field: "Thousands",
		usage: "thousands separator; empty: none"},
	{name: "drop", in: asTable, group: "table", value: "COLUMN", field: "Drop",
		usage: "column to leave out; may be repeated"},
	{name: "keep", in: asTable, group: "table", value: "COLUMN", field: "Keep",
		usage: "column to keep that would be left out, such as an identifier; may be repeated"},
	{name: "na", in: asTable, group: "table", value: "MARK|...", field: "NA",
		usage: "marks of a missing value, as in '-|n.a.|-999'; na.COLUMN: in that column; may be repeated"},
	{name: "category", in: asTable, group: "table", value: "COLUMN", field: "Category",
		usage: "column of words, such as codes of digits; may be repeated"},
	{name: "number", in: asTable, group: "table", value: "COLUMN", field: "Number",
		usage: "column of numbers: all other values are missing; may be repeated"},
	{name: "separator", in: asTable, group: "table", value: "TEXT", field: "Separator",
		usage: "what fields are parted by: a character, tab, several, blanks, or fixed widths; empty: detected"},
	{name: "comment", in: asTable, group: "table", value: "MARK", field: "Comment",
		usage: "what lines begin with that are none of the table, or none; empty: detected"},
	{name: "encoding", in: asTable, group: "table", value: "NAME", field: "Encoding",
		usage: "encoding of the text, such as latin1, windows-1251, utf-16le or gbk; empty: detected"},
	{name: "table-skip", in: asTable, group: "table", value: "START/END", field: "Skipped",
		usage: "lines that are none of the table at the start, and at the end; empty: detected"},
	{name: "table", group: "table", value: "KEY=VALUE,...", field: "Tables",
		usage: "how a table is read, as header=no,missing=median,drop=COLUMN; may be repeated"},
	{name: "net", short: "hidden layers as in 70-50, or a TOML file", group: "network", value: "LAYERS|FILE",
		offer: filesWith("toml"), field: "Hidden Graph", told: true,
		form: &netForm, usual: "",
		usage: "hidden layers as in 70-50, none, or a TOML file with any graph; empty: by size of the data"},
	{name: "skip", in: asKey, group: "network", choices: []string{"none", "direct", "all"}, field: "Skip", told: true,
		form: &skipForm, usual: "none",
		usage: "connections beside the chain: none, direct (inputs to outputs), all (to every later layer)"},
	{name: "experts", in: asKey, group: "network", value: "COUNTxLAYERS", field: "Experts ExpertHidden", told: true,
		form: &expertsForm, usual: "",
		usage: "mixture of experts as in 5x16: five nets with 16 hidden nodes each, instead of --net"},
	{name: "gate", in: asKey, group: "network", value: "INPUT", field: "Gate",
		usage: "input of the experts' bell-shaped gates: an input or a feature of the data, such as hue"},
	{name: "gates", in: asKey, group: "network", choices: []string{"descent", "joint", "fixed"}, field: "GateTraining",
		usage: "how gates are trained: descent (after each epoch), joint (with the weights), fixed; empty: descent"},
	{name: "committee", group: "network", value: "N", field: "Committee", told: true, form: &committeeForm, usual: 1,
		usage: "nets to train, each from another seed; the prediction is their mean output"},
	{name: "act", group: "network", choices: []string{"tanh", "sigmoid", "softplus", "relu", "softmax", "identity"},
		field: "Act", told: true,
		usage: "activation of hidden layers: tanh, sigmoid, softplus, relu, softmax, identity; empty: tanh"},
	{name: "out", in: asKey, group: "network", choices: []string{"softmax", "tanh", "sigmoid", "linear"}, field: "Out",
		told:  true,
		usage: "activation of the outputs: softmax, tanh, sigmoid, linear; empty: softmax for classes, else linear"},
	{name: "loss", group: "network", choices: []string{"mse", "xent"}, field: "Loss", told: true,
		usage: "loss to minimize: mse or xent; empty: xent with softmax, else mse"},
	{name: "init", in: asKey, group: "network", value: "NAME",
		choices: []string{"uniform:0.2", "normal:0.1", "xavier", "he",
			"lecun"}, field: "Init", usual: "uniform:0.2",
		usage: "how weights are drawn: uniform:A, normal:S, xavier, he or lecun"},
	{name: "model", group: "another program's model", value: "FILE|URL", offer: filesWith("py", "jl", "R"),
		field: "Model", told: true,
		usage: "another program's model and data instead: a Python, Julia or R file (see docs/own-model.md), a " +
			"command, or unix:PATH",
		again: "new location of the program that has the model; not given: unchanged"},
	{name: "model-timeout", in: asKey, group: "another program's model", field: "ModelTimeout",
		usage: "how long --model may take for an answer; 0: 10m",
		again: "how long the model may take for an answer; 0: 10m; not given: the run's"},
	{name: "opt", short: "optimizer", group: "method", value: "NAME", offer: Methods, field: "Optimizer", told: true,
		usual: trainer.DefaultOptimizer, usage: "optimizer (see newtop optimizers)"},
	{name: "set", short: "hyperparameter or key (see --help all)", group: "method", value: "KEY=VALUE", field: "Set",
		usage: "hyperparameter of the optimizer, or one of the keys below, as KEY=VALUE; may be repeated",
		again: "one of the keys below, as KEY=VALUE; may be repeated"},
	{name: "batch", group: "method", field: "Batch", told: true,
		usage: "rows in a batch, for batch methods; 0: the method's default"},
	{name: "schedule", in: asSetting, group: "method", choices: minibatch.Schedule.Choices, field: "Schedule",
		told: true,
		usage: "learning rate of batch methods over the run's --epochs: constant, linear or cosine; empty: the " +
			"method's default"},
	{name: "blocks", in: asSetting, group: "method", field: "Blocks", told: true,
		usage: "blocks of rows that trust-region methods step through in turn; 0: the method's default"},
	{name: "epochs", short: "outer iterations", group: "limits", field: "Epochs", told: true, usual: 100,
		usage: "outer iterations; 0: no limit",
		again: "total outer iterations, including those before the stop; 0: no limit; not given: the run's limit"},
	{name: "until", short: "stop when met: 'error<5% or 90s'", group: "limits", value: "TERM or ...", field: "Until",
		form: &untilForm, usual: "",
		usage: "stop when a term is met: a time such as 90s, 200 epochs, or a metric such as error<5%, loss<0.1 (of " +
			"the validation rows, else of the test rows) or train_loss<1e-3; and joins conditions into one term",
		again: "stop when a term is met, counting the work before the stop; replaces the run's terms; not given: " +
			"unchanged"},
	{name: "patience", in: asKey, group: "limits", value: "N|never", field: "Patience", told: true, form: &patienceForm,
		usual: "",
		usage: "stop after this many epochs without improvement on the validation rows; empty: 30 for a table, else " +
			"never",
		again: "stop after this many epochs without improvement on the validation rows; empty: the run's"},
	{name: "l2", group: "generalization", field: "L2", told: true,
		usage: "weight decay: λ/2 times the sum of squared weights, exact in loss, gradient and curvature"},
	{name: "input-noise", in: asKey, group: "generalization", value: "SIGMA", field: "InputNoise", told: true,
		usage: "standard deviation of noise on the scaled inputs, for batch methods"},
	{name: "label-smoothing", in: asKey, group: "generalization", value: "SHARE", field: "LabelSmoothing", told: true,
		usage: "share of each training target that is spread evenly over all classes"},
	{name: "class-weights", in: asKey, group: "generalization", choices: []string{"balanced"}, field: "ClassWeights",
		told: true,
		usage: "balanced: rows of rare classes weigh more, so that all classes weigh the same; empty: all rows " +
			"weigh the same"},
	{name: "average", in: asKey, group: "generalization", value: "N", field: "Average", told: true,
		usage: "use the mean of the weights of the last N epochs; 0: only the last weights"},
	{name: "weights", in: asKey, group: "generalization", choices: config.WeightsNames(), field: "Weights",
		usage: "weights that the run ends with: best (by the validation rows, if there are any), last, or best by a " +
			"score of the validation rows: error, auc, f1 (of the rarer class), logloss, rmse, mae, loss; empty: best"},
	{name: "target-loss", in: asLimit, group: "limits", field: "TargetLoss",
		usage: "stop at this training loss; 0: never",
		again: "stop at this training loss; 0: never; not given: the run's target"},
	{name: "target-error", in: asLimit, group: "limits", value: "FRACTION", field: "TargetError",
		usage: "stop at this error of the validation rows (else of the test rows) as a fraction, or RMSE in the " +
			"units of the data; 0: never",
		again: "stop at this error of the validation rows (else of the test rows) as a fraction, or RMSE in the " +
			"units of the data; 0: never; not given: the run's target"},
	{name: "time-limit", in: asLimit, group: "limits", field: "TimeLimit",
		usage: "stop after this much work, as in 90s; 0: never",
		again: "stop after this much work in all, as in 90s; 0: never; not given: the run's limit"},
	{name: "precision", group: Computing, choices: models.PrecisionNames(), field: "Precision", told: true,
		usage: "precision of passes and data: float64, or float32 in half the memory and about half the time, with " +
			"weights and sums in float64; empty: float64"},
	{name: "seed", short: "of weights and the order of rows", group: Computing, field: "Seed", told: true,
		usual: uint64(1),
		usage: "seed of the initial weights and of the order of rows"},
	{name: "threads", group: Computing, field: "Threads", told: true,
		usage: "workers; 0: all cores; results do not depend on them",
		again: "workers; 0: all cores; results do not depend on them"},
	{name: "spectrum", group: "spectrum", field: "Spectrum", told: true, usual: 3,
		usage: "eigenvalues to estimate at each end of the spectrum, as λ ± r: an eigenvalue is within r of λ, not " +
			"necessarily the one of that rank"},
	{name: "spectrum-every", in: asKey, group: "spectrum", field: "SpectrumEvery", told: true,
		usage: "epochs between spectra; 0: only on request (on the screen: 5, while they take 1 % of the time)"},
	{name: "spectrum-method", in: asKey, group: "spectrum", choices: analysis.SpectrumMethods, field: "SpectrumMethod",
		told:  true,
		usage: "method: lanczos (both ends) or power (the largest in magnitude); empty: lanczos"},
	{name: "spectrum-of", in: asKey, group: "spectrum", choices: analysis.SpectrumOperators, field: "SpectrumOf",
		told:  true,
		usage: "matrix: hessian or gauss-newton; empty: hessian"},
	{name: "spectrum-ends", in: asKey, group: "spectrum", choices: analysis.SpectrumEnds, field: "SpectrumEnds",
		told: true,
		usage: "ends that lanczos computes: both, or top, only the largest, with a fraction of the products; empty: " +
			"both"},
	{name: "spectrum-tolerance", in: asKey, group: "spectrum", field: "SpectrumTolerance", told: true,
		usage: "tolerance: residuals relative to the largest |λ| of their end; 0: 1e-3"},
	{name: "spectrum-rows", in: asKey, group: "spectrum", value: "N|all", field: "SpectrumRows", told: true,
		form:  &rowsForm,
		usual: "2048", usage: "training rows a spectrum averages over, evenly spaced, or all"},
	{name: "density", group: "spectrum", field: "Density", told: true,
		usage: "estimate the spectral density and the trace with each spectrum"},
	{name: "fresh-probes", in: asKey, group: "spectrum", field: "FreshProbes", told: true,
		usage: "draw new random probes for each density and trace, from the seed and the epoch; not given: the same " +
			"probes, so that densities differ only by their matrices"},
	{name: "tape-memory", old: "memory", in: asKey, group: Computing, value: "SIZE", field: "Memory", told: true,
		form: &memoryForm, usual: "1G",
		usage: "memory for stored passes, as in 512M; the others are recomputed",
		again: "memory for stored passes, as in 512M; empty: the run's"},
	{name: "record", short: "database that keeps the run, or off", group: Recording, value: "FILE|off",
		offer: filesWith("db"), field: "Store",
		usage: "database that keeps the run, or off; empty: runs.db in the state directory"},
	{name: "name", short: "name of the run", group: Recording, value: "NAME", field: "Name",
		usage: "name of the run, besides its ID"},
	{name: "save", short: "file for the weights at the end", group: Recording, value: "FILE",
		offer: filesWith("safetensors", "onnx"), field: "Save", told: true,
		usage: "file for the weights at the end: .safetensors or .onnx",
		again: "file for the weights at the end: .safetensors or .onnx; not given: the run's"},
	{name: "config", short: "file with any of these, in TOML", value: "FILE", offer: filesWith("toml"), field: "File",
		usage: "file with any of these flags, in TOML; the command line overrides it"},
}

// of returns the field that the row sets, the first of several, in a *Run or a *trainer.Config.
func (r *row) of(in any) reflect.Value {
	name, _, _ := strings.Cut(r.field, " ")
	return reflect.ValueOf(in).Elem().FieldByName(name)
}

// configures reports whether the row sets a field of a trainer.Config.
func (r *row) configures() bool { return r.of(new(trainer.Config)).IsValid() }

// add declares the setting: a flag of the command, or a key beside which the flag that it was says what to type.
func (r *row) add(cmd *cobra.Command, f *Run, usual any, usage string) {
	if r.in != asFlag {
		r.declare(f.keys, f, usual, usage)
		r.refuse(cmd)
		return
	}
	set := cmd.Flags()
	r.declare(set, f, usual, usage)
	if r.choices != nil {
		Choices(cmd, r.name, r.choices...)
	}
	switch { // those of keys look at the table, which can't have them therefore
	case r.name == "set":
		Complete(cmd, r.name, offerSettings)
	case r.name == "table":
		Complete(cmd, r.name, offerColumns)
	case r.offer != nil:
		Complete(cmd, r.name, r.offer)
	}
	flag := set.Lookup(r.name)
	if r.value != "" {
		annotate(flag, valueKey, r.value)
	}
	if r.group != "" {
		annotate(flag, headingKey, r.group)
	}
	annotate(flag, shortKey, r.short)
}

func (r *row) declare(set *pflag.FlagSet, f *Run, usual any, usage string) {
	if r.parsed() {
		text := new(string)
		f.texts[r.name] = text
		set.StringVar(text, r.name, or(usual, ""), usage)
		return
	}
	switch field := r.of(f).Addr().Interface().(type) {
	case *string:
		set.StringVar(field, r.name, or(usual, ""), usage)
	case *[]string:
		set.StringArrayVar(field, r.name, nil, usage)
	case *int:
		set.IntVar(field, r.name, or(usual, 0), usage)
	case *uint64:
		set.Uint64Var(field, r.name, or(usual, uint64(0)), usage)
	case *float64:
		set.Float64Var(field, r.name, or(usual, 0.0), usage)
	case *bool:
		set.BoolVar(field, r.name, or(usual, false), usage)
	case *time.Duration:
		set.DurationVar(field, r.name, or(usual, time.Duration(0)), usage)
	default:
		panic("flags: the field of --" + r.name + " has no kind of a flag's")
	}
}

// or returns a default as the type that it has, or the zero value where there is none.
func or[T any](usual any, zero T) T {
	if usual == nil {
		return zero
	}
	return usual.(T)
}

// text writes what c has as the flag takes it.
func (r *row) text(c *trainer.Config) string {
	if r.form != nil {
		return r.form.write(c)
	}
	switch v := r.of(c).Interface().(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// repeats reports whether a flag or key may be given several times; none that nobody knows is refused for it.
func (r *row) repeats() bool {
	return r == nil || r.of(new(Run)).Type() == reflect.TypeFor[[]string]()
}

// parsed reports whether the flag is a text that a form reads.
func (r *row) parsed() bool { return r.form != nil && r.form.parse != nil }

// parse sets the fields of a row with a form.
func (r *row) parse(c *trainer.Config, text string) error {
	if r.form.parse(c, text) {
		return nil
	}
	return Invalid(r.flag(), text, r.form.expected+format.DidYouMean(text, r.choices))
}

// others are the flags of what libraries call otherwise and no run flag sets: fields of a tune.Config, and what
// commands do.
var others = map[string]string{
	"Processes": "-n", "Fetch": "newtop data fetch", "Record": "--record", "Name": "--name",
	"Over": "--over", "Sampler": "--sampler", "Trials": "--trials", "Seeds": "--seeds", "Budget": "--budget",
	"MaxWork": "--most",
	"Trial":   "--trial", "Parallel": "--parallel", "Finals": "--finals", "Shard": "--shard",
	"Program": "program", "By": "--by", "Env": "--env",
}

// Of returns the flag of a field of a trainer.Config or a tune.Config. Errors of other options carry their flags
// already.
func Of(field string) string {
	if flag, ok := others[field]; ok {
		return flag
	}
	for i := range table {
		for name := range strings.FieldsSeq(table[i].field) {
			if name == field {
				return table[i].flag()
			}
		}
	}
	return field
}
