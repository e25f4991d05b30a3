// Package config says what decides a run, checks it and chooses what is left open.
package config

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"newtop/datasets"
	"newtop/internal/format"
	"newtop/models"
	"newtop/models/modelfile"
	"newtop/models/netfile"
	"newtop/trainer/alert"
	"newtop/trainer/analysis"
	"newtop/trainer/checkpoint"
	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/optim/minibatch"
	"newtop/trainer/optim/trust"
	"newtop/trainer/peer"
)

// Config is everything that decides a run. The zero value trains the default network on the default
// data with the default optimizer until it is told to stop.
type Config struct {
	// Model is a program that has the model and its data, instead of what Data to Init say: a Python, Julia or R file,
	// a program with arguments, unix:PATH for one that listens there. Empty: none.
	Model        string
	ModelTimeout time.Duration // how long an answer of the model may take; 0: 10 minutes

	Data    string // a data set's name or CSV files, see datasets.Load; empty: letters
	DataDir string // where the files of real data sets are; empty: the cache directory
	Target  string // a CSV file's target column, by name or 1-based number; empty: the last
	// Test is the test rows as a number or a fraction, or a table's file that has them; empty: what the data set says,
	// 20 % for a table.
	Test string
	// Validation is the rows that decide, taken from the training rows, as a number or a fraction; 0: none. Empty: 15 %
	// of a table, none of another set.
	Validation string
	// the training rows are cut into that many parts, of which each is once the validation rows; 0: they are not
	Folds int
	Fold  int // the part that is, from 1; 0: one after the other
	// FoldCoding says by which rows columns are coded and scaled where each net of a committee has a fold: each, by
	// those that the net is trained on. Empty, in runs of earlier versions: by all, so that the fold's targets leak.
	FoldCoding string `json:",omitempty"`

	Header    string   // whether a table's first row names the columns: yes or no; empty: as it looks
	Missing   string   // what stands in for missing values: indicator, mean, median, or drop the row; empty: indicator
	Decimal   string   // a table's decimal separator, a point or a comma; empty: a point
	Thousands string   // a table's thousands separator; empty: none
	Drop      []string // columns to leave out of a table, by name or 1-based number
	Keep      []string // columns not to leave out of a table, whatever they look like
	// NA are marks of a missing value in a table, parted by |, of all columns, or of one as in COLUMN=MARKS.
	NA       []string `json:",omitempty"`
	Category []string `json:",omitempty"` // columns of a table of which every value is a word
	Number   []string `json:",omitempty"` // columns of a table of which every value is a number, or missing
	// How the text of a table is written, as lex.Options has it; empty: as it looks.
	Separator string `json:",omitempty"`
	Comment   string `json:",omitempty"`
	Encoding  string `json:",omitempty"`
	Skipped   string `json:",omitempty"` // lines before the table, and behind a slash those behind it

	Hidden []int       // nodes of the hidden layers; nil: 70-50, or 16-16 below 1,000 training rows
	Graph  string      // a TOML file with any graph of layers, instead of Hidden, Skip, Act and Out
	Skip   models.Skip // connections beside the chain; zero: none
	// Experts and ExpertHidden make a mixture of experts [MD §3]: that many nets, each with these hidden
	// layers, combined by bell-shaped gates on the input feature Gate. 0: one net.
	Experts      int
	ExpertHidden []int
	Gate         string // an input's name or 1-based number; needed with Experts
	GateTraining string // descent (steepest descent after each epoch), joint or fixed; empty: descent
	Committee    int    // nets trained independently from as many seeds, whose mean output counts; 0: 1

	Act  string // activation of the hidden layers; empty: tanh
	Out  string // activation of the outputs; empty: softmax for classes, linear for regression
	Loss string // mse or xent; empty: xent behind softmax, else mse
	Init string // how weights are drawn; empty: uniform:0.2, as in [MD §3]

	Optimizer string   // a method's name; empty: DefaultOptimizer
	Set       []string // KEY=VALUE for the optimizer's hyperparameters
	Batch     int      // rows a step of methods that go through batches; 0: the method's default
	Blocks    int      // parts of the rows that trust-region methods go through in turn; 0: the method's default
	// of the rate of methods that go through batches: constant, linear or cosine; empty: the method's default
	Schedule string
	Epochs   int // outer iterations; 0: no limit
	// Patience is how many epochs may pass without a better one by the validation rows; 0: what suits the data, -1: any
	// number.
	Patience  int
	TimeLimit time.Duration // of work, pauses left out; 0: no limit

	L2 float64 // weight decay: the loss has L2/2 times the sum of all squared weights, biases left out
	// standard deviation of what is added to the inputs of every batch, in those of the scaled inputs
	InputNoise     float64
	LabelSmoothing float64 // the share of a training row's target that all classes get alike
	// balanced: rows of rare classes count more, so that all classes count alike; empty: rows count alike
	ClassWeights string
	Average      int // the mean of the weights of that many last epochs counts; 0: 1
	// the weights that the run ends with: best (of the best epoch by the validation rows), last, or those of the best
	// epoch by one of score.ByKeys; empty: best
	Weights string

	TargetLoss float64 // end when the training loss is at most this; 0: never
	// TargetError ends the run when the error, or RMSE for regression, is at most this; 0: never. It is that of the
	// validation rows, without them of the test rows, and without those of the training rows.
	TargetError float64
	// Until ends the run when one of its terms is met, which alert.ParseUntil reads; empty: never.
	Until string `json:",omitempty"`

	Precision     string // of the passes: float64 or float32; empty: float64
	Seed          uint64 // of the weights and of the order of rows; data sets do not depend on it
	Threads       int    // workers; 0: GOMAXPROCS. The results do not depend on it
	Spectrum      int    // eigenvalues at each end of the Hessian's spectrum; 0: 3 when asked for
	SpectrumEvery int    // epochs between spectra; 0: only when asked for
	// SpectrumMethod is lanczos (both ends of the spectrum) or power (the largest |λ|); empty: lanczos.
	SpectrumMethod string
	SpectrumOf     string // hessian or gauss-newton; empty: hessian
	// SpectrumEnds is both or, for lanczos, top (the largest alone); empty: both.
	SpectrumEnds string `json:",omitempty"`
	// SpectrumTolerance is how small a residual is wanted, relative to the largest |λ| of its end; 0: 1e-3.
	SpectrumTolerance float64 `json:",omitempty"`
	SpectrumRows      int     // training rows a spectrum averages over, evenly spaced; 0: 2,048, -1: all
	Density           bool    // whether a spectrum comes with its density and its trace
	// FreshProbes draws other random vectors for each density, from the seed and the epoch; else all densities of all
	// runs have the same ones.
	FreshProbes bool
	// SpectrumShare leaves out spectra that are due by SpectrumEvery while those before have taken more
	// than this share of the training time, as on a fast run they would; 0: none is left out.
	SpectrumShare float64
	Save          string // file for the weights at the run's end, by extension .safetensors or .onnx; empty: none
	// Memory is in bytes, for kept linearizations in each process; 0: 1 GiB. The results do not depend on it. Another
	// as much is for the vectors of a spectrum, which is the same where they fit.
	Memory int64
}

