// Package notify brings alerts to a user who does not look: by the terminal's bell or its notification, by a command,
// by a webhook. It never keeps its caller waiting.
package notify

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/alert"
)

// Message is what is brought.
type Message struct {
	alert.Alert
	Run  string // its name
	Host string
	Time time.Time
}

// Line is the message in one line, as a chat shows it.
func (m *Message) Line() string {
	line := m.Text
	if m.Run != "" {
		line = m.Run + ": " + line
	}
	return line
}

// Options say what a notifier needs of its surroundings. The functions are called by goroutines of the notifier, Ring
// by the one that calls Notify.
type Options struct {
	Environ []string              // of the program; nil: os.Environ()
	Host    string                // empty: the machine's name
	Ring    func(sequence string) // writes to the terminal, past what is drawn there; nil: nobody hears bell and osc9
	Failed  func(line string)     // takes what went wrong, in a line; nil: nobody
}

// destination brings one message, and gives up when the context ends.
type destination interface {
	bring(ctx context.Context, m *Message) error
	String() string // for error lines, without secrets
}

// queued is how many messages may wait for one destination.
const queued = 16

// Notifier has the destinations of a program. Each has a goroutine that brings one message after the other:
//
//	Notify ──► queue of 16 each ──► worker, ended by Close when the queue is empty or its context is over
type Notifier struct {
	options Options
	ring    []func(m *Message) string
	queues  []chan Message
	names   []string
	stop    context.CancelFunc
	workers sync.WaitGroup
}

// Specs says what New reads.
const Specs = "bell, osc9, cmd=COMMAND or webhook=URL"

// New starts a notifier. A spec is bell; osc9, which terminals show as a notification of the desktop; cmd=COMMAND,
// which sh runs; or webhook=URL.
func New(specs []string, o Options) (*Notifier, error) {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Host == "" {
		o.Host, _ = os.Hostname()
	}
	if o.Failed == nil {
		o.Failed = func(string) {}
	}
	n := &Notifier{options: o}
	var list []destination
	for _, spec := range specs {
		name, value, _ := strings.Cut(spec, "=")
		switch name = strings.TrimSpace(name); {
		case spec == "bell":
			n.ring = append(n.ring, func(*Message) string { return Bell })
		case spec == "osc9":
			n.ring = append(n.ring, func(m *Message) string { return OSC9(m.Line(), o.Environ) })
		case name == "cmd" && strings.TrimSpace(value) != "":
			list = append(list, &command{text: value, environ: o.Environ})
		case name == "webhook":
			hook, err := newWebhook(strings.TrimSpace(value))
			if err != nil {
				return nil, err
			}
			list = append(list, hook)
		default:
			return nil, fmt.Errorf("%q: expected %s", spec, Specs)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	for _, d := range list {
		queue := make(chan Message, queued)
		n.queues, n.names = append(n.queues, queue), append(n.names, d.String())
		n.workers.Go(routine.Guard(func() {
			for m := range queue {
				if err := d.bring(ctx, &m); err != nil {
					o.Failed(fmt.Sprintf("%s: %s: the alert %q is lost", d, oneLine(err.Error()), m.Text))
				}
			}
		}))
	}
	return n, nil
}

// Notify brings an alert of a run, later and elsewhere but for the terminal. Where 16 wait already it is left out, and
// said so. It is not called after Close.
func (n *Notifier) Notify(a alert.Alert, run string) {
	m := Message{Alert: a, Run: oneLine(run), Host: n.options.Host, Time: time.Now()}
	if n.options.Ring != nil {
		for _, sequence := range n.ring {
			n.options.Ring(sequence(&m))
		}
	}
	for i, queue := range n.queues {
		select {
		case queue <- m:
		default:
			n.options.Failed(fmt.Sprintf("%s: %d alerts wait already: the alert %q is lost", n.names[i], queued,
				m.Text))
		}
	}
}

// Close waits until all that was given has been brought, or until the context ends, when it gives up the rest.
func (n *Notifier) Close(ctx context.Context) {
	for _, queue := range n.queues {
		close(queue)
	}
	brought := make(chan struct{})
	routine.Go(func() {
		n.workers.Wait()
		close(brought)
	})
	select {
	case <-brought:
	case <-ctx.Done():
	}
	n.stop()
	<-brought
}

// oneLine makes a line of a text, without characters that act on a terminal.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
