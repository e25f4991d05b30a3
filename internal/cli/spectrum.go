package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/atomicfile"
	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
	"newtop/internal/format"
	"newtop/internal/safetensors"
	"newtop/trainer"
	"newtop/trainer/analysis"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
)

// spectrumFlags are those of newtop spectrum.
type spectrumFlags struct {
	store   job.StoreFlags
	model   string
	layers  string
	vectors string
	format  string
	threads int
	share   float64
	options analysis.SpectrumOptions
}

func newSpectrum() *cobra.Command {
	var f spectrumFlags
	cmd := &cobra.Command{
		Use:   "spectrum [RUN]",
		Short: "Eigenvalues of the curvature at the weights as they are",
		Long: `Compute the largest and smallest eigenvalues of the Hessian of the loss over the
training rows, at the weights that a recorded run ends with, or those of a model
of PyTorch, JAX or any program that calls newtop.serve. Nothing is trained.

Each is printed as λ ± r: some eigenvalue lies within r of λ, not surely the one
of that rank. docs/spectrum.md says how they are found. From Python:
newtop.spectrum(model, loss_fn, batch).`,
		Example: `newtop spectrum --model model.py
newtop spectrum last --count 5 --ends top
newtop spectrum --model model.py --layers 'blocks.*.attn.*' --format jsonl
newtop spectrum last --of gauss-newton --density`,
		Args:              flags.Arguments(0, 1, "one recorded run by ID or name, or --model"),
		ValidArgsFunction: f.store.Complete(1, cobra.ShellCompDirectiveNoFileComp),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&f.model, "model", "",
		"`FILE`, command or unix:PATH of the program that has the model, as of newtop train")
	set.IntVar(&f.options.Count, "count", 3, "eigenvalues at each end")
	set.StringVar(&f.options.Ends, "ends", analysis.SpectrumEnds[0], "both ends, or the top alone in fewer products")
	set.StringVar(&f.options.Operator, "of", analysis.SpectrumOperators[0], "hessian or gauss-newton")
	set.StringVar(&f.layers, "layers", "",
		"a spectrum of the block of each layer that matches the `PATTERN`, or that has a tensor which does")
	set.BoolVar(&f.options.Density, "density", false, "the spectral density and the trace too")
	set.Float64Var(&f.share, "share", 1, "share of the rows, evenly spaced; of a loader whole batches")
	set.Float64Var(&f.options.Tolerance, "tolerance", 1e-6,
		"wanted residuals, relative to the largest |λ| of their end")
	set.StringVar(&f.vectors, "vectors", "", "`FILE` for the eigenvectors, .safetensors")
	set.StringVar(&f.format, "format", "text", "text, or jsonl: one JSON object a spectrum")
	set.IntVar(&f.threads, "threads", 0, "workers; 0: all cores")
	for name, choices := range map[string][]string{"ends": analysis.SpectrumEnds, "of": analysis.SpectrumOperators,
		"format": {"text", "jsonl"}} {
		flags.Choices(cmd, name, choices...)
	}
	f.store.Add(cmd)
	return cmd
}

// check says what is wrong with the flags.
func (f *spectrumFlags) check(cmd *cobra.Command, args []string) error {
	if (f.model == "") == (len(args) == 0) {
		return flags.Usagef("%s: expected a recorded run by ID or name, or --model FILE", cmd.CommandPath())
	}
	if f.options.Count < 1 {
		return flags.Invalid("--count", f.options.Count, "a number of eigenvalues ≥ 1")
	}
	if t := f.options.Tolerance; !(t > 0 && t < 1) {
		return flags.Invalid("--tolerance", t, "a number > 0 and < 1")
	}
	if !(f.share > 0 && f.share <= 1) {
		return flags.Invalid("--share", f.share, "a number > 0 and ≤ 1")
	}
	if _, err := path.Match(f.layers, ""); err != nil {
		return flags.Invalid("--layers", f.layers, "a pattern with * for any text, as in blocks.*.attn.*")
	}
	return cmp.Or(flags.OneOf("--format", f.format, "text", "jsonl"),
		flags.OneOf("--of", f.options.Operator, analysis.SpectrumOperators...),
		flags.OneOf("--ends", f.options.Ends, analysis.SpectrumEnds...))
}

func (f *spectrumFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.check(cmd, args); err != nil {
		return err
	}
	ctx := cmd.Context()
	l, err := launch.Until(ctx, func() (*trainer.Loss, error) { return f.open(cmd, args) })
	if err != nil {
		return err
	}
	results, err := launch.Until(ctx, func() ([]spectrumResult, error) { return f.computeAll(ctx, l) })
	for range len(l.Printed) {
		fmt.Fprintln(cmd.ErrOrStderr(), print.Printable(<-l.Printed))
	}
	l.Close() // a program that waits for its end may read what is printed here
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	if f.vectors != "" {
		if err := f.writeVectors(results); err != nil {
			return err
		}
	}
	if f.format == "jsonl" {
		return printSpectra(cmd.OutOrStdout(), results)
	}
	return showSpectra(cmd.OutOrStdout(), cmd.ErrOrStderr(), results)
}