// maxThreads bounds the workers: more than this is a slip of the finger.
const maxThreads = 1024

// gateTrainings can be chosen; the first is the default.
var gateTrainings = []string{"descent", "joint", "fixed"}

// DefaultOptimizer is used when a Config names none.
const DefaultOptimizer = "tr-newton"

// DataSeed is the seed of generated data and of random splits. It is the same for every run, so that
// runs with different seeds are trials on the same problem.
const DataSeed = 1

// Check returns a *ConfigError, or an error of package optim, for what is wrong without looking at any
// data.
func (c *Config) Check() error {
	limits := []struct {
		field string
		bad   bool
		is    any
		want  string
	}{
		{"Batch", c.Batch < 0, c.Batch, "a whole number ≥ 1, or 0 for the optimizer's default"},
		{"Blocks", c.Blocks < 0, c.Blocks, "a whole number ≥ 1, or 0 for the optimizer's default"},
		{"Committee", c.Committee < 0 || c.Committee > checkpoint.MaxCommittee, c.Committee,
			fmt.Sprintf("a whole number from 1 to %d", checkpoint.MaxCommittee)},
		{"Epochs", c.Epochs < 0, c.Epochs, "a whole number ≥ 1, or 0 for no limit"},
		{"TimeLimit", c.TimeLimit < 0, c.TimeLimit, "a duration ≥ 0"},
		{"TargetLoss", !NonNegative(c.TargetLoss), c.TargetLoss, "a number ≥ 0"},
		{"TargetError", !NonNegative(c.TargetError), c.TargetError, "a number ≥ 0"},
		{"Threads", c.Threads < 0 || c.Threads > maxThreads, c.Threads,
			fmt.Sprintf("a whole number from 1 to %d, or 0 for all cores", maxThreads)},
		{"Spectrum", c.Spectrum < 0, c.Spectrum, "a whole number ≥ 0"},
		{"SpectrumTolerance", !NonNegative(c.SpectrumTolerance), c.SpectrumTolerance, "a number ≥ 0"},
		{"SpectrumEvery", c.SpectrumEvery < 0, c.SpectrumEvery, "a whole number ≥ 0"},
		{"Memory", c.Memory < 0, c.Memory, "a size ≥ 0"},
		{"L2", !NonNegative(c.L2), c.L2, "a number ≥ 0"},
		{"InputNoise", !NonNegative(c.InputNoise), c.InputNoise, "a number ≥ 0"},
		{"LabelSmoothing", !(c.LabelSmoothing >= 0 && c.LabelSmoothing < 1), c.LabelSmoothing,
			"a fraction ≥ 0 and < 1"},
		{"Average", c.Average < 0, c.Average, "a whole number ≥ 1, or 0 for the last weights alone"},
	}
	for _, l := range limits {
		if l.bad {
			return &ConfigError{Field: l.field, Value: fmt.Sprint(l.is), Expected: l.want}
		}
	}
	for _, other := range []struct{ field, text string }{{"Act", c.Act}, {"Out", c.Out}, {"Loss", c.Loss},
		{"Skip", c.Skip.String()}} {
		if c.Graph != "" && other.text != "" && other.text != models.SkipNone.String() {
			return &ConfigError{Field: other.field, Value: other.text,
				Expected: "it in the file of {Graph}, which describes the whole network"}
		}
	}
	if err := cmp.Or(c.checkExternal(), c.checkExperts(), c.checkValidation(), c.checkUntil()); err != nil {
		return err
	}
	if _, err := modelfile.Format(c.Save); c.Save != "" && err != nil {
		return &ConfigError{Field: "Save", Value: c.Save, Expected: "a file name that ends in .safetensors or .onnx"}
	}
	for _, n := range c.Hidden {
		if n < 1 {
			return &ConfigError{Field: "Hidden", Value: fmt.Sprint(n),
				Expected: "layers of at least one node, as in 70-50"}
		}
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	info, _, err := c.Method()
	if err != nil {
		return err
	}
	return c.SuitsLoss(info)
}

func (c *Config) checkNames() error {
	for _, choice := range []struct {
		field, text string
		of          []string
	}{
		{"SpectrumMethod", c.SpectrumMethod, analysis.SpectrumMethods},
		{"SpectrumOf", c.SpectrumOf, analysis.SpectrumOperators},
		{"SpectrumEnds", c.SpectrumEnds, analysis.SpectrumEnds},
		{"GateTraining", c.GateTraining, gateTrainings},
		{"Precision", c.Precision, models.PrecisionNames()},
		{"ClassWeights", c.ClassWeights, []string{balanced}},
		{"Schedule", c.Schedule, minibatch.Schedule.Choices},
	} {
		if choice.text != "" && !slices.Contains(choice.of, choice.text) {
			return &ConfigError{Field: choice.field, Value: choice.text,
				Expected: strings.Join(choice.of, " or ") + format.DidYouMean(choice.text, choice.of)}
		}
	}
	if c.SpectrumEnds == analysis.SpectrumEnds[1] && c.SpectrumMethod == analysis.SpectrumMethods[1] {
		return &ConfigError{Field: "SpectrumEnds", Value: c.SpectrumEnds,
			Expected: "{SpectrumMethod} lanczos, as power finds the largest in size"}
	}
	for _, named := range []struct{ field, text string }{{"Act", c.Act}, {"Out", c.Out}} {
		if named.text == "" {
			continue
		}
		if _, err := models.ParseActivation(named.text); err != nil {
			return &ConfigError{Field: named.field, Value: named.text, Expected: ExpectedBy(err)}
		}
	}
	if c.Loss != "" {
		if _, err := models.ParseLoss(c.Loss); err != nil {
			return &ConfigError{Field: "Loss", Value: c.Loss, Expected: ExpectedBy(err)}
		}
	}
	if _, err := models.ParseInit(c.InitSpec()); err != nil {
		return &ConfigError{Field: "Init", Value: c.Init, Expected: ExpectedBy(err)}
	}
	return nil
}

// InitSpec returns how weights are drawn, with the default where the Config leaves it open.
func (c *Config) InitSpec() string {
	if c.Init == "" {
		return "uniform:0.2"
	}
	return c.Init
}

// DataName returns the data set, the default where the Config names none.
func (c *Config) DataName() string {
	if c.Data == "" {
		return "letters"
	}
	return c.Data
}

// Method returns the first optimizer with its settings.
func (c *Config) Method() (*optim.Info, *optim.Settings, error) {
	name := c.Optimizer
	if name == "" {
		name = DefaultOptimizer
	}
	info, err := methods.Lookup(name)
	if err != nil {
		return nil, nil, err
	}
	settings := optim.NewSettings(info.Parameters)
	if err := c.ApplySizes(info, settings); err != nil {
		return nil, nil, err
	}
	for _, kv := range c.Set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, nil, &ConfigError{Field: "Set", Value: kv, Expected: "KEY=VALUE"}
		}
		if err := settings.SetText(strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return nil, nil, &ConfigError{Field: "Set", Value: kv, Expected: ExpectedBy(err)}
		}
	}
	falls := c.Schedule != "" && c.Schedule != minibatch.Constant && settings.Has(minibatch.Schedule.Key)
	if falls && c.Epochs == 0 && minibatch.Horizon.Of(settings) == 0 {
		return nil, nil, &ConfigError{Field: "Schedule", Value: c.Schedule,
			Expected: minibatch.Constant + ", or a last epoch, or the setting horizon"}
	}
	return info, settings, nil
}

