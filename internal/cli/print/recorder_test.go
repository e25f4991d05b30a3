package print

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"newtop/trainer/event"
	"newtop/trainer/krylov"
)

// Without test rows there are no columns for them.
func TestTableWithoutTestRows(t *testing.T) {
	unknown := event.UnknownEpoch(0)
	for _, classes := range []int{0, 3} {
		header := tableHeader(columns(&event.RunEvent{Data: event.DataInfo{Classes: classes}}, &unknown, 0), true)
		if strings.Contains(header, "test") || !strings.HasSuffix(header, " inner") {
			t.Errorf("%d classes: %s", classes, header)
		}
	}
}

// In a terminal the widest of a method's own figures are left out until the table has room, and every row fits.
func TestTableFitsItsTerminal(t *testing.T) {
	e := event.UnknownEpoch(3)
	e.Loss, e.TestLoss, e.Radius, e.Rho = 0.000123456, 12345.678, 0.000123, -0.00987
	for _, key := range []string{"lambda-1", "lambda-next", "mu", "two-over-rate"} {
		e.Metrics = append(e.Metrics, event.Metric{Key: key, Value: -1.2345e-7})
	}
	e.Inner = make([]event.InnerSummary, 40)
	run := &event.RunEvent{Data: event.DataInfo{Classes: 3, TestRows: 9}, Model: event.ModelInfo{Layers: []int{2, 3}}}
	for width, want := range map[int]string{0: "lambda-1 lambda-next mu two-over-rate", 80: "", 100: "lambda-1 mu", 130: "lambda-1 lambda-next mu two-over-rate"} {
		list := columns(run, &e, width)
		header, row := tableHeader(list, true), tableRow(list, &e, width)
		words := strings.Fields(header)
		if got := strings.Join(words[slices.Index(words, "rho")+1:slices.Index(words, "gradients")], " "); got != want {
			t.Errorf("%d columns: %s", width, header)
		}
		if width > 0 && max(utf8.RuneCountInString(header), utf8.RuneCountInString(row)) > width {
			t.Errorf("%d columns:\n%s\n%s", width, header, row)
		}
	}
}

func TestWrapped(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""}, {"one two three", 7, "one two|three"}, {"the --net of it", 8, "the|--net of|it"}, {"error 62.92 % in", 11, "error|62.92 % in"},
		{"a-very-long-word b", 4, "a-very-long-word|b"},
	} {
		if got := strings.Join(Wrapped(c.text, c.width), "|"); got != c.want {
			t.Errorf("%q in %d: %s, expected %s", c.text, c.width, got, c.want)
		}
	}
}

// TestSpectrumLine says how far the eigenvalues can be trusted.
func TestSpectrumLine(t *testing.T) {
	e := event.SpectrumEvent{Epoch: 3, Operator: "hessian", Rows: 10, Selection: "all", Eigenvalues: []event.Float{2}, Residuals: []event.Float{0.5}}
	const found = "    3 the Hessian over 10 rows (all) has an eigenvalue in each of 2±0.5"
	for _, c := range []struct {
		stop       krylov.Stop
		open, want string
	}{
		{krylov.Residual, "", found},
		{krylov.Limit, "", found + "; some ± are larger than wanted"},
		{krylov.Limit, "smallest", found + "; some ± of the smallest are larger than wanted"},
		{krylov.Limit, "both", found + "; some ± at both ends are larger than wanted"},
		{krylov.NotFinite, "", "    3 no eigenvalues of the Hessian: a number was not finite"},
	} {
		e.Stop, e.Open = c.stop, c.open
		if got := SpectrumLine(&e); got != c.want {
			t.Errorf("%v: %q, want %q", c.stop, got, c.want)
		}
	}
}

// Columns that come later get a heading of their own; what is absent is a dot, and what is not finite is written.
func TestHeadingComesAgain(t *testing.T) {
	var out, messages strings.Builder
	r := &TextRecorder{out: &out, messages: &messages}
	record := func(e event.Event) {
		if err := r.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	record(event.RunEvent{Data: event.DataInfo{Name: "x"}})
	for n := 1; n <= 4; n++ {
		e := event.UnknownEpoch(n)
		e.Loss = 0.5
		switch n {
		case 2:
			e.Loss, e.TestLoss = event.NotFinite, event.Float(math.Inf(1))
		case 3:
			e.Metrics = []event.Metric{{Key: "bleu", Value: 20}}
		}
		record(e)
	}
	const want = `epoch     loss
    1      0.5
epoch     loss     test
    2      NaN     +Inf
epoch     loss     test    bleu
    3      0.5        .      20
    4      0.5        .       .
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestOpeningOfAPeer: of a model that another program has the first line tells the program and the tensors.
func TestOpeningOfAPeer(t *testing.T) {
	var said strings.Builder
	r := TextRecorder{messages: &said, run: event.RunEvent{Data: event.DataInfo{Name: "model.py"}, Optimizer: "tr-newton", Model: event.ModelInfo{
		Program: "PyTorch 2.4.0, CPU", Parameters: 650, Blocks: []event.BlockInfo{{Name: "0.weight", Shape: []int{64, 10}}, {Name: "0.bias", Shape: []int{10}}}}}}
	r.opening()
	if want := "model.py: PyTorch 2.4.0, CPU, 2 tensors, 650 weights, tr-newton\n"; said.String() != want {
		t.Errorf("says %q, expected %q", said.String(), want)
	}
}

// TestFindingsInAnotherProgram: of what a program prints that trains by itself only what newtop finds in its model is told.
func TestFindingsInAnotherProgram(t *testing.T) {
	var said strings.Builder
	r := TextRecorder{messages: &said, opened: true}
	for _, text := range []string{"its own", "newtop: dropout (1): call model.eval()"} {
		if err := r.Record(event.ConsoleEvent{Text: text}); err != nil {
			t.Error(err)
		}
	}
	if want := "newtop: dropout (1): call model.eval()\n"; said.String() != want || !r.run.External() {
		t.Errorf("says %q, expected %q", said.String(), want)
	}
}

// TestLargeGroupsAreNoColumns: of a look into a program only its epochs are in the table, and a note tells the rest
// once.
func TestLargeGroupsAreNoColumns(t *testing.T) {
	var out, messages strings.Builder
	r := &TextRecorder{out: &out, messages: &messages}
	record := func(e event.Event) {
		if err := r.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	run := event.RunEvent{ID: "a", Data: event.DataInfo{Name: "loop.py"}}
	record(run)
	run.Unit = "step"
	record(run)
	for n := 1; n <= 4; n++ {
		e := event.UnknownEpoch(n)
		e.Loss, e.Elapsed = 0.5, event.Float(n)
		e.Metrics = []event.Metric{{Key: "bleu", Value: 20}}
		if n%2 == 0 {
			look := event.UnknownEpoch(n)
			look.Elapsed = e.Elapsed
			for i := range maxOfGroup + 1 {
				look.Metrics = append(look.Metrics, event.Metric{Key: fmt.Sprintf("curvature/%d", i), Value: 1})
			}
			record(look)
		}
		record(e)
	}
	done := event.UnknownDone()
	done.Reason, done.Epochs, done.Elapsed = event.ReasonEpochs, 4, 4
	record(done)
	const want = ` step     loss    bleu seconds
    1      0.5      20    1.00
    2      0.5      20    2.00
    3      0.5      20    3.00
    4      0.5      20    4.00
loop.py: 4 steps in 4s (steps)
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if want := "loop.py\n9 more figures than the table has: --format jsonl prints all\n"; messages.String() != want {
		t.Errorf("said %q, expected %q", messages.String(), want)
	}
}
