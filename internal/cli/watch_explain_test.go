package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/cli/print"
)

// TestWatchExplain prints how a log is read on a page of 80 columns, whatever stands in it.
func TestWatchExplain(t *testing.T) {
	text := "step 1: loss 3.5, 损失 0.25, time 12ms\nstep 2: loss 2.5, 损失 0.20, time 12ms\n"
	text += strings.Repeat("数", 100) + " 3.5\nprose of 1987, \x1b[31mred\x1b[0m and \xff\n"
	text += strings.Repeat("a_very_long_name_of_a_metric", 3) + "=0.5 step=3\n"
	for i := range 100 { // a shape each
		text += fmt.Sprintf("%s name%c%c=1 of them\n", "step 3", 'a'+i/26, 'a'+i%26)
	}
	path := write(t, "run.log", text)
	out := succeed(t, "watch", "--explain", path)
	for _, want := range []string{
		"2 lines × step 1: loss 3.5, 损失 0.25, time 12ms",
		"1     x step       \"step\", grew on every line", "12ms  nothing", "more shapes of at most 1 line",
		"105 lines, with numbers 105", "gave points, or said x", "training loss", "损失",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for line := range strings.SplitSeq(out, "\n") {
		if ansi.StringWidth(line) > 80 || line != ansi.Strip(line) || line != strings.ToValidUTF8(line, "") {
			t.Errorf("%d columns: %q", ansi.StringWidth(line), line)
		}
	}
	prose := write(t, "a.txt", "3 4\n5 6\n")
	os.Chtimes(prose, old, old)
	if out, errs, code := newtop("watch", "--explain", prose); code != print.ExitFailed || !strings.Contains(errs, "--pattern '{step} {loss}'") || !strings.Contains(out, "no name before it") {
		t.Errorf("exit %d: %s%s", code, errs, out)
	}
	if out := succeed(t, "watch", "--explain", "--pattern", "{step} {loss}", prose); !strings.Contains(out, "by the pattern {step} {loss}") || !strings.Contains(out, "training loss") {
		t.Errorf("%s", out)
	}
	refuses(t, print.ExitUsage, "--pattern", "watch", "--pattern", "{step", prose)
	refuses(t, print.ExitUsage, "--explain", "watch", "--explain", "--once", prose)
}
