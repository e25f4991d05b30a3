package convert

import (
	"io"
	"runtime"

	"newtop/internal/routine"
)

// inOrder works on jobs in several goroutines, and writes what comes out in the order of the jobs. next gives a job,
// work appends its text to dst. The first error in that order ends it.
//
// The calling goroutine alone calls next and writes; each job has a goroutine of its own, which ends with the job, and
// not more are under way than there are processors. None is left when inOrder returns.
func inOrder[J any](w io.Writer, next func() (job J, ok bool, err error),
	work func(dst []byte, job J) ([]byte, error)) error {
	type result struct {
		text []byte
		err  error
	}
	var (
		pending []chan result
		spare   [][]byte
		failed  error
	)
	writeFirst := func() {
		r := <-pending[0]
		pending = pending[1:]
		if failed != nil {
			return
		}
		if failed = r.err; failed == nil {
			_, failed = w.Write(r.text)
		}
		spare = append(spare, r.text)
	}
	for failed == nil {
		job, ok, err := next()
		if err != nil || !ok {
			for len(pending) > 0 {
				writeFirst()
			}
			if failed == nil {
				failed = err
			}
			return failed
		}
		var dst []byte
		if n := len(spare); n > 0 {
			dst, spare = spare[n-1][:0], spare[:n-1]
		}
		done := make(chan result, 1)
		pending = append(pending, done)
		routine.Go(func() {
			text, err := work(dst, job)
			done <- result{text, err}
		})
		if len(pending) >= runtime.GOMAXPROCS(0) {
			writeFirst()
		}
	}
	for len(pending) > 0 {
		writeFirst()
	}
	return failed
}

// span is some rows.
type span struct{ first, last int }

// spans returns a function that gives that many rows in parts.
func spans(rows, size int) func() (span, bool, error) {
	first := 0
	return func() (span, bool, error) {
		s := span{first, min(first+size, rows)}
		first = s.last
		return s, s.first < rows, nil
	}
}

// blockRows returns how many rows of that many columns are worked on at a time.
func blockRows(columns int) int { return max(1<<18/max(columns, 1), 1) }
