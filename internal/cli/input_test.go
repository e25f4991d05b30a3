package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
)

// piped runs a command whose standard input has a text.
func piped(in string, args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = Main(args, strings.NewReader(in), &o, &e)
	return o.String(), e.String(), code
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A table trains the same from a file, packed or not, and from standard input; a run of the latter can be resumed, and the
// same line goes on with it.
func TestDataPackedAndPiped(t *testing.T) {
	t.Setenv("NEWTOP_STATE_DIR", t.TempDir())
	text := strings.ReplaceAll(numbersWithAWord(), "wide", "3")
	train := func(data, in string, more ...string) string {
		t.Helper()
		out, errs, code := piped(in, append([]string{"train", "--net", "3", "--epochs", "2", "--data", data, "--format", "jsonl"}, more...)...)
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", data, code, errs)
		}
		all := epochs(decode(t, out))
		return print.Number(all[len(all)-1].Loss, 17)
	}
	want := train(write(t, "table.csv", text), "")
	if got := train(write(t, "table.csv.gz", packed(t, text)), ""); got != want {
		t.Errorf("packed: loss %s, expected %s", got, want)
	}
	if got := train("-", packed(t, text)); got != want {
		t.Errorf("packed and piped: loss %s, expected %s", got, want)
	}
	if got := train("-", text, "--name", "piped", "--continue"); got != want {
		t.Errorf("piped: loss %s, expected %s", got, want)
	}
	_, errs, code := piped(text, "train", "--net", "3", "--epochs", "2", "--data", "-", "--name", "piped", "--continue")
	if code != 0 || !strings.Contains(errs, "nothing is left to do") || !strings.Contains(errs, "is kept for newtop resume") {
		t.Errorf("again: exit %d: %s", code, errs)
	}
	succeed(t, "resume", "piped", "--epochs", "3")
	if kept, err := os.ReadDir(filepath.Join(os.Getenv("NEWTOP_STATE_DIR"), "data")); err != nil || len(kept) != 2 {
		t.Errorf("%v are kept: %v", kept, err)
	}
	if out, errs, code := piped(text, "data", "show", "-"); code != 0 || !strings.Contains(out, "27 training rows, 5 validation rows, 8 test rows") {
		t.Errorf("data show -: exit %d: %s%s", code, out, errs)
	}
	if _, errs, code := piped("", "train", "--data", "-"); code != print.ExitFailed || !strings.Contains(errs, "standard input: nothing came") {
		t.Errorf("nothing: exit %d: %s", code, errs)
	}
}

// What was decided about a table is told before the first epoch, in every format, and stands in the run's first event.
func TestTableNotes(t *testing.T) {
	text := "id,size,when,price\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%s,2024-01-%02d,%d.5\n", i+1, []string{"", "3", "4"}[i%3], 1+i%28, i*i)
	}
	table := write(t, "t.csv", text)
	want := []string{
		"the first row names the columns; --table header=no takes it for data", "price, the last column, is the target: numbers", "id: left out, it numbers the rows; --table keep=id keeps it",
		"when: dates as year-month-day, taken as year, month, day of week", `size: 14 missing values: replaced by the mean and marked by the input "size missing"`,
		"when year, when month: one value in all training rows",
	}
	for _, format := range []string{"text", "jsonl"} {
		out, errs, code := newtop("train", "--data", table, "--net", "2", "--epochs", "1", "--record", "off", "--format", format)
		if code != 0 || !strings.Contains("\n"+errs, "\n"+strings.Join(want, "\n")+"\n") {
			t.Errorf("%s: exit %d:\n%s", format, code, errs)
		}
		if format == "text" {
			continue
		}
		if run, ok := decode(t, out)[0].(event.RunEvent); !ok || !slices.Equal(run.Data.Notes, want) {
			t.Errorf("%q", run.Data.Notes)
		}
	}
}