// ApplySizes applies Batch, Blocks and Schedule to a method that has them. A method without them ignores them, so that
// they survive a switch there and back.
func (c *Config) ApplySizes(info *optim.Info, settings *optim.Settings) error {
	for _, p := range c.sizes() {
		if p.value == 0 || !p.key.In(settings) {
			continue
		}
		if err := settings.Set(p.key.Key, float64(p.value)); err != nil {
			return &ConfigError{Field: p.field, Value: fmt.Sprint(p.value), Expected: ExpectedBy(err)}
		}
	}
	if c.Schedule == "" || !settings.Has(minibatch.Schedule.Key) {
		return nil
	}
	if err := settings.SetText(minibatch.Schedule.Key, c.Schedule); err != nil {
		return &ConfigError{Field: "Schedule", Value: c.Schedule, Expected: ExpectedBy(err)}
	}
	return nil
}

// size is a field that some methods have as a hyperparameter.
type size struct {
	field string
	key   *optim.Count
	value int
}

func (c *Config) sizes() []size {
	return []size{{"Batch", minibatch.Size, c.Batch}, {"Blocks", trust.Blocks, c.Blocks}}
}

// Unused returns the fields that say something of which the first optimizer has nothing, so that it takes effect after
// a switch to another at the earliest. What is no valid configuration has none.
func (c *Config) Unused() (fields []string) {
	_, settings, err := c.Method()
	if err != nil {
		return nil
	}
	for _, p := range c.sizes() {
		if p.value > 0 && !p.key.In(settings) {
			fields = append(fields, p.field)
		}
	}
	if c.Schedule != "" && !settings.Has(minibatch.Schedule.Key) {
		fields = append(fields, "Schedule")
	}
	return fields
}

