package runs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/job"
	"newtop/internal/cli/print"
	"newtop/internal/score"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

func newRunsShow(a *job.StoreFlags) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "show RUN", Short: "Show a recorded run in detail", Args: flags.OneArgument("a run's ID or name, or last"),
		ValidArgsFunction: a.Complete(1, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.OneOf("--format", format, "text", "json"); err != nil {
				return err
			}
			return a.With(store.Options{ReadOnly: true}, func(s *store.Store) error {
				runs, err := job.FindRuns(cmd, s, args)
				if err != nil {
					return err
				}
				t, err := summarizeRun(cmd.Context(), s, runs[0])
				if err != nil {
					return err
				}
				t.warn(cmd)
				if format == "json" {
					return print.JSON(cmd.OutOrStdout(), t.report())
				}
				return t.print(cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	flags.Choices(cmd, "format", "text", "json")
	return cmd
}

// runReport is a run as runs show --format json prints it.
type runReport struct {
	runRow
	Repeat   string               `json:"repeat"` // the command that trains the same again
	Config   trainer.Config       `json:"config"`
	Run      *event.RunEvent      `json:"run"`
	First    *event.EpochEvent    `json:"first"`
	Last     *event.EpochEvent    `json:"last"`
	Best     *event.EpochEvent    `json:"best"`
	Stops    map[string]int       `json:"stops"` // inner solves by the reason why they stopped
	Switches []event.SwitchEvent  `json:"switches"`
	Changes  []event.SettingEvent `json:"changes"` // of settings
	Rewinds  []event.RewindEvent  `json:"rewinds"`
	Races    []event.RaceEvent    `json:"races"`
	Resumes  []event.ResumeEvent  `json:"resumes"`
	Saved    []event.SavedEvent   `json:"saved"`
	Spectra  int                  `json:"spectra"`
	Spectrum *event.SpectrumEvent `json:"spectrum"` // the latest
	Diverged *event.DivergedEvent `json:"diverged"`
	Done     *event.DoneEvent     `json:"done"`

	print.Told // what watch --once --format json prints of any run
}

func (t *summary) report() *runReport {
	r, now := t.run, t.now.Now()
	return &runReport{runRow: rowOf(r), Repeat: flags.Command(&r.Config), Config: r.Config, Run: r.Opening,
		First: r.First, Last: r.Last,
		Best: r.Best, Stops: t.stops, Switches: t.switches, Changes: t.settings, Rewinds: t.rewinds, Races: t.races,
		Resumes: t.resumes, Saved: t.saved, Spectra: t.spectra, Spectrum: t.spectrum, Diverged: t.diverged,
		Done: r.Done, Told: now.Told}
}

// sheet is what runs show prints: a name and a text a line.
type sheet struct {
	out   io.Writer
	width int // of the terminal, 0 for none
	err   error
}

// nameWidth is the room for a line's name.
const nameWidth = 14

// line writes a line unless there is nothing to say; in a terminal a long text continues below.
func (s *sheet) line(name, format string, args ...any) {
	text := print.Printable(fmt.Sprintf(format, args...))
	if text == "" || s.err != nil {
		return
	}
	if s.width > 0 {
		text = print.Fold(text, max(s.width-nameWidth, 20))
	}
	text = strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", nameWidth))
	_, s.err = fmt.Fprintln(s.out, strings.TrimRight(fmt.Sprintf("%-*s%s", nameWidth, name, text), " "))
}

// processesText says on how many processes and machines a run trained, and how their sums were added up; empty for one.
func processesText(o *event.RunEvent) string {
	if o.Ranks <= 1 {
		return ""
	}
	text := fmt.Sprintf("%d on %s", o.Ranks, print.Count(max(o.Hosts, 1), "machine"))
	if o.Reduce == "fast" {
		return text + ", sums in MPI's order"
	}
	return text + ", the digits of one"
}

// print writes the summary for people: a line each for what there is to say.
func (t *summary) print(out io.Writer) error {
	w := &sheet{out: out, width: print.Width(out)}
	r := t.run
	w.line("run", "%s", strings.TrimSpace(r.ID+" "+r.Name))
	w.line("note", "%s", r.Note)
	w.line("tags", "%s", strings.Join(r.Tags, " "))
	w.line("state", "%s", t.state())
	w.line("begun", "%s on %s by newtop %s", r.Started.Local().Format(time.DateTime), r.Host, r.Version)
	if o := r.Opening; o != nil && o.External() {
		w.line("data", "%s", o.Data.Name)
		w.line("settings", "%s", o.SettingsText())
	} else if o != nil {
		w.line("data", "%s", dataText(o))
		w.line("program", "%s", o.Model.Program)
		w.line("net", "%s", netText(&o.Model))
		w.line("optimizer", "%s", o.Optimizer)
		w.line("settings", "%s", o.SettingsText())
		w.line("digits", "%s, %s, kernel %s, %s", o.Seeds(), cmp.Or(o.Precision, "float64"), o.Kernel,
			print.Count(o.Threads, "thread"))
		w.line("processes", "%s", processesText(o))
	}
	t.printMetrics(w)
	t.printScores(w)
	t.printMarks(w)
	w.line("record", "%s, %s, %s, %s", print.Count(r.Epochs, r.Opening.Counted()),
		print.Count(r.Inner, "inner iteration"), print.CountOf(t.spectra, "spectrum", "spectra"), print.Bytes(r.Bytes))
	w.line("history", "%s", thinnedText(r))
	w.line("checkpoint", "%s", t.checkpoint())
	w.line("fingerprint", "%s", r.Fingerprint)
	w.line("begun by", "%s", r.Command)
	if r.Opening == nil || !r.Opening.External() {
		w.line("to repeat it", "%s", flags.Command(&r.Config))
	}
	return w.err
}

// dataText says what is known of the data, which of a model that another program has may be its name alone.
func dataText(o *event.RunEvent) string {
	d := &o.Data
	switch {
	case o.Model.Program == "":
		return fmt.Sprintf("%s: %s, %d inputs, %d outputs", d.Name, rowsOf(d), d.Inputs, d.Outputs)
	case d.TrainRows == 0:
		return d.Name
	}
	return fmt.Sprintf("%s: %s", d.Name, rowsOf(d))
}

// netText says what the network is made of.
func netText(m *event.ModelInfo) string {
	parts := []string{m.Shape()}
	if s := strings.Join(append(slices.Clone(m.Activations), m.Loss), " "); s != "" || m.Program == "" {
		parts = append(parts, s)
	}
	return fmt.Sprintf("%s, %d weights", strings.Join(parts, ", "), m.Parameters)
}

// state says what has become of the run.
func (t *summary) state() string {
	r := t.run
	switch {
	case r.State == store.Running:
		return fmt.Sprintf("running, trained by process %d on %s", r.Process, r.Host)
	case r.State == store.Interrupted:
		return "interrupted " + print.When(r.Changed, time.Now()) + ": its process is gone"
	case r.Done != nil && r.Done.Message != "":
		return fmt.Sprintf("%s: %s", r.State, r.Done.Message)
	}
	if words := endings[event.Reason(r.State)]; words != "" {
		return fmt.Sprintf("%s: %s", r.State, words)
	}
	return string(r.State)
}

// endings say why a run has ended.
var endings = map[event.Reason]string{
	event.ReasonEpochs:   "as many as were asked for",
	event.ReasonTarget:   "it was reached",
	event.ReasonTime:     "the limit was reached",
	event.ReasonStopped:  "by a key or a signal",
	event.ReasonDiverged: "no finite loss, or one far above the start",
}

// checkpoint says from where the run can be resumed.
func (t *summary) checkpoint() string {
	if t.run.Checkpoint < 0 {
		return ""
	}
	return fmt.Sprintf("epoch %d", t.run.Checkpoint)
}

// rowsOf counts the rows of each part: those to train on, to decide by, if there are any, and to test on.
func rowsOf(d *event.DataInfo) string {
	if d.ValidationRows > 0 {
		return fmt.Sprintf("%d + %d + %d rows", d.TrainRows, d.ValidationRows, d.TestRows)
	}
	return fmt.Sprintf("%d + %d rows", d.TrainRows, d.TestRows)
}

// printMetrics writes the first, the latest and the best epoch as a table.
func (t *summary) printMetrics(w *sheet) {
	m := t.run.Measure()
	var names []string
	test, text := "test loss", func(e *event.EpochEvent) string { return print.Number(e.TestLoss, 6) }
	if m.Quantity == m.Validation() { // beside which the test figure is of more use
		held := event.Measure{Quantity: m.Test()}
		test, text = held.Info().Name, func(e *event.EpochEvent) string { return print.MeasureOf(held, e) }
	}
	table := print.Table{Headers: []string{">" + t.run.Opening.Counted(), ">loss", ">" + test, ">" + measureName(t.run),
		">time",
		">equivalents"}}
	for _, at := range []struct {
		name string
		e    *event.EpochEvent
	}{{"start", t.run.First}, {"last", t.run.Last}, {"best", t.run.Best}} {
		if at.e != nil {
			names = append(names, at.name)
			table.Rows = append(table.Rows, []string{strconv.Itoa(at.e.Epoch), print.Number(at.e.Loss, 6), text(at.e),
				print.MeasureOf(m, at.e), print.Elapsed(at.e.Elapsed), print.Work(at.e.GradientEquivalents)})
		}
	}
	if names == nil {
		return
	}
	var lines strings.Builder
	table.Print(&lines)
	for i, row := range strings.Split(strings.TrimRight(lines.String(), "\n"), "\n") {
		w.line(append([]string{""}, names...)[i], "  %s", row)
	}
}

// measureName names what a run is judged by, and that an RMSE is not in the units of the data.
func measureName(r *store.Run) string {
	name := r.Measure().Info().Name
	if r.Opening != nil {
		name = strings.Replace(name, "RMSE", r.Opening.Data.RMSE(), 1)
	}
	return name
}

// printScores writes how well the weights do that the run ended with, a line for each split.
func (t *summary) printScores(w *sheet) {
	if t.run.Done == nil {
		return
	}
	name := "scores"
	for i := range t.run.Done.Scores {
		s := &t.run.Done.Scores[i]
		w.line(name, "%s", print.Scores(score.Rows(s.Split), s))
		name = ""
	}
}

// printMarks writes what was done to the run, and what was computed beside it.
func (t *summary) printMarks(w *sheet) {
	var parts []string
	for _, name := range t.reasons() {
		parts = append(parts, fmt.Sprintf("%s %d", t.text[name], t.stops[name]))
	}
	if t.solves > 0 {
		w.line("inner solves", "%d: %s", t.solves, strings.Join(parts, ", "))
	}
	for _, e := range t.switches {
		w.line("switch", "after epoch %d: %s → %s", e.Epoch, e.From, e.To)
	}
	for _, e := range t.settings {
		w.line("setting", "after epoch %d: %s = %v", e.Epoch, e.Key, e.Value)
	}
	for _, e := range t.rewinds {
		w.line("rewind", "from epoch %d to %d", e.Epoch, e.To)
	}
	for _, e := range t.races {
		if e.State == "picked" && e.Picked >= 0 && e.Picked < len(e.Racers) {
			w.line("race", "after epoch %d: %d racers, %s was picked", e.Epoch, len(e.Racers), e.Racers[e.Picked].Name)
		}
	}
	for _, e := range t.resumes {
		w.line("resumed", "after epoch %d, %s", e.Epoch, e.Time.Local().Format(time.DateTime))
	}
	for _, e := range t.saved {
		w.line("saved", "epoch %d: %s, %s, %s", e.Epoch, e.File, e.Format, print.Bytes(e.Bytes))
	}
	if t.spectrum != nil {
		text := strings.TrimPrefix(strings.TrimSpace(print.SpectrumLine(t.spectrum)),
			strconv.Itoa(t.spectrum.Epoch)+" ")
		w.line("spectrum", "after %s %d: %s", t.run.Opening.Counted(), t.spectrum.Epoch, text)
	}
	if t.diverged != nil {
		w.line("diverged", "in epoch %d: %s", t.diverged.Epoch, t.diverged.Reason)
	}
}
