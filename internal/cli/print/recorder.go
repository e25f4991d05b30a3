package print

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"newtop/internal/cli/flags"
	"newtop/internal/score"
	"newtop/trainer"
	"newtop/trainer/event"
)

// TextRecorder prints a run as a table: one line an epoch to out, and what the run is to messages. What the table needs
// to show is known from the first step, so that the row of the starting weights waits for it. Where an epoch reports
// what none before did, the heading is printed again with its columns.
type TextRecorder struct {
	out, messages io.Writer
	width         int // of the terminal; 0: there is none
	run           event.RunEvent
	opened        bool
	optimizer     string
	first         *event.EpochEvent // the starting weights, while they wait
	known         event.EpochEvent  // all that epochs told so far, once one did
	columns       []column          // nil until the heading is printed
	said          [2]string         // the run's ID and what was said of it
	noted         bool              // that figures are left out
	inner         bool              // it has the inner solves
}

// Record prints what an event says, as trainer.Recorder asks.
func (t *TextRecorder) Record(e event.Event) error {
	switch e := e.(type) {
	case event.RunEvent:
		t.run, t.optimizer, t.opened = e, e.Optimizer, true
		t.opening()
	case event.EpochEvent:
		late, own := e.Late()
		for i := range late {
			if err := t.Record(late[i]); err != nil {
				return err
			}
		}
		e = own
		t.optimizer = e.Optimizer
		if e.Epoch == 0 && t.columns == nil {
			t.first = &e
			return nil
		}
		err := t.start(&e)
		if err == nil && t.learn(&e) {
			err = t.printHeader()
		}
		t.note()
		if t.empty(&e) {
			return err
		}
		return t.print(err, t.row(&e))
	case event.SpectrumEvent:
		return t.print(t.start(t.first), t.sentence(SpectrumLine(&e)))
	case event.ResumeEvent:
		fmt.Fprintf(t.messages, "resumed after %s %d\n", t.run.Counted(), e.Epoch)
	case event.SavedEvent:
		fmt.Fprintf(t.messages, "saved epoch %d: %s, %s, %s\n", e.Epoch, Printable(e.File), Printable(e.Format),
			Bytes(e.Bytes))
	case event.ConsoleEvent:
		// what another program prints that trains by itself is its own, but for what newtop finds in its model
		if t.opened && !t.run.External() || strings.HasPrefix(e.Text, "newtop: ") {
			fmt.Fprintln(t.messages, Printable(e.Text))
		}
	case event.DoneEvent:
		if err := t.start(t.first); err != nil || !t.opened || e.Reason == event.ReasonFailed {
			return err
		}
		err := t.print(nil, t.sentence(Outcome(&t.run, &e, t.optimizer)))
		for i := range e.Scores {
			if text := Scores(score.Rows(e.Scores[i].Split), &e.Scores[i]); text != "" {
				err = t.print(err, t.sentence(text))
			}
		}
		return err
	}
	return nil
}

// Flush does nothing: each line is written at once.
func (t *TextRecorder) Flush() error { return nil }

// opening says what is known of the run: of one that another program trains that may be its name alone.
func (t *TextRecorder) opening() {
	r := &t.run
	var parts []string
	add := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	if d := &r.Data; d.ValidationRows > 0 && d.ValidationRows == d.TrainRows { // a fold to each net
		add(true, "%d training and validation rows in %d folds, %d test rows", d.TrainRows, r.Committee, d.TestRows)
	} else if d.ValidationRows > 0 {
		add(true, "%d training rows, %d validation rows, %d test rows", d.TrainRows, d.ValidationRows, d.TestRows)
	} else {
		add(d.TrainRows > 0, "%d + %d rows", d.TrainRows, d.TestRows)
	}
	add(r.Model.Program != "", "%s", r.Model.Program)
	add(len(r.Model.Layers) > 0, "net %s", r.Model.Shape())
	add(len(r.Model.Blocks) > 0, "%s", r.Model.Shape())
	add(r.Model.Parameters > 0, "%d weights", r.Model.Parameters)
	add(r.Precision != "", "%s", r.Precision)
	add(r.Optimizer != "", "%s", r.Optimizer)
	add(r.Kernel != "", "%s", r.Seeds())
	add(r.Threads > 0, "%s", Count(r.Threads, "thread"))
	text := cmp.Or(r.Data.Name, r.ID, "a run")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if said := [2]string{r.ID, text}; said != t.said { // a log's beginning may be reported again, with what it counts
		t.said = said
		fmt.Fprintln(t.messages, t.sentence(Printable(text)))
	}
}