// computeAll returns the spectra that are asked for.
func (f *spectrumFlags) computeAll(ctx context.Context, l *trainer.Loss) (results []spectrumResult, err error) {
	if err := l.Offers(f.options.Operator); err != nil {
		return nil, err
	}
	layers, err := f.chosen(l)
	if err != nil {
		return nil, err
	}
	err = objective.CatchFailure(func() error {
		for _, layer := range layers {
			r, err := f.compute(ctx, l, &layer)
			if err != nil {
				return err
			}
			results = append(results, r)
		}
		return nil
	})
	return results, err
}

// open returns the loss.
func (f *spectrumFlags) open(cmd *cobra.Command, args []string) (*trainer.Loss, error) {
	if f.model != "" {
		return trainer.OpenLoss(cmd.Context(), trainer.Config{Model: f.model, Threads: f.threads}, nil, f.share)
	}
	r, from, err := job.LatestCheckpoint(cmd, &f.store, args[0])
	if err != nil {
		return nil, err
	}
	r.Config.Threads = f.threads
	return trainer.OpenLoss(cmd.Context(), r.Config, from, f.share)
}

// chosen returns the layers that match, or one without a name, which is all of them.
func (f *spectrumFlags) chosen(l *trainer.Loss) (layers []trainer.Layer, err error) {
	if f.layers == "" {
		return []trainer.Layer{{}}, nil
	}
	flat := strings.NewReplacer("/", "\x00") // which * does not match
	pattern := flat.Replace(f.layers)
	var names []string
	for _, layer := range l.Layers {
		matches := func(name string) bool {
			ok, _ := path.Match(pattern, flat.Replace(name))
			return ok
		}
		names = append(names, layer.Name)
		if len(layer.Weights) > 0 && (matches(layer.Name) || slices.ContainsFunc(layer.Tensors, matches)) {
			layers = append(layers, layer)
		}
	}
	if len(layers) == 0 {
		return nil, flags.Invalid("--layers", f.layers, "a pattern that matches some of "+
			strings.Join(names[:min(len(names), 12)], ", "))
	}
	return layers, nil
}

// spectrumResult is one spectrum, as it is printed in JSON.
type spectrumResult struct {
	Type    string      `json:"type"`
	Model   string      `json:"model"`
	Layer   string      `json:"layer,omitempty"`   // empty: all
	Tensors []string    `json:"tensors,omitempty"` // of the layer
	Weights int         `json:"weights"`
	Loss    event.Float `json:"loss"`
	Seconds event.Float `json:"seconds"`
	Notes   []string    `json:"notes,omitempty"`
	event.SpectrumEvent
	Epoch *int `json:"epoch,omitempty"` // of the event, which there is none of

	vectors [][]float64
	total   int // rows, of which it is over Rows
}

// compute returns the spectrum of a layer, or of all of them where it has no name.
func (f *spectrumFlags) compute(ctx context.Context, l *trainer.Loss, layer *trainer.Layer) (spectrumResult, error) {
	r := spectrumResult{Type: event.SpectrumEvent{}.EventType(), Model: l.Name, Layer: layer.Name,
		Tensors: layer.Tensors, Weights: l.Dim(), Loss: event.Float(l.Loss()), Notes: l.Notes}
	began := time.Now()
	o := f.options
	o.Method, o.Weights, o.Seed, o.Probes = analysis.SpectrumMethods[0], layer.Weights, 1, 1
	o.Steps, o.Poll = 2*krylov.LanczosSteps(o.Count), ctx.Err
	if f.vectors != "" {
		o.Vectors = &r.vectors
	}
	if layer.Weights != nil {
		r.Weights = 0
		for _, w := range layer.Weights {
			r.Weights += w.Last - w.First
		}
	}
	r.SpectrumEvent, _ = analysis.Spectrum(l.Linearization, o)
	r.Selection, r.Seconds = "all", event.Float(time.Since(began).Seconds())
	if r.total = l.Total; r.Rows < r.total {
		r.Selection = "evenly spaced"
	}
	if err := ctx.Err(); err != nil {
		return r, err
	}
	if r.Stop.Failed() {
		return r, fmt.Errorf("%s: no eigenvalues: %s", strings.TrimSpace(l.Name+" "+layer.Name), r.Stop.Text())
	}
	return r, nil
}

// writeVectors writes the eigenvectors as the rows of one tensor for each spectrum, in the order of the eigenvalues.
func (f *spectrumFlags) writeVectors(results []spectrumResult) error {
	var file safetensors.File
	for i := range results {
		r := &results[i]
		file.Tensors = append(file.Tensors, safetensors.Tensor{Name: cmp.Or(r.Layer, "all"),
			Shape: []int{len(r.vectors), r.Weights}, Data: slices.Concat(r.vectors...)})
	}
	_, err := atomicfile.Write(f.vectors, func(w io.Writer) error { return safetensors.Encode(w, &file) })
	return err
}

