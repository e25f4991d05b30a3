package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"newtop/internal/format"
	"newtop/internal/routine"
	"newtop/trainer"
	"newtop/trainer/alert"
	"newtop/trainer/event"
	"newtop/trainer/logs/files"
	"newtop/trainer/store/recorder"
	"newtop/trainer/stream"
)

// ConsoleFile is what a trial's program printed, in the trial's directory.
const ConsoleFile = "console.log"

// usualMetrics are what a program's trials are judged by where nobody says: the first that one of them tells.
var usualMetrics = []event.Quantity{event.ValidationLoss, event.ValidationError, event.ValidationRMSE, event.TestLoss,
	event.TestError, event.TestRMSE, event.Loss, event.Error, event.RMSE}

// metric is what trials of a program are judged by.
type metric struct {
	names []string // that may be it, the preferred first
	of    []func(*event.EpochEvent) (event.Float, int)
	at    int  // the name that it is so far; as many as there are: none was told
	fixed bool // a trial came to its end, and had it
}

func newMetric(by string) *metric {
	m := &metric{names: []string{by}}
	if by == "" {
		m.names = nil
		for _, q := range usualMetrics {
			m.names = append(m.names, q.Info().Name)
		}
	}
	for _, name := range m.names {
		m.of = append(m.of, alert.Metric(name))
	}
	m.at = len(m.names)
	return m
}

// name is the metric's, empty so far.
func (m *metric) name() string {
	if m.at < len(m.names) {
		return m.names[m.at]
	}
	return ""
}

// fatal is what ends a trial at once. Where trials are judged by what is no loss, one may rise beside it, as in
// reinforcement learning.
func (m *metric) fatal() []alert.Kind {
	if len(m.names) == 1 && !strings.Contains(strings.ToLower(m.names[0]), "loss") {
		return []alert.Kind{alert.NaN}
	}
	return []alert.Kind{alert.Divergence}
}

// process is the session of a trial that a program trains. Run reads the program alone.
type process struct {
	reports  chan<- report
	trial    *trial // of which only what never changes is read
	metric   *metric
	timeout  time.Duration
	program  *stream.Program
	log      string // "" for the console
	console  *os.File
	record   *recorder.Watched
	settings map[string]any
	rise     *alert.Watch
	begun    time.Time
	stopped  atomic.Bool // by the search
	late     atomic.Bool // it took longer than it may
	last     []string    // lines that it printed
	told     map[string]bool
	judged   bool  // some value that trials may be judged by was told
	useless  error // why no other trial can come to more than this one, where it told nothing to judge by
}

var _ session = (*process)(nil)

// launch starts a trial's program. A run that a trial left which was cut short is nobody's any more.
func (r *runner) launch(ctx context.Context, t *trial) (_ *process, err error) {
	if t.Run != "" {
		_ = r.store.Remove(ctx, t.Run) // else it has another name, or is in nobody's way
	}
	o := r.config.Program
	if t.Dir, err = o.newDir(r.config.Name, t.Number); err != nil {
		return nil, err
	}
	values := valuesOf(t, t.Dir)
	args, env := o.arguments(r.space.names, values), o.environ(r.space.names, t.Choices, values)
	if n := len(o.GPUs); n > 0 {
		for _, name := range []string{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"} {
			env = append(env, name+"="+o.GPUs[t.place%n])
		}
	}
	p := &process{reports: r.reports, trial: t, metric: r.metric, timeout: o.Timeout, begun: time.Now(),
		rise: alert.New(alert.Rules{Kinds: r.metric.fatal()}), told: map[string]bool{},
		settings: map[string]any{}}
	if o.Log != "" {
		p.log, _, _ = expand(o.Log, r.space.names, values)
		if !filepath.IsAbs(p.log) {
			p.log = filepath.Join(o.Dir, p.log)
		}
	}
	if p.console, err = os.Create(filepath.Join(t.Dir, ConsoleFile)); err != nil {
		return nil, err
	}
	for _, c := range t.Choices {
		p.settings[c.Key] = c.Value
	}
	p.record = recorder.NewWatched(r.store, recorder.About{Name: fmt.Sprintf("%s.%d", r.config.Name, t.Number),
		Command: format.Masked(format.QuoteAll(args)), Version: r.config.Version})
	p.program, err = stream.Start(args, stream.Beside{Dir: o.Dir, Console: p.console,
		Env: func(environ []string) []string { return append(environ, env...) }})
	if err != nil {
		return nil, errors.Join(err, p.console.Close())
	}
	p.see(event.RunEvent{Version: 1, Data: event.DataInfo{Name: filepath.Base(p.program.Name())}})
	t.Run, t.recorder = p.record.Recording()
	return p, nil
}