// note says once how many figures have no column.
func (t *TextRecorder) note() {
	if _, more := shownMetrics(t.known.Metrics); more > 0 && !t.noted {
		t.noted = true
		fmt.Fprintln(
			t.messages, t.sentence(Count(more, "more figure")+" than the table has: --format jsonl prints all"))
	}
}

// empty reports whether an epoch has figures but nothing for the table.
func (t *TextRecorder) empty(e *event.EpochEvent) bool {
	if len(e.Metrics) == 0 || len(e.Inner) > 0 {
		return false
	}
	for _, c := range t.columns[1:] {
		if c.header != "seconds" && c.text(e) != "." {
			return false
		}
	}
	return true
}

// start prints the heading and the starting weights, once, in the columns that e calls for; nil calls for
// nothing yet.
func (t *TextRecorder) start(e *event.EpochEvent) error {
	if t.columns != nil || e == nil {
		return nil
	}
	t.known = event.UnknownEpoch(0)
	t.learn(e)
	err := t.printHeader()
	if t.first != nil {
		err = t.print(err, t.row(t.first))
	}
	return err
}

// learn takes in what an epoch reports, and reports whether anything of it is new.
func (t *TextRecorder) learn(e *event.EpochEvent) (news bool) {
	for q := range event.QuantityCount {
		if f := q.Of(&t.known); f.Absent() && !q.Of(e).Absent() {
			*f, news = *q.Of(e), true
		}
	}
	for _, f := range e.Metrics {
		if !f.Value.Absent() && !slices.ContainsFunc(t.known.Metrics,
			func(k event.Metric) bool { return k.Key == f.Key }) {
			t.known.Metrics, news = append(t.known.Metrics, f), true
		}
	}
	if len(t.known.Inner) == 0 && len(e.Inner) > 0 {
		t.known.Inner, news = e.Inner, true
	}
	if len(t.known.Members) == 0 && len(e.Members) > 0 {
		t.known.Members, news = e.Members, true
	}
	return news
}

// printHeader prints the heading, unless the one that is there has the same columns.
func (t *TextRecorder) printHeader() error {
	before := tableHeader(t.columns, t.inner)
	list, inner := columns(&t.run, &t.known, t.width), len(t.known.Inner) > 0
	text := tableHeader(list, inner)
	again := t.columns != nil
	t.columns, t.inner = list, inner
	if again && text == before {
		return nil
	}
	return t.print(nil, text)
}

// row writes an epoch.
func (t *TextRecorder) row(e *event.EpochEvent) string {
	return tableRow(t.columns, e, cmp.Or(t.width, TextWidth))
}

// sentence returns a text that is not of the table, in rows where it goes to a terminal. Those after the first are set
// in.
func (t *TextRecorder) sentence(text string) string {
	if t.width == 0 {
		return text
	}
	begin := text[:len(text)-len(strings.TrimLeft(text, " "))]
	indent := begin + "  "
	return begin + strings.Join(Wrapped(text, t.width-len(indent)), "\n"+indent)
}

// print writes a line unless something failed before.
func (t *TextRecorder) print(err error, line string) error {
	if err == nil {
		_, err = fmt.Fprintln(t.out, line)
	}
	return err
}

// SpectrumLine tells of a spectrum in a line.
func SpectrumLine(e *event.SpectrumEvent) string { return Printable(spectrum(e)) }

func spectrum(e *event.SpectrumEvent) string {
	if e.Stop.Failed() {
		return fmt.Sprintf("%5d no eigenvalues of the %s: %s", e.Epoch, matrix(e.Operator), e.Stop.Text())
	}
	var parts []string
	for i, v := range e.Eigenvalues {
		parts = append(parts, fmt.Sprintf("%.4g±%.1g", float64(v), float64(e.Residuals[i])))
	}
	line := fmt.Sprintf("%5d the %s over %d rows (%s) has an eigenvalue in each of %s", e.Epoch, matrix(e.Operator),
		e.Rows, e.Selection, strings.Join(parts, " "))
	if e.Differences {
		line += "; ± estimated, as products are from differences"
	}
	if e.Stop.Early() {
		line += "; " + OpenEnd(e.Open) + " larger than wanted"
	}
	if e.Trace != nil {
		line += fmt.Sprintf("; trace %.4g±%.1g", float64(e.Trace.Value), float64(e.Trace.Error))
	}
	return line
}

