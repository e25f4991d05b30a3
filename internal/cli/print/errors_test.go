package print

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// TestReportOfAnInterruption reads the line that ends an interrupted run.
func TestReportOfAnInterruption(t *testing.T) {
	var b bytes.Buffer
	err := &InterruptedError{Cause: context.Canceled, Next: "newtop resume a1b2c3"}
	Report(&b, err)
	if b.String() != "newtop: interrupted; to continue: newtop resume a1b2c3\n" || !errors.Is(err, context.Canceled) {
		t.Errorf("%q", b.String())
	}
}
