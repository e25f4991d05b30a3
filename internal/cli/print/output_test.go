package print

import (
	"bytes"
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"newtop/trainer/event"
)

func TestOutput(t *testing.T) {
	for _, c := range []struct {
		styled bool
		writes []string
		want   string
	}{
		{false, []string{"loss\t0.5\n", "数据 ±\n"}, "loss\t0.5\n数据 ±\n"},
		{false, []string{"\x1b[31mred\x1b[m\r\x1b]0;x\x07\u202e\u2028"}, `\x1b[31mred\x1b[m\r\x1b]0;x\a\u202e\u2028`},
		{true, []string{"\x1b[1;31mred\x1b[m \x1b[2J\x1b]0;x\x07"}, "\x1b[1;31mred\x1b[m \\x1b[2J\\x1b]0;x\\a"},
		{false, []string{"a\xe6\x95", "\xb0", "b\xe2", "\x80\xae"}, `a数b\u202e`}, // characters that a buffer's end cuts
		{false, []string{"a\xe6\x95", "b"}, "a\ufffd\ufffdb"},
		{false, []string{"a\xe6\x95"}, "a\ufffd"},
	} {
		var b bytes.Buffer
		o := NewOutput(&b, "standard output")
		out := o.Styled()
		if !c.styled {
			out = o
		}
		for _, text := range c.writes {
			if n, err := out.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%q: %d, %v", text, n, err)
			}
		}
		if err := o.Flush(); err != nil || b.String() != c.want {
			t.Errorf("%q became %q, expected %q: %v", c.writes, b.String(), c.want, err)
		}
	}
}

// full is a writer to a disk that has no space after so many writes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	}
	return len(p), nil
}

func TestOutputRemembersAnError(t *testing.T) {
	o := NewOutput(&full{left: 1}, "standard output")
	if _, err := o.Write([]byte("one\n")); err != nil || o.Flush() != nil {
		t.Fatal(err)
	}
	_, err := o.Write([]byte("two\n"))
	const want = "can't write to standard output: no space left on device"
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != want || o.Flush() != err {
		t.Errorf("%v, then %v, expected %s", err, o.Flush(), want)
	}
}

// A run of another program that tells no time has none in its last line.
func TestOutcomeWithoutTime(t *testing.T) {
	run := event.RunEvent{Data: event.DataInfo{Name: "x"}}
	for elapsed, want := range map[event.Float]string{
		2.5: "x: sgd, 3 epochs in 2.5s (epochs), loss 0.5", event.Absent: "x: sgd, 3 epochs (epochs), loss 0.5", 1e300: "x: sgd, 3 epochs (epochs), loss 0.5",
	} {
		if got := Outcome(&run, &event.DoneEvent{Reason: event.ReasonEpochs, Epochs: 3, Loss: 0.5, Elapsed: elapsed}, "sgd"); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	done := event.UnknownDone()
	done.Reason, done.Epochs = event.ReasonEpochs, 3
	if got, want := Outcome(&run, &done, ""), "x: 3 epochs (epochs)"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

// TestOutcomeOfAProgram leaves out what another program did not tell.
func TestOutcomeOfAProgram(t *testing.T) {
	done := event.UnknownDone()
	done.Reason, done.Epochs = event.ReasonFailed, 49
	run := event.RunEvent{Data: event.DataInfo{Name: "train.py"}, Unit: "step"}
	if got, want := Outcome(&run, &done, ""), "train.py: 49 steps (failed)"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

// TestOutcomeWithoutErrors: a run that tells neither errors nor root mean squares has its loss in the last line.
func TestOutcomeWithoutErrors(t *testing.T) {
	done := event.UnknownDone()
	done.Reason, done.Epochs, done.BestEpoch, done.Loss, done.Elapsed = event.ReasonEpochs, 3, 3, 0.25, 1
	for _, classes := range []int{0, 10} {
		run := event.RunEvent{Data: event.DataInfo{Name: "model.py", TrainRows: 6, TestRows: 2, Classes: classes}, Model: event.ModelInfo{Program: "JAX"}}
		if got, want := Outcome(&run, &done, "tr-newton"), "model.py: tr-newton, 3 epochs in 1s (epochs), loss 0.25"; got != want {
			t.Errorf("%d classes: %q, expected %q", classes, got, want)
		}
	}
}