// AdaptDefaults adapts default settings to the data. Regression lets inner solves run on, over all rows: its curvature
// does not vanish as that of separated classes does, and a fit to the last digit wants steps that go all the way. On
// recipes, 16-82-10, tr-gn-jacobi reaches an RMSE of 0.002 in 91 epochs and 27,000 gradient equivalents so, with at
// most 200 iterations in 215 and 48,000. Another program's rows can't be split. What was set by hand stays.
func (c *Config) AdaptDefaults(settings *optim.Settings, data *datasets.Dataset, set func(key string) bool) {
	put := func(of *optim.Count, value float64) {
		if !of.In(settings) || set(of.Key) {
			return
		}
		if err := settings.Set(of.Key, value); err != nil {
			panic("trainer: " + err.Error())
		}
	}
	if data.Classes == nil && c.Model == "" {
		put(trust.Limit, 0)
	}
	if (data.Classes == nil || c.Model != "") && c.Blocks == 0 {
		put(trust.Blocks, 1)
	}
}

// HasSetting reports whether Set has a value for the hyperparameter.
func (c *Config) HasSetting(key string) bool {
	return slices.ContainsFunc(c.Set, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.TrimSpace(name) == key
	})
}

// Saturates reports whether the outputs, or those of the experts that are combined, are hyperbolic tangents.
func Saturates(a *models.Architecture) bool {
	last := len(a.Layers)
	if a.Mixture != nil {
		last--
	}
	return a.Layers[last-1].Activation == models.Tanh
}

