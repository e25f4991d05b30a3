package stream

import "time"

// witness finds out whether the process is gone that wrote a log. It belongs to fetch.
type witness struct {
	writer func(path string) (pid int, ok bool) // nil: nobody knows
	asked  time.Time
	seen   bool // a process had the log open for writing
	gone   bool
}

// idle is for how long nothing has to be written before the witness asks, and between two questions.
const idle = 10 * time.Second

// look returns whether a log has a writer, or had one that is gone; neither where none was ever seen, as one may open
// it for each line.
func (w *witness) look(name string, written, now time.Time) (alive, gone bool) {
	if w.writer == nil || written.IsZero() {
		return false, false
	}
	quiet := now.Sub(written) >= idle
	if !quiet {
		w.gone = false
	}
	news := !w.seen && w.asked.Before(written) || w.seen && quiet && !w.gone
	if w.asked.IsZero() || news && now.Sub(w.asked) >= idle {
		_, open := w.writer(name)
		w.asked, w.seen = now, w.seen || open
		w.gone = quiet && w.seen && !open
	}
	return w.seen && !w.gone, w.gone
}
