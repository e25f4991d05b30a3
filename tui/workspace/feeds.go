package workspace

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/trainer/feed"
	"newtop/tui/history"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// How often the screen takes in news, and how many at once at most.
const (
	interval = 120 * time.Millisecond
	share    = 8  // of the time that a screen takes, so that drawing takes no more than an eighth
	batch    = 32 // Deltas of a message
)

// receiver joins the program's one goroutine to the feeds.
//
//	feed ──► follow, a goroutine a run ──► news ──► receive, a command at a time ──► Update
//
// follow makes the history of what a run was, while that is read, and hands it over. Then it waits on its feed and
// until receive takes what came, so that a feed's own mailbox gathers what comes meanwhile. receive takes what there is
// after a pause, as one message, and is armed again when Update has it. news is never closed; the screen's context ends
// all.
type receiver struct {
	news chan came
	more <-chan Watched // nil: no others will come
}

// came is what a feed brought, or why nothing more comes of it.
type came struct {
	run   *run
	h     *history.History // nil: it goes on as it was
	delta feed.Delta
	err   error
}

// newsMsg is what came since the last one.
type newsMsg struct {
	came   []came
	more   []Watched
	closed bool // no others will come
}

// follow returns the command that waits on a run's feed until that ends.
func follow(ctx context.Context, r *run, news chan<- came) tea.Cmd {
	h := history.Coarse(r.buckets)
	return func() tea.Msg {
		for {
			d, err := r.feed.Wait(ctx)
			c := came{run: r, delta: d, err: err}
			if h != nil {
				if h.Apply(&d); err == nil && reading(h) {
					continue
				}
				c.h, c.delta, h = h, feed.Delta{Status: d.Status}, nil
			}
			select {
			case news <- c:
			case <-ctx.Done():
				return nil
			}
			if err != nil {
				return nil
			}
		}
	}
}

func reading(h *history.History) bool {
	_, loading := h.Loading()
	return loading
}

// due returns the commands that follow more runs: one first, to be drawn at once, and then as many as there are
// processors, until what all were has been read. The selected run comes before the others.
func due(m *model) (all []tea.Cmd) {
	busy, most := 0, 1
	for _, r := range m.runs {
		switch {
		case r.read:
			most = runtime.GOMAXPROCS(0)
		case r.followed:
			busy++
		}
	}
	for _, r := range slices.Concat([]*run{m.at}, m.rows, m.runs) {
		if busy < most && r != nil && !r.followed {
			r.followed = true
			busy++
			all = append(all, follow(m.Ctx, r, m.news))
		}
	}
	return all
}

// receive returns the command that waits for news, after a pause.
func (h *receiver) receive(ctx context.Context, pause time.Duration) tea.Cmd {
	news, more := h.news, h.more
	return func() tea.Msg {
		if screen.After(ctx, pause, pause)() == nil {
			return nil
		}
		var n newsMsg
		add := func(w Watched, ok bool) {
			if n.closed = !ok; ok {
				n.more = append(n.more, w)
			} else {
				more = nil
			}
		}
		select {
		case c := <-news:
			n.came = append(n.came, c)
		case w, ok := <-more:
			add(w, ok)
		case <-ctx.Done():
			return nil
		}
		for len(n.came)+len(n.more) < batch {
			select {
			case c := <-news:
				n.came = append(n.came, c)
			case w, ok := <-more:
				add(w, ok)
			default:
				return n
			}
		}
		return n
	}
}

// receive takes in news and waits for more.
func receive(m *model, n newsMsg) tea.Cmd {
	for i := range n.came {
		c := &n.came[i]
		c.run.read = true
		if c.h != nil {
			c.run.h = c.h
		}
		if c.err == nil {
			c.run.h.Apply(&c.delta)
		} else if errors.Is(c.err, io.EOF) && c.run.host != "" && c.run.h.Run == nil {
			m.leave(c.run)
		} else if !errors.Is(c.err, io.EOF) && m.Ctx.Err() == nil {
			c.run.err = c.err
			m.Note(style.Warn, c.run.name+": "+style.Clean(c.err.Error()))
		}
	}
	for _, w := range n.more {
		m.enter(w, len(m.runs)+len(n.more))
	}
	if n.closed {
		m.more = nil
	}
	m.arrange()
	pause := max(interval, share*m.drawing)
	if slices.ContainsFunc(m.runs, func(r *run) bool { return !r.read }) {
		pause = m.drawing
	}
	return tea.Batch(append(due(m), m.receive(m.Ctx, pause))...)
}