// OpenEnd says of which eigenvalues some ± are larger than they were wanted.
func OpenEnd(end string) string {
	switch end {
	case "largest", "smallest":
		return "some ± of the " + end + " are"
	case "both":
		return "some ± at both ends are"
	}
	return "some ± are"
}

// matrix names a spectrum's operator in a sentence.
func matrix(operator string) string {
	switch operator {
	case "hessian":
		return "Hessian"
	case "gauss-newton":
		return "Gauss–Newton matrix"
	}
	return operator
}

// NewRecorder returns what prints a run in the given format.
func NewRecorder(format string, out, messages io.Writer) (trainer.Recorder, error) {
	return NewRecorderOf(Width(out), format, out, messages)
}

// NewRecorderOf is NewRecorder for what comes to a terminal of a width in the end; 0: to none.
func NewRecorderOf(width int, format string, out, messages io.Writer) (trainer.Recorder, error) {
	if format == "jsonl" {
		return trainer.NewJSONLines(out), nil
	}
	return &TextRecorder{out: out, messages: messages, width: width}, flags.OneOf("--format", format, "text", "jsonl")
}

// Outcome says in one line how a run went.
func Outcome(run *event.RunEvent, done *event.DoneEvent, optimizer string) string {
	epochs := run.Counted() + "s"
	if done.Epochs == 1 {
		epochs = run.Counted()
	}
	reason := string(done.Reason)
	switch done.Reason {
	case event.ReasonEpochs:
		reason = run.Counted() + "s"
	case event.ReasonStalled, event.ReasonPatience:
		reason += ": " + done.Message
	}
	text := run.Data.Name + ": "
	if optimizer != "" {
		text += optimizer + ", "
	}
	text += fmt.Sprintf("%d %s", done.Epochs, epochs)
	if took := seconds(done.Elapsed); took != "" {
		text += " in " + took
	}
	text += " (" + reason + ")"
	switch {
	case run.Data.ValidationRows > 0:
		text += validated(run, done)
	case run.Data.Classes > 0 && run.Data.TestRows > 0 && !done.TestError.Absent():
		text += fmt.Sprintf(", test error %s, best %s in %s %d", Percent(done.TestError), Percent(done.BestTestError),
			run.Counted(), done.BestEpoch)
	case run.Data.TestRows > 0 && !done.TestRMSE.Absent():
		text += fmt.Sprintf(", test %s %s, best %s in %s %d", run.Data.RMSE(), Number(done.TestRMSE, 4),
			Number(done.BestTestRMSE, 4), run.Counted(), done.BestEpoch)
	case !run.External() || !done.Loss.Absent():
		text += ", loss " + Number(done.Loss, 4)
	}
	return Printable(text)
}

// validated says how a run with validation rows went: what decided, and what the weights that it ends with reach on the
// test rows.
func validated(run *event.RunEvent, done *event.DoneEvent) string {
	kind, best, test := "error", Percent(done.ValidationError), Percent(done.TestError)
	if run.Data.Classes == 0 {
		kind, best, test = "RMSE", Number(done.ValidationRMSE, 4), Number(done.TestRMSE, 4)
	}
	best = fmt.Sprintf("validation %s %s", kind, best)
	test = fmt.Sprintf("test %s %s", kind, test)
	at := fmt.Sprintf("%s %d", run.Counted(), done.BestEpoch)
	switch {
	case done.Weights != event.WeightsBest && run.Data.TestRows > 0:
		return fmt.Sprintf(", %s, best %s in %s", test, best, at)
	case done.Weights != event.WeightsBest:
		return fmt.Sprintf(", best %s in %s", best, at)
	case run.Data.TestRows > 0:
		return fmt.Sprintf(", best %s: %s, %s", at, best, test)
	}
	return fmt.Sprintf(", best %s: %s", at, best)
}