// Architecture returns the network for the data.
func (c *Config) Architecture(data *datasets.Dataset) (models.Architecture, error) {
	if c.Graph != "" {
		file, err := os.Open(c.Graph)
		if err != nil {
			return models.Architecture{}, &FieldsError{"{Graph}", err}
		}
		defer file.Close()
		return netfile.Read(file, c.Graph, data.Inputs(), data.Outputs())
	}
	out, loss, err := c.output(data.Classes != nil)
	if err != nil {
		return models.Architecture{}, err
	}
	act := models.Tanh
	if c.Act != "" {
		if act, err = models.ParseActivation(c.Act); err != nil {
			return models.Architecture{}, err
		}
	}
	if c.Experts > 0 {
		return c.mixture(data, act, out, loss)
	}
	hidden := c.Hidden
	if hidden == nil {
		hidden = []int{70, 50}
		if data.Train.Rows() < 1000 {
			hidden = []int{16, 16}
		}
	}
	return models.Chain(data.Inputs(), hidden, data.Outputs(), act, out, loss, c.Skip), nil
}

// output settles the output layer and the loss: classes ask for softmax with cross-entropy, regression
// for a linear layer with squared error, and a given half decides the other.
func (c *Config) output(classes bool) (models.Activation, models.LossFunction, error) {
	out, loss := c.Out, c.Loss
	if out == "" {
		switch {
		case classes && loss == "mse":
			out = "tanh"
		case classes:
			out = "softmax"
		default:
			out = "linear"
		}
	}
	if loss == "" {
		loss = "mse"
		if out == "softmax" && classes {
			loss = "xent"
		}
	}
	a, err := models.ParseActivation(out)
	if err != nil {
		return 0, 0, &ConfigError{Field: "Out", Value: out, Expected: ExpectedBy(err)}
	}
	l, err := models.ParseLoss(loss)
	if err != nil {
		return 0, 0, &ConfigError{Field: "Loss", Value: loss, Expected: ExpectedBy(err)}
	}
	return a, l, nil
}

// ReachedTarget returns the target of the Config that an epoch's metrics meet, in a run that is judged by m; empty if
// they meet none.
func (c *Config) ReachedTarget(e *event.EpochEvent, m event.Measure) string {
	switch {
	case c.TargetLoss > 0 && float64(e.Loss) <= c.TargetLoss:
		return "train_loss <= " + optim.Format(c.TargetLoss)
	case c.TargetError > 0 && m.Value(e) <= c.TargetError:
		return "error <= " + optim.Format(c.TargetError)
	case c.Until == "":
		return ""
	}
	until, err := alert.ParseUntil(c.Until)
	if err != nil {
		panic("trainer: " + err.Error()) // Check has read it
	}
	return until.Own().Met(e)
}

// checkUntil returns a *ConfigError for terms that no run can meet.
func (c *Config) checkUntil() error {
	if c.Until == "" {
		return nil
	}
	until, err := alert.ParseUntil(c.Until)
	switch {
	case err != nil:
		return &ConfigError{Field: "Until", Value: c.Until, Expected: err.Error()}
	case until.Unknown() != "":
		return &ConfigError{Field: "Until", Value: until.Unknown(), Expected: "error, loss, rmse, acc, train_loss, " +
			"test_loss or another number of an epoch"}
	}
	return nil
}

// ownFields are those of a Config that are about newtop's own data and networks.
var ownFields = []string{"Data", "DataDir", "Target", "Test", "Validation", "Folds", "Fold", "Hidden", "Graph", "Skip",
	"Experts", "ExpertHidden",
	"Gate", "GateTraining", "Act", "Out", "Loss", "Init", "InputNoise", "LabelSmoothing", "ClassWeights",
}

