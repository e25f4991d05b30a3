package pane

import (
	"newtop/internal/format"
	"newtop/trainer/alert"
	"newtop/tui/chart"
	"newtop/tui/history"
)

// overfits reports the epoch since which the test loss rises while the training loss falls, by the rule that alerts
// have.
func overfits(train, test *chart.Series) (since int, ok bool) {
	if test.Points == 0 || train.Points == 0 {
		return 0, false
	}
	o, ok := alert.Overfits(curveOf(train), curveOf(test))
	return o.Since, ok
}

// curveOf is a series as the rules of alerts read it.
func curveOf(s *chart.Series) *alert.Curve {
	c := alert.Curve{Bins: make([]alert.Bin, len(s.Buckets))}
	c.First, _, _ = s.Ends()
	c.Min, _ = s.Min()
	for i := range s.Buckets {
		b := &s.Buckets[i]
		c.Bins[i] = alert.Bin{X: b.X1[chart.Epochs], Sum: b.Sum, N: int(b.N)}
	}
	return &c
}

// overfitText say it of the validation rows, or without them of the test rows, ever shorter; nil where their loss does
// not rise.
func overfitText(c *history.Curves, counted string) []string {
	since, ok := overfits(&c.Loss, c.HeldLoss())
	if !ok {
		return nil
	}
	epoch := format.Count(since)
	rises := "test loss rises since "
	if c.HeldLoss() != &c.TestLoss {
		rises = "validation loss rises since "
	}
	return []string{rises + counted + " " + epoch, rises + epoch}
}
