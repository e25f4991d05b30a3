package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"

	"newtop/internal/format"
	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/style"
)

// The commands that are served.
const (
	statusCommand     = "status"
	statusJSONCommand = "status --json"
)

// news is the latest of a run, for those who ask for its status. One goroutine takes it in.
type news struct {
	feed   feed.Feed
	cancel context.CancelFunc
	ended  chan struct{}

	mu       sync.Mutex
	run      *event.RunEvent
	measure  event.Measure
	last     *event.EpochEvent
	finite   event.Float // the latest value of the measure that is
	broken   bool        // one came since that is not
	records  []record    // each better than the one before; the last is the best
	status   event.Status
	diverged *event.DivergedEvent
	done     *event.DoneEvent
}

// record is an epoch that was better than all before it.
type record struct {
	epoch int
	value event.Float
	tie   event.Float // what decides between epochs with the same value
}

func newNews(run Run) *news {
	ctx, cancel := context.WithCancel(context.Background())
	n := &news{feed: run.Feed(), cancel: cancel, ended: make(chan struct{}), finite: event.Absent}
	routine.Go(func() {
		defer close(n.ended)
		for {
			d, err := n.feed.Wait(ctx)
			if err != nil {
				return
			}
			n.apply(&d)
		}
	})
	return n
}

// close lets the run go.
func (n *news) close() {
	n.cancel()
	<-n.ended
	n.feed.Close()
}

func (n *news) apply(d *feed.Delta) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status = d.Status
	if d.Run != nil {
		n.run, n.measure, n.finite, n.broken = d.Run, d.Run.Measure(), event.Absent, false
	}
	if d.Diverged != nil {
		n.diverged = d.Diverged
	}
	if d.Done != nil {
		n.done = d.Done
	}
	for i := range d.Epochs {
		e := d.Epochs[i]
		more := n.last != nil && n.last.Epoch == e.Epoch && n.run != nil && n.run.External() && len(d.Rewinds) == 0
		n.epoch(&e, more)
		if more {
			e = n.last.With(&e)
		}
		n.last = &e
	}
}

// epoch keeps an epoch if it is the best. One that comes again was rewound to, and what followed it is given up, unless
// it is more of the latest one, as its validation.
func (n *news) epoch(e *event.EpochEvent, more bool) {
	for k := len(n.records); !more && k > 0 && n.records[k-1].epoch >= e.Epoch; k-- {
		n.records = n.records[:k-1]
	}
	if m := n.measure.With(e); m != n.measure {
		n.measure, n.finite, n.broken = m, event.Absent, false
	}
	v := *n.measure.Of(e)
	if n.broken = v.NonFinite() || v.Absent() && n.broken; v.Finite() {
		n.finite = v
	}
	order := n.measure.Order()
	tie := *order[len(order)-1].Of(e)
	if k := len(n.records); v.Finite() && (k == 0 || v < n.records[k-1].value || v == n.records[k-1].value &&
		tie < n.records[k-1].tie) {
		n.records = append(n.records, record{e.Epoch, v, tie})
	}
}

// text writes a value of the run's measure.
func (n *news) text(v event.Float) string {
	if n.measure.Info().Share {
		return fmt.Sprintf("%.2f %%", 100*float64(v))
	}
	return fmt.Sprintf("%.4g", float64(v))
}

// measureText is the latest finite value of the measure, and a × behind it where one came since that is not finite.
func (n *news) measureText() string {
	var words []string
	if n.finite.Finite() {
		words = append(words, n.text(n.finite))
	}
	if n.broken {
		words = append(words, "×")
	}
	return strings.Join(words, " ")
}

// line is the status in words.
func (n *news) line() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &n.status
	name := "newtop"
	if n.run != nil {
		name = clean(n.run.Data.Name, longestName)
	}
	words := []string{n.optimizer(), fmt.Sprintf("%s %d", n.run.Counted(), s.Epoch)}
	if s.EpochLimit > 0 {
		words[1] += fmt.Sprintf(" of %d", s.EpochLimit)
	}
	words = append(words, n.phase())
	if n.last != nil {
		if w := n.measureText(); w != "" {
			words = append(words, n.measure.Info().Name+" "+w)
		}
	}
	if k := len(n.records); k > 0 {
		best := n.records[k-1]
		words = append(words, fmt.Sprintf("best %s in %s %d", n.text(best.value), n.run.Counted(), best.epoch))
	}
	watching, control := n.audience()
	switch watching {
	case 0:
		words = append(words, "nobody is watching")
	case 1:
		words = append(words, "1 viewer")
	default:
		words = append(words, fmt.Sprintf("%d viewers", watching))
	}
	switch len(control) {
	case 0:
	case 1:
		words = append(words, control[0]+" controls")
	default:
		words = append(words, strings.Join(control, " and ")+" control")
	}
	if words[0] == "" {
		words = words[1:]
	}
	return style.Clean(name + ": " + strings.Join(words, ", "))
}