// Do ends the program where a command says so, and returns when it has ended.
func (p *process) Do(_ context.Context, c event.Command) error {
	if _, stop := c.(event.Stop); stop {
		p.stopped.Store(true)
		p.program.End()
	}
	return nil
}

// Run reads what the program tells until it has ended.
func (p *process) Run(ctx context.Context) *event.DoneEvent {
	if p.timeout > 0 {
		timer := time.AfterFunc(p.timeout, routine.Guard(func() {
			p.late.Store(true)
			p.program.End()
		}))
		defer timer.Stop()
	}
	var err error
	if p.log == "" {
		err = p.read(ctx, p.program, p.see)
	} else {
		err = p.readLog(ctx)
	}
	p.program.End() // what it left running
	done := p.end(err)
	if done.Reason == event.ReasonDiverged {
		p.record.See(event.DivergedEvent{Reason: done.Message}, true)
	}
	p.record.See(*done, true)
	_, recordErr := p.record.Finish() // what goes wrong there, the store's own warning says
	_ = errors.Join(recordErr, p.program.Close(), p.console.Close())
	return done
}

// read gives a function all that a source tells until its end.
func (p *process) read(ctx context.Context, source stream.Source, see func(event.Event)) error {
	for {
		e, err := source.Next(ctx)
		switch {
		case err == nil:
			see(e)
		case errors.Is(err, stream.ErrNone):
			if err := source.Wait(ctx); err != nil {
				return err
			}
		case errors.Is(err, stream.ErrRestart):
			p.record.Restart()
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// readLog reads the program's log, until it has ended and all is read, and its console beside.
func (p *process) readLog(ctx context.Context) error {
	source := stream.Await(files.Here(p.log), "")
	if stream.HoldsRuns(files.Here(p.log)) {
		source, _ = stream.Open(files.Here(p.log), "") // a directory, in which nothing may be yet
	}
	defer source.Close()
	running, cancel := context.WithCancel(ctx)
	console := make(chan error, 1)
	routine.Go(func() {
		defer cancel()
		console <- p.read(ctx, p.program, func(e event.Event) {
			if e, is := e.(event.ConsoleEvent); is {
				p.print(e.Text)
			}
		})
	})
	err := p.read(running, source, p.see)
	programErr := <-console
	if !errors.Is(err, context.Canceled) {
		return cmp.Or(err, programErr)
	}
	p.program.End() // what it left running may write
	return cmp.Or(stream.ReadAll(ctx, source, func(e event.Event) error {
		p.see(e)
		return nil
	}, p.record.Restart), programErr)
}

// maxLast bounds the lines that are kept of a program's console.
const maxLast = 3

func (p *process) print(line string) {
	if line = strings.TrimSpace(line); line != "" {
		p.last = append(p.last[max(0, len(p.last)-maxLast+1):], line)
	}
}

// see records an event, and reports what trials are judged by.
func (p *process) see(e event.Event) {
	switch e := e.(type) {
	case event.ConsoleEvent:
		p.print(e.Text)
	case event.DoneEvent: // which the search says better
	case event.RunEvent:
		e.ID, e.Seed = "", p.trial.Seed
		settings := maps.Clone(p.settings)
		maps.Copy(settings, e.Settings)
		e.Settings = settings
		p.record.See(e, true)
	case event.EpochEvent:
		p.record.See(e, true)
		p.judge(&e)
	default:
		p.record.See(e, true)
	}
}

// judge reports the values of an epoch that trials may be judged by.
func (p *process) judge(e *event.EpochEvent) {
	f := epochMetrics{loss: float64(e.Loss), seconds: time.Since(p.begun).Seconds(), test: math.NaN(), tie: math.NaN()}
	p.hear(e)
	worth := false
	for _, of := range p.metric.of {
		v, epoch := of(e)
		f.told = append(f.told, toldValue{v, epoch})
		worth = worth || !v.Absent()
	}
	p.judged = p.judged || worth
	for _, a := range p.rise.See(*e) {
		f.diverged, worth = a.Text, true
	}
	if worth {
		p.reports <- report{trial: p.trial, metrics: &f}
	}
}

// hear notes the names of what an epoch tells.
func (p *process) hear(e *event.EpochEvent) {
	for i := range e.Metrics {
		p.told[e.Metrics[i].Key] = true
	}
	for _, q := range usualMetrics {
		v := *q.Of(e)
		named := slices.ContainsFunc(e.Metrics, func(m event.Metric) bool { return m.Value == v || 1-m.Value == v })
		if !v.Absent() && !named {
			p.told[q.Info().Key] = true
		}
	}
}

// choose gives what a trial told the value that trials are judged by, and reports whether there is one, and whether it
// is of a better name than what came before.
func (m *metric) choose(f *epochMetrics) (is, better bool) {
	for i := range m.names {
		if !f.told[i].v.Absent() && i < m.at && !m.fixed {
			better, m.at = m.at < len(m.names), i
		}
	}
	if m.at == len(m.names) {
		return false, false
	}
	v := f.told[m.at]
	f.value, f.epoch, f.equivalents = float64(v.v), v.epoch, float64(v.epoch)
	return !v.v.Absent() || f.diverged != "", better
}

// end says how the program ended.
func (p *process) end(err error) *event.DoneEvent {
	done := event.UnknownDone()
	done.Reason = event.ReasonFinished
	status := p.program.Status()
	switch {
	case p.late.Load():
		done.Reason, done.Message = event.ReasonTime, fmt.Sprintf("ended after %s", p.timeout)
	case p.stopped.Load():
		done.Reason = event.ReasonStopped
		return &done
	case status != nil:
		done.Reason, done.Message = event.ReasonFailed, status.Error()
		if len(p.last) > 0 {
			done.Message += ": " + strings.Join(p.last, " / ")
		}
		// by what a shell or env ends with that can't start a program [POSIX.1-2024, Shell Command Language 2.8.2]
		e, is := errors.AsType[*exec.ExitError](status)
		if is && (e.ExitCode() == 126 || e.ExitCode() == 127) && !p.judged {
			p.useless = unstartable(p.program.Name(), done.Message)
		}
		return &done
	case err != nil:
		done.Reason, done.Message = event.ReasonFailed, oneLine(err)
		return &done
	default:
		p.useless = p.untold()
	}
	if !p.judged {
		done.Reason = event.ReasonFailed
		done.Message = cmp.Or(done.Message, "it ended") + " without a value of " + p.metric.wanted()
		if len(p.told) > 0 {
			done.Message += "; it told " + p.names()
		} else {
			done.Message += p.lacks()
		}
	}
	return &done
}

// names lists what the program told.
func (p *process) names() string { return strings.Join(slices.Sorted(maps.Keys(p.told)), ", ") }

// lacks says that there is no log.
func (p *process) lacks() string {
	if _, err := os.Stat(p.log); p.log != "" && err != nil {
		return "; there is no " + p.log
	}
	return ""
}

// untold says what a program that ended well would have to tell; nil for one that told it.
func (p *process) untold() error {
	by := &trainer.ConfigError{Field: "By", Value: "none",
		Expected: "the name of a metric of the program: " + p.names()}
	switch {
	case p.judged:
		return nil
	case len(p.told) == 0:
		return &trainer.ConfigError{Field: "Program", Value: p.program.Name(),
			Expected: "one that prints or logs values as in step=1 loss=0.5; it ended and told none" + p.lacks()}
	case len(p.metric.names) == 1:
		by.Value = p.metric.names[0]
	}
	return by
}

// unstartable says why a program can't be started.
func unstartable(name, reason string) error {
	return &trainer.ConfigError{Field: "Program", Value: name, Expected: "one that starts: " + reason}
}

// wanted names what a program is to tell.
func (m *metric) wanted() string {
	if len(m.names) == 1 {
		return m.names[0]
	}
	return "a loss or an error: --by NAME names another metric"
}
