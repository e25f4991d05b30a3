package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
	"newtop/internal/verify"
	"newtop/trainer/optim/methods"
)

func newVerify() *cobra.Command {
	var format, file string
	cmd := &cobra.Command{
		Use:   "verify [METHOD]...",
		Short: "Hold every method's steps against PyTorch's and the papers'",
		Long: `Take a few steps of every method on small nets, for each loss and precision, and
compare weights, losses, gradients, products and inner solves with references:
PyTorch's optimizers and derivatives, and the papers' formulas in NumPy. All start
from the same weights, rows and random numbers. METHOD is one of newtop
optimizers, or passes: losses and derivatives alone.

DIFFERENCE is relative, that of the number nearest to its BOUND. A bound is a
multiple of what rounding does: of how far the reference itself moves when all
that goes into and comes out of its passes is rounded at random, or for float32
when PyTorch computes them in it. .ci/verify in newtop's sources makes the
references, and says how.`,
		Example: `newtop verify
newtop verify soap kfac passes
newtop verify --references mine.json --format jsonl`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion,
			cobra.ShellCompDirective) {
			names, directive := flags.Methods(cmd, args, begun)
			return append(names, cobra.CompletionWithDesc(verify.PassesName, "Losses and derivatives")), directive
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.OneOf("--format", format, "text", "jsonl"); err != nil {
				return err
			}
			for _, name := range args {
				if _, err := methods.Lookup(name); err != nil && name != verify.PassesName {
					return err
				}
			}
			references, err := readReferences(file)
			if err != nil {
				return err
			}
			results, err := verify.Run(cmd.Context(), references, args)
			if err != nil {
				return err
			}
			show := showVerified
			if format == "jsonl" {
				show = printVerified
			}
			summary := verify.Summarize(references, results, args)
			if err = show(cmd.OutOrStdout(), references, results, &summary); err == nil && !summary.OK {
				err = &print.ExitError{Code: print.ExitFailed}
			}
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, or jsonl: one JSON object a line")
	cmd.Flags().StringVar(&file, "references", "",
		"`FILE` that .ci/verify/make.py wrote, in place of the references in the program")
	flags.Choices(cmd, "format", "text", "jsonl")
	flags.Files(cmd, "references", "json")
	return cmd
}

// maxReferences bounds the file of references, in bytes.
const maxReferences = 64 << 20

func readReferences(file string) (*verify.References, error) {
	if file == "" {
		return verify.Embedded(), nil
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxReferences+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxReferences {
		return nil, fmt.Errorf("%s: more than %d bytes: expected references as .ci/verify/make.py writes them", file,
			maxReferences)
	}
	r, err := verify.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: expected references as .ci/verify/make.py writes them: %w", file, err)
	}
	return r, nil
}

// showVerified prints a line for each result, and below what they are held against and what is not covered.
func showVerified(out io.Writer, r *verify.References, results []verify.Result, s *verify.Summary) error {
	table := print.Table{Headers: []string{"METHOD", "WHAT", "LOSS", "PRECISION", ">STEPS", ">NUMBERS", ">DIFFERENCE",
		">BOUND", ""}, Ranks: []int{0, 0, 0, 0, 2, 1, 0, 0, 0}}
	for i := range results {
		t := &results[i]
		state := "ok"
		if t.Fault != "" {
			state = "NOT: " + t.Fault
		}
		table.Add(t.Method, t.Variant, t.Loss, t.Precision, fmt.Sprint(t.Steps), fmt.Sprint(t.Numbers),
			fmt.Sprintf("%.1e", float64(t.Difference)), fmt.Sprintf("%.1e", float64(t.Bound)), state)
	}
	if err := table.Fit(out, print.Width(out)); err != nil {
		return err
	}
	var from []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		from = append(from, name+" "+r.Versions[name])
	}
	fmt.Fprintf(out, "\nreferences: %s\nbounds: %g times what rounding moves a reference by\n",
		strings.Join(from, ", "), r.Factor)
	for _, gap := range s.NotCovered {
		fmt.Fprintf(out, "not covered: %s\n", gap)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", s)
	return err
}

// printVerified prints the results and then the summary as JSON.
func printVerified(out io.Writer, _ *verify.References, results []verify.Result, s *verify.Summary) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for i := range results {
		if err := encoder.Encode(&results[i]); err != nil {
			return err
		}
	}
	return encoder.Encode(s)
}
