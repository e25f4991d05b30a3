package runs

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/search"
	"newtop/trainer/tune"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// shortID is the end of an ID, by which a run is known too.
func shortID(id string) string { return id[strings.LastIndexByte(id, '-')+1:] }

// label names a row to its user.
func (r *row) label() string {
	switch {
	case r.sweep != nil:
		return style.Clean(r.sweep.Name)
	case r.run.Name != "":
		return style.Clean(r.run.Name)
	}
	return style.Clean(shortID(r.run.ID))
}

func (r *row) name() string { return r.label() }

func (r *row) data() string {
	if r.run == nil {
		return r.all.Data
	}
	return r.run.DataName()
}

func (r *row) net() string {
	if r.run == nil || r.run.Opening == nil {
		return ""
	}
	return r.run.Opening.Model.Shape()
}

func (r *row) method() string {
	if r.run == nil {
		return "search"
	}
	return r.run.Method()
}

func (r *row) seed() string {
	if r.run == nil {
		return ""
	}
	return format.Count(int(r.run.Config.Seed))
}

// epochs are those of a run, or the trials of a search, in a column of w.
func (r *row) epochs(w int) string {
	if r.run != nil {
		return format.Count(r.run.Epoch())
	}
	if s := format.Counted(r.all.Trials, "trial"); style.Cells(s) <= w {
		return s
	}
	return format.Count(r.all.Trials)
}

func (r *row) epoch() float64 {
	if r.run == nil {
		return math.NaN()
	}
	return float64(r.run.Epoch())
}

func (r *row) elapsed() float64 {
	switch {
	case r.run == nil:
		return r.all.Seconds
	case r.run.Last == nil:
		return math.NaN()
	}
	return float64(r.run.Last.Elapsed)
}

func (r *row) started() time.Time {
	if r.run == nil {
		return r.all.Started
	}
	return r.run.Started
}

func (r *row) tags() string {
	if r.run == nil {
		return ""
	}
	return strings.Join(r.run.Tags, " ")
}

func (r *row) note() string {
	if r.run == nil {
		return ""
	}
	return r.run.Note
}

func (r *row) stateWord() string {
	switch {
	case r.run == nil:
		return r.sweep.State()
	case r.run.State == store.State(event.ReasonEpochs):
		return "done"
	}
	return string(r.run.State)
}

// states say what has become of a run or a search by a sign and a colour; the others are over in order.
var states = map[string]struct {
	sign string
	ink  style.Token
}{
	string(store.Running):        {"●", style.Good},
	"searching":                  {"●", style.Good},
	"finals":                     {"●", style.Good},
	string(store.Interrupted):    {"‖", style.Warn},
	string(event.ReasonTarget):   {"✓", style.Good},
	string(event.ReasonStopped):  {"–", style.Muted},
	string(event.ReasonStalled):  {"–", style.Warn},
	string(event.ReasonDiverged): {"×", style.Bad},
	string(event.ReasonFailed):   {"✗", style.Bad},
}

// state is what has become of it.
func (r *row) state() style.Part {
	word := r.stateWord()
	s, ok := states[word]
	if !ok {
		s.sign, s.ink = "■", style.Text
	}
	if r.run != nil && r.run.Damage != nil {
		word, s.ink = word+", damaged", style.Bad
	}
	return s.ink.Of(s.sign + " " + style.Clean(word))
}

// valueText names what a run is judged by, as its log does, and writes what an epoch has of it.
func valueText(m *Model, r *row, e *event.EpochEvent) (name, text string) {
	logged, accuracy := loggedAs(e, r.measure.Quantity)
	name, v := r.measure.Info().Name, r.measure.Value(e)
	switch {
	case !r.measure.Info().Share:
		return cmp.Or(logged, name), format.Number(v)
	case !accurate(m, r):
		return name, format.Percent(v)
	case !accuracy:
		logged = strings.Replace(name, "error", "accuracy", 1)
	}
	return logged, format.Percent(1 - v)
}

// bestText writes the best of a run in a list of errors, in which an accuracy is called so.
func bestText(m *Model, r *row) string {
	_, text := valueText(m, r, r.run.Best)
	if accurate(m, r) {
		text = "acc " + text
	}
	return text
}

// accurate reports whether a run that is judged by errors is shown with accuracies.
func accurate(m *Model, r *row) bool {
	if !r.measure.Info().Share || r.run == nil || r.run.Best == nil {
		return false
	}
	_, accuracy := loggedAs(r.run.Best, r.measure.Quantity)
	return m.Accurate(accuracy)
}

// loggedAs is what another program calls a quantity in the log of an epoch, "" for none; accuracy: the quantity, an
// error, is what that lacks of 1.
func loggedAs(e *event.EpochEvent, q event.Quantity) (name string, accuracy bool) {
	for i := range e.Metrics {
		if of, known := event.QuantityOf(e.Metrics[i].Note().Of); known && of == q {
			name = e.Metrics[i].Key
			return name, event.ParseTag(name).Accuracy
		}
	}
	return "", false
}

// logsAccuracy reports whether the log of a recorded run has accuracies.
func logsAccuracy(m *Model) bool {
	return slices.ContainsFunc(m.rows, func(r *row) bool {
		if r.run == nil || r.run.Best == nil {
			return false
		}
		_, accuracy := loggedAs(r.run.Best, r.measure.Quantity)
		return accuracy
	})
}

// ageText writes how long ago something was, in one unit.
func ageText(d time.Duration, unknown bool) string {
	const day = 24 * time.Hour
	switch {
	case unknown:
		return dash.Text
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return format.Count(int(d/time.Minute)) + " min"
	case d < 2*day:
		return format.Count(int(d/time.Hour)) + " h"
	}
	return format.Count(int(d/day)) + " d"
}

// row is a line of the list: a run, or a search, which opens into the runs of its trials.
type row struct {
	key     string
	run     *store.Run  // nil for a search
	sweep   *tune.Sweep // nil for a run
	all     search.Search
	trial   bool
	measure event.Measure
	best    float64 // NaN for none
	text    string  // what the filter looks at
}

// dash stands for what a run does not have.
var dash = style.Muted.Of("–")

type (
	column = widget.Column[*row]
	table  = widget.Table[*row]
)

// The columns that are more than text.
const (
	nameColumn  = "name"
	stateColumn = "state"
	countColumn = "epochs"
	curveColumn = "curve"
)
