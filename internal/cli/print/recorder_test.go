package print

import (
	"strings"
	"testing"

	"newtop/trainer/event"
)

// Without test rows there are no columns for them.
func TestTableWithoutTestRows(t *testing.T) {
	unknown := event.UnknownEpoch(0)
	for _, classes := range []int{0, 3} {
		head := tableHead(columns(&event.RunEvent{Data: event.DataInfo{Classes: classes}}, &unknown), true)
		if strings.Contains(head, "test") || !strings.HasSuffix(head, " inner") {
			t.Errorf("%d classes: %s", classes, head)
		}
	}
}

// TestSpectrumLine says how far the eigenvalues can be trusted.
func TestSpectrumLine(t *testing.T) {
	e := event.SpectrumEvent{Epoch: 3, Operator: "hessian", Rows: 10, Selection: "all", Eigenvalues: []event.Float{2}, Residuals: []event.Float{0.5}}
	for stop, want := range map[string]string{
		"residual":   "    3 eigenvalues of the Hessian over 10 rows (all): 2±0.5",
		"limit":      "    3 eigenvalues of the Hessian over 10 rows (all): 2±0.5; some residuals are larger than wanted",
		"not-finite": "    3 no eigenvalues of the Hessian: a number was not finite",
	} {
		if err := e.Stop.UnmarshalText([]byte(stop)); err != nil {
			t.Fatal(err)
		}
		if got := SpectrumLine(&e); got != want {
			t.Errorf("%s: %q, want %q", stop, got, want)
		}
	}
}
