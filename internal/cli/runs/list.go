package runs

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// runColumn is a column of the list of runs. In a terminal those of the highest rank go first where there is no room.
type runColumn struct {
	header string // as a print.Table's
	rank   int
	text   func(r *store.Run) string
}

// runColumns returns the columns of a list: people's in a terminal, with everything in a pipe.
func runColumns(inTerminal bool, now time.Time) []runColumn {
	id := func(r *store.Run) string { return r.ID }
	begun := func(r *store.Run) string { return r.Started.Local().Format(time.DateTime) }
	if inTerminal {
		id = func(r *store.Run) string { return print.ShortID(r.ID) }
		begun = func(r *store.Run) string { return print.When(r.Started, now) }
	}
	return []runColumn{
		{header: "ID", text: id},
		{header: "NAME", rank: 2, text: func(r *store.Run) string { return r.Name }},
		{header: "BEGUN", rank: 4, text: begun},
		{header: "DATA", text: (*store.Run).DataName},
		{header: "NET", rank: 6, text: shapeOf},
		{header: "OPTIMIZER", text: (*store.Run).Method},
		{header: ">SEED", rank: 7, text: func(r *store.Run) string { return fmt.Sprint(r.Config.Seed) }},
		{header: ">EPOCHS", rank: 1, text: func(r *store.Run) string { return fmt.Sprint(r.Epoch()) }},
		{header: ">BEST", text: func(r *store.Run) string { return print.MeasureOf(r.Measure(), r.Best) }},
		{header: ">TIME", rank: 5, text: func(r *store.Run) string {
			if r.Last == nil {
				return "."
			}
			return print.Elapsed(r.Last.Elapsed)
		}},
		{header: "STATE", rank: 3, text: stateText},
	}
}

// stateText says what has become of a run, and marks one whose row is damaged.
func stateText(r *store.Run) string {
	if r.Damage != nil {
		return string(r.State) + ", damaged"
	}
	return string(r.State)
}

// shapeOf writes the layers of a run's net.
func shapeOf(r *store.Run) string {
	if r.Opening == nil {
		return "."
	}
	return r.Opening.Model.Shape()
}

func listText(cmd *cobra.Command, runs []store.Run) error {
	if len(runs) == 0 {
		return nil
	}
	width := print.Width(cmd.OutOrStdout())
	g := listed(runs, width > 0, time.Now())
	return g.Fit(cmd.OutOrStdout(), width)
}

// listed returns the list of runs as a table.
func listed(runs []store.Run, inTerminal bool, now time.Time) *print.Table {
	columns := runColumns(inTerminal, now)
	var g print.Table
	for _, c := range columns {
		g.Headers, g.Ranks = append(g.Headers, c.header), append(g.Ranks, c.rank)
	}
	for k := range runs {
		var row []string
		for _, c := range columns {
			row = append(row, c.text(&runs[k]))
		}
		g.Add(row...)
	}
	return &g
}

// runRow is a run in a line for programs. Figures are those of the latest epoch, but for the best ones.
type runRow struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	State      store.State `json:"state"`
	Started    time.Time   `json:"begun"`
	Changed    time.Time   `json:"changed"`
	Data       string      `json:"data"`
	Net        string      `json:"net"`
	Parameters int         `json:"parameters"`
	Optimizer  string      `json:"optimizer"` // that it began with
	Seed       uint64      `json:"seed"`
	Epoch      int         `json:"epoch"`
	Limit      int         `json:"epoch_limit"` // 0 for none
	Loss       event.Float `json:"loss"`
	TestLoss   event.Float `json:"test_loss"`
	Error      event.Float `json:"error"`
	TestError  event.Float `json:"test_error"`
	RMSE       event.Float `json:"rmse"`
	TestRMSE   event.Float `json:"test_rmse"`
	BestEpoch  int         `json:"best_epoch"` // by the validation rows, if there are any
	BestError  event.Float `json:"best_test_error"`
	BestRMSE   event.Float `json:"best_test_rmse"`
	// Of the best epoch; null without validation rows.
	ValidationLoss  event.Float `json:"best_validation_loss"`
	ValidationError event.Float `json:"best_validation_error"`
	ValidationRMSE  event.Float `json:"best_validation_rmse"`

	Equivalents event.Float `json:"gradient_equivalents"`
	Elapsed     event.Float `json:"elapsed"`    // training seconds
	Checkpoint  int         `json:"checkpoint"` // epoch to resume from; −1 for none
	Inner       int         `json:"inner_iterations"`
	Command     string      `json:"command"`
	Host        string      `json:"host"`
	Process     int         `json:"process"`
	Version     string      `json:"version"`
	Bytes       int64       `json:"bytes"`
	Thinned     int         `json:"thinned_epochs"` // that were taken out of the history
	Damage      string      `json:"damage"`         // what is wrong with its row; empty: nothing
}

func rowOf(r *store.Run) runRow {
	row := runRow{ID: r.ID, Name: r.Name, State: r.State, Started: r.Started, Changed: r.Changed, Data: r.DataName(),
		Optimizer: r.Method(),
		Seed:      r.Config.Seed, Limit: r.Config.Epochs, Checkpoint: r.Checkpoint, Inner: r.Inner, Command: r.Command,
		Host:    r.Host,
		Process: r.Process, Version: r.Version, Bytes: r.Bytes}
	row.Thinned = r.Thinned
	if r.Damage != nil {
		row.Damage = print.OneLine(r.Damage)
	}
	if r.Opening != nil {
		row.Net, row.Parameters = r.Opening.Model.Shape(), r.Opening.Model.Parameters
	}
	unknown := event.UnknownEpoch(0)
	last, best := cmp.Or(r.Last, &unknown), cmp.Or(r.Best, &unknown)
	row.Epoch, row.Loss, row.TestLoss = last.Epoch, last.Loss, last.TestLoss
	row.Error, row.TestError, row.RMSE, row.TestRMSE = last.Error, last.TestError, last.RMSE, last.TestRMSE
	row.Equivalents, row.Elapsed = last.GradientEquivalents, last.Elapsed
	row.BestEpoch, row.BestError, row.BestRMSE = best.Epoch, best.TestError, best.TestRMSE
	row.ValidationLoss, row.ValidationError = best.ValidationLoss, best.ValidationError
	row.ValidationRMSE = best.ValidationRMSE
	return row
}

func listJSON(cmd *cobra.Command, runs []store.Run) error {
	rows := make([]runRow, len(runs))
	for i := range runs {
		rows[i] = rowOf(&runs[i])
	}
	return print.JSON(cmd.OutOrStdout(), rows)
}

func listCSV(cmd *cobra.Command, runs []store.Run) error {
	w := csv.NewWriter(cmd.OutOrStdout())
	names := fieldNames(reflect.TypeFor[runRow]())
	if err := w.Write(names); err != nil {
		return err
	}
	for i := range runs {
		row := rowOf(&runs[i])
		if err := w.Write(fieldTexts(reflect.ValueOf(row))); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