func (n *news) optimizer() string {
	if n.status.Optimizer == "" && n.run != nil {
		return n.run.Optimizer
	}
	return n.status.Optimizer
}

// phase says what the run is doing, and of one that has ended why it did.
func (n *news) phase() string {
	switch {
	case n.done == nil:
		return n.status.Phase.String()
	case n.done.Reason == event.ReasonDiverged && n.diverged != nil:
		return "diverged: " + clean(n.diverged.Reason, longestLine)
	case n.done.Message != "":
		return string(n.done.Reason) + ": " + clean(n.done.Message, longestLine)
	}
	return "ended (" + string(n.done.Reason) + ")"
}

// audience is how many watch, and the names of those who may steer, each once.
func (n *news) audience() (watching int, control []string) {
	if n.status.Audience == nil {
		return 0, nil
	}
	seen := map[string]bool{}
	for _, v := range n.status.Audience.Viewers {
		if v.Control && !seen[v.Key] {
			seen[v.Key] = true
			control = append(control, v.Name)
		}
	}
	return len(n.status.Audience.Viewers), control
}

// statusReport is what status --json prints. Numbers that there are none of are null.
type statusReport struct {
	ID                  string           `json:"id"`
	Name                string           `json:"name"`
	Optimizer           string           `json:"optimizer"`
	Phase               string           `json:"phase"`
	Epoch               int              `json:"epoch"`
	Epochs              int              `json:"epochs,omitempty"` // the limit
	Loss                event.Float      `json:"loss"`
	TestLoss            event.Float      `json:"test_loss"`
	Error               event.Float      `json:"error"`
	TestError           event.Float      `json:"test_error"`
	RMSE                event.Float      `json:"rmse"`
	TestRMSE            event.Float      `json:"test_rmse"`
	ValidationLoss      event.Float      `json:"validation_loss"`
	ValidationError     event.Float      `json:"validation_error"`
	ValidationRMSE      event.Float      `json:"validation_rmse"`
	Measure             string           `json:"measure"` // what best is the least of
	Best                event.Float      `json:"best"`
	BestEpoch           int              `json:"best_epoch"`
	Elapsed             event.Float      `json:"elapsed"` // training seconds
	GradientEquivalents event.Float      `json:"gradient_equivalents"`
	Computing           string           `json:"computing,omitempty"`
	Racing              bool             `json:"racing,omitempty"`
	Reason              string           `json:"reason,omitempty"` // why it ended
	Message             string           `json:"message,omitempty"`
	Viewers             int              `json:"viewers"`
	Control             []string         `json:"control"` // who of them may steer
	Recording           *recordingReport `json:"recording,omitempty"`
}

type recordingReport struct {
	Run     string `json:"run"`
	Backlog int    `json:"backlog"`
	Lost    int    `json:"lost"`
	Warning string `json:"warning,omitempty"`
}

// json is the status as one JSON object on one line.
func (n *news) json() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	nan := event.Float(math.NaN())
	s := &n.status
	r := statusReport{
		Optimizer: n.optimizer(), Phase: s.Phase.String(), Epoch: s.Epoch, Epochs: s.EpochLimit,
		Loss: nan, TestLoss: nan, Error: nan, TestError: nan, RMSE: nan, TestRMSE: nan, ValidationLoss: nan,
		ValidationError: nan, ValidationRMSE: nan, Best: nan,
		Elapsed: event.Float(s.Elapsed), GradientEquivalents: event.Float(s.Equivalents),
		Computing: s.Computing, Racing: s.Racing, Control: []string{},
	}
	if n.run != nil {
		r.ID, r.Name = n.run.ID, n.run.Data.Name
	}
	if e := n.last; e != nil {
		r.Loss, r.TestLoss, r.Error, r.TestError, r.RMSE, r.TestRMSE = e.Loss, e.TestLoss, e.Error, e.TestError, e.RMSE,
			e.TestRMSE
		r.ValidationLoss, r.ValidationError, r.ValidationRMSE = e.ValidationLoss, e.ValidationError, e.ValidationRMSE
		r.Measure = n.measure.Info().Name
	}
	if k := len(n.records); k > 0 {
		r.Best, r.BestEpoch = n.records[k-1].value, n.records[k-1].epoch
	}
	if n.done != nil {
		r.Reason, r.Message = string(n.done.Reason), n.done.Message
		if n.diverged != nil && r.Message == "" {
			r.Message = n.diverged.Reason
		}
	}
	var control []string
	r.Viewers, control = n.audience()
	r.Control = append(r.Control, control...)
	if w := s.Recording; w.Run != "" {
		r.Recording = &recordingReport{Run: w.Run, Backlog: w.Backlog, Lost: w.Lost, Warning: w.Warning}
	}
	line, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("remote: encoding the status: %v", err))
	}
	return format.Printable(string(line))
}
