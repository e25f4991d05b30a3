package shape

import (
	"fmt"
	"strings"
	"testing"
)

// explained writes an explanation in short: kinds, numbers with their roles, and causes.
func explained(e *Explanation) string {
	var b strings.Builder
	for _, r := range e.Remarks {
		fmt.Fprintln(&b, "!", r)
	}
	for _, s := range e.Shapes {
		fmt.Fprintf(&b, "%d %s\n", s.Lines, s.Kind)
		for _, h := range s.Holes {
			fmt.Fprintf(&b, "  %s | %s | %s\n", h.Text, h.Role, h.Why)
		}
		for _, c := range s.Causes {
			fmt.Fprintf(&b, "  %d %s\n", c.Lines, c.Text)
		}
	}
	for _, c := range e.Causes {
		fmt.Fprintf(&b, "%d %s\n", c.Lines, c.Text)
	}
	return b.String()
}

func TestExplain(t *testing.T) {
	for _, test := range []struct{ name, pattern, in, want string }{
		{"a line", "", "iter 1/9: loss 4, lr 0.1, time 12ms, size 8\niter 2/9: loss 3, lr 0.1, time 12ms, size 8\niter 3/9: loss 2, lr 0.1, time 11ms, size 8", `3 
  1 | x step | "iter", grew on every line
  9 | length | how many there will be
  4 | metric loss | 
  0.1 | metric lr | 
  12ms | nothing | "time": its unit is of times, sizes or speeds
  8 | nothing | "size": no word of a metric
3 gave points, or said x
`},
		{"two counters", "", "epoch 1 batch 10 step 5 l2 0.5\nepoch 1 batch 10 step 6 l2 0.4\nepoch 1 batch 10 step 7 l2 0.3", `3 
  1 | x epoch | "epoch", stood still
  10 | nothing | "batch", stood still; another number is the step
  5 | x step | "step", grew on every line
  0.5 | metric l2 | 
3 gave points, or said x
`},
		{"ranks, and a taken x", "", "[rank1] step 1 loss 5\n[rank0] step 1 loss 4\n[rank0] loss: 3, acc: 1\n[rank0] loss: 3", `! only what rank 0 wrote is read
1 
  [rank0] | rank 0 | before the line: a process, time, level or place
  1 | x step | "step", one line
  4 | metric loss | 
1 
  [rank0] | rank 0 | before the line: a process, time, level or place
  3 | metric loss | 
  1 | metric acc | 
1 of a record, whose lines have one number each
  [rank0] | rank 0 | before the line: a process, time, level or place
  3 | metric loss | 
3 gave points, or said x
1 written by another rank
`},
		{"a table", "", "epoch  loss  time\n1      0.5   0:01\n2      0.4   0:01", `2 rows of a table
  epoch | x epoch | the best counter among the columns
  loss | metric loss | 
  time | nothing | no word of a metric
2 gave points, or said x
`},
		{"settings and prose", "", "{'q': 3, 'b': 4}\nmax_n = 3\npage 3 of it\nstep 1 loss 4", `1 
  3 | metric q | 
  4 | metric b | 
  1 settings
1 of a record, whose lines have one number each
  3 | metric max_n | 
  1 before the first x
1 
  3 | nothing | "page": no word of a metric
  1 prose, or no metric
1 
  1 | x step | "step", one line
  4 | metric loss | 
1 gave points, or said x
1 settings
1 prose, or no metric
1 before the first x
`},
		{"Keras", "", "Epoch 1/2\n 5/10 ━━━━━━━━━━━━━━━━━━━━ 1s 9ms/step - loss: 3.5\r10/10 ━━━━━━━━━━━━━━━━━━━━ 1s 9ms/step - loss: 3.5", `2 counts when n is m, at its epoch; else a state of a bar
  5 | nothing | how far a bar is
  10 | length | how many there will be
  1s | nothing | no name before it
  9ms/step | nothing | no name before it
  3.5 | metric loss | 
  1 gave points, or said x
  1 states of bars that moved on
1 of a record, whose lines have one number each
  1 | x epoch | "Epoch", one line
  2 | length | how many there will be
2 gave points, or said x
1 states of bars that moved on
`},
		{"a pattern", "n {epoch} {} {loss}", "n 3 4 5", `1 by the pattern n {epoch} {} {loss}
  3 | x epoch | as given
  4 | nothing | passed over
  5 | metric loss | as given
1 gave points, or said x
`},
		{"no x", "", "loss 3\nloss 2\nloss 1", `! no line says a step or an epoch: rows are counted
3 of a record, whose lines have one number each
  3 | metric loss | 
3 gave points, or said x
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, r := New(), &recorder{}
			o := Options{Explain: true}
			if test.pattern != "" {
				q, err := ParsePattern(test.pattern)
				if err != nil {
					t.Fatal(err)
				}
				o.Patterns = []*Pattern{q}
			}
			p.Configure(o)
			for line := range strings.SplitSeq(test.in, "\n") {
				p.Line([]byte(line), r)
			}
			p.Flush(r)
			e := Explain(p)
			if got := explained(e); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			all := 0
			for _, c := range e.Causes {
				all += c.Lines
			}
			if all != e.Numbers {
				t.Errorf("%d lines with numbers, with causes %d", e.Numbers, all)
			}
		})
	}
}
