package trajectory

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// TestHints tell to lower what raises the loss when it is too large, and nothing else.
func TestHints(t *testing.T) {
	for _, info := range methods.All() {
		nets := &Trajectory{Info: info, Settings: optim.NewSettings(info.Parameters)}
		err := nets.Diverged(1, "the loss is not finite")
		want := "expected another optimizer or other settings"
		if !info.Monotone && info.Primary != "" {
			want = fmt.Sprintf("expected a smaller %s than ", info.Primary)
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %s", err, want)
		}
	}
}

// TestFiguresOfACommitteeThatStallsInPart are those of the nets that go on.
func TestFiguresOfACommitteeThatStallsInPart(t *testing.T) {
	figure := func(v float64) optim.Report {
		report := IdleReport
		report.Diagnostics = []optim.Diagnostic{{Key: "mu", Value: v}}
		return report
	}
	nets := []*Member{{Stalled: "the gradient is zero", Report: IdleReport}, {Report: figure(1)}, {Report: figure(3)}}
	if got := combinedReport(nets).Diagnostics; len(got) != 1 || got[0].Value != 2 {
		t.Errorf("%+v", got)
	}
	nets = []*Member{{Stalled: "a", Report: IdleReport}, {Stalled: "b", Report: IdleReport}}
	if got := combinedReport(nets); len(got.Diagnostics) != 0 || !math.IsNaN(got.GradientNorm) {
		t.Errorf("%+v", got)
	}
}