func printSpectra(out io.Writer, results []spectrumResult) error {
	for i := range results {
		text, err := json.Marshal(&results[i])
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", text); err != nil {
			return err
		}
	}
	return nil
}

// showSpectra prints spectra for people: one in full, of layers the ends.
func showSpectra(out, messages io.Writer, results []spectrumResult) error {
	first := &results[0]
	for _, note := range first.Notes {
		fmt.Fprintln(messages, print.Printable(note))
	}
	matrix, rows := "Hessian", ""
	if first.Operator == analysis.SpectrumOperators[1] {
		matrix = "Gauss–Newton matrix"
	}
	if first.Rows > 1 {
		rows = " over " + format.Counted(first.Rows, "row")
		if first.Rows < first.total {
			rows += fmt.Sprintf(" of %s, evenly spaced", format.Count(first.total))
		}
	}
	fmt.Fprintf(out, "%s of %s%s, loss %s\n", matrix, print.Printable(first.Model), rows,
		format.Number(float64(first.Loss)))
	if first.Differences {
		fmt.Fprintln(out, "products are from differences of gradients: each ± has an estimate of their error")
	}
	products, seconds := 0, 0.0
	table := print.Table{Headers: []string{"LAYER", ">WEIGHTS", ">LARGEST", "", ">SMALLEST", "", ">TRACE", ""},
		Ranks: []int{0, 1, 0, 0, 0, 0, 2, 2}}
	switch {
	case first.Layer == "":
		table = print.Table{Headers: []string{">λ", ">±"}}
	case first.Trace == nil:
		table.Headers, table.Ranks = table.Headers[:6], table.Ranks[:6]
	}
	for i := range results {
		r := &results[i]
		products, seconds = products+r.Products, seconds+float64(r.Seconds)
		if r.Layer == "" {
			for k, v := range r.Eigenvalues {
				table.Add(strconv.FormatFloat(float64(v), 'g', 10, 64), bound(r.Residuals[k]))
			}
			continue
		}
		last, cells := len(r.Eigenvalues)-1, []string{r.Layer, format.Count(r.Weights)}
		for _, k := range []int{0, last} {
			if k > 0 && r.Ends != "" {
				cells = append(cells, "", "")
				continue
			}
			cells = append(cells, strconv.FormatFloat(float64(r.Eigenvalues[k]), 'g', 6, 64), "±"+bound(r.Residuals[k]))
		}
		if r.Trace != nil {
			cells = append(cells, format.Number(float64(r.Trace.Value)), "±"+bound(r.Trace.Error))
		}
		table.Add(cells...)
	}
	if err := table.Fit(out, print.Width(out)); err != nil {
		return err
	}
	if d := first; d.Layer == "" && d.Trace != nil {
		fmt.Fprintf(out, "trace %s ± %s by %s\n", format.Number(float64(d.Trace.Value)), bound(d.Trace.Error),
			format.Counted(d.Trace.Probes, "probe"))
		if d.Density != nil {
			showDensity(out, d.Density, d.Weights)
		}
	}
	for i := range results {
		if r := &results[i]; r.Stop.Early() {
			print.Warn(messages, strings.TrimPrefix(r.Layer+": ", ": ")+print.OpenEnd(r.Open)+" larger than wanted")
		}
	}
	_, err := fmt.Fprintf(out, "%s in %s\n", format.Counted(products, "product"), format.Span(seconds))
	return err
}

// bound writes a bound, rounded up to a digit.
func bound(x event.Float) string {
	v := float64(x)
	if !(v > 0) || math.IsInf(v, 0) {
		return format.Number(v)
	}
	e := math.Pow(10, math.Floor(math.Log10(v)))
	return strconv.FormatFloat(math.Ceil(v/e-1e-9)*e, 'g', 1, 64)
}

// showDensity prints how many eigenvalues there are in parts of the spectrum, with bars on a logarithmic scale.
func showDensity(out io.Writer, d *event.Density, n int) {
	const parts, width = 20, 40
	last := len(d.Grid) - 1
	low, high := float64(d.Grid[0]), float64(d.Grid[last])
	step := float64(d.Grid[1] - d.Grid[0])
	var counts [parts]float64
	for i, t := range d.Grid {
		k := min(parts-1, int(parts*(float64(t)-low)/(high-low)))
		counts[k] += float64(d.Values[i]) * step * float64(n)
	}
	most := math.Log10(1 + slices.Max(counts[:]))
	for k := range parts {
		at := low + (float64(k)+0.5)*(high-low)/parts
		bar := strings.Repeat("█", int(math.Round(width*math.Log10(1+counts[k])/most)))
		fmt.Fprintf(out, "%10.4g %10.3g  %s\n", at, counts[k], bar)
	}
}