// checkExternal returns a *ConfigError for what a model that another program has leaves no room for.
func (c *Config) checkExternal() error {
	if c.Model == "" {
		return nil
	}
	for _, name := range ownFields {
		if v := reflect.ValueOf(c).Elem().FieldByName(name); !v.IsZero() {
			return &ConfigError{Field: name, Value: fmt.Sprint(v.Interface()),
				Expected: "none with {Model}, which has data and a network of its own"}
		}
	}
	switch {
	case strings.HasPrefix(c.Model, "umbridge:"):
		return &ConfigError{Field: "Model", Value: c.Model,
			Expected: "a program: UM-Bridge's Python client behind newtop.serve_object (see docs/own-model.md)"}
	case c.Committee > 1:
		return &ConfigError{Field: "Committee", Value: fmt.Sprint(c.Committee), Expected: "one net with {Model}"}
	case c.Precision == models.Single.String():
		return &ConfigError{Field: "Precision", Value: c.Precision,
			Expected: "float64 with {Model}, which computes in a precision of its own"}
	case c.Blocks > 1:
		return &ConfigError{Field: "Blocks", Value: fmt.Sprint(c.Blocks),
			Expected: "1 with {Model}, whose rows can't be split"}
	case strings.HasSuffix(strings.ToLower(c.Save), ".onnx"):
		return &ConfigError{Field: "Save", Value: c.Save,
			Expected: "a file name that ends in .safetensors with {Model}"}
	case c.ModelTimeout < 0:
		return &ConfigError{Field: "ModelTimeout", Value: c.ModelTimeout.String(), Expected: "a duration ≥ 0"}
	}
	return nil
}

// OneAtATime reports whether runs have to wait for one another: for a model behind a socket, which serves one.
func (c *Config) OneAtATime() bool { return strings.HasPrefix(c.Model, peer.SocketPrefix) }

// SuitsLoss returns a *ConfigError if a method can't minimize the loss that L2 to ClassWeights make.
func (c *Config) SuitsLoss(info *optim.Info) error {
	if info.Needs&optim.NeedsLayers != 0 {
		switch {
		case c.L2 > 0:
			return &ConfigError{Field: "L2", Value: fmt.Sprint(c.L2),
				Expected: "0 with " + info.Name + ", which solves for layers without a penalty"}
		case c.LabelSmoothing > 0:
			return &ConfigError{Field: "LabelSmoothing", Value: fmt.Sprint(c.LabelSmoothing),
				Expected: "0 with " + info.Name + ", which solves for the targets of the data"}
		case c.ClassWeights != "":
			return &ConfigError{Field: "ClassWeights", Value: c.ClassWeights,
				Expected: "none with " + info.Name + ", whose rows count alike"}
		}
	}
	if c.InputNoise > 0 && info.Needs&optim.NeedsRows == 0 {
		return &ConfigError{Field: "InputNoise", Value: fmt.Sprint(c.InputNoise),
			Expected: "0 with " + info.Name + ", which does not go through batches"}
	}
	return nil
}

// SuitsTargets returns a *ConfigError if LabelSmoothing or ClassWeights don't go with what the network and its targets
// are.
func (c *Config) SuitsTargets(data *datasets.Dataset, a *models.Architecture) error {
	softmax := a.Loss == models.CrossEntropy && a.Layers[len(a.Layers)-1].Activation == models.Softmax
	switch {
	case c.LabelSmoothing > 0 && data.Classes == nil:
		return &ConfigError{Field: "LabelSmoothing", Value: fmt.Sprint(c.LabelSmoothing),
			Expected: "0, because the targets are numbers and not classes"}
	case c.LabelSmoothing > 0 && !softmax && a.Loss != models.SquaredError:
		return &ConfigError{Field: "LabelSmoothing", Value: fmt.Sprint(c.LabelSmoothing),
			Expected: "0 with this {Loss}, or softmax outputs"}
	case c.ClassWeights != "" && data.Classes == nil:
		return &ConfigError{Field: "ClassWeights", Value: c.ClassWeights,
			Expected: "none, because the targets are numbers and not classes"}
	case c.ClassWeights != "" && !softmax:
		return &ConfigError{Field: "ClassWeights", Value: c.ClassWeights,
			Expected: "none, or softmax outputs with the {Loss} xent"}
	}
	return nil
}

// OmitWeighted takes from metrics what says nothing: residuals of training rows from targets that are weighted.
func (c *Config) OmitWeighted(e *event.EpochEvent) {
	if c.ClassWeights != "" {
		e.RMSE = event.Absent
	}
}
