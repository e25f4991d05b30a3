package cli

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/cli/print"
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
	if out, errs, code := piped(text, "data", "show", "-"); code != 0 || !strings.Contains(out, "32 to train on") {
		t.Errorf("data show -: exit %d: %s%s", code, out, errs)
	}
	if _, errs, code := piped("", "train", "--data", "-"); code != print.ExitFailed || !strings.Contains(errs, "standard input: nothing came") {
		t.Errorf("nothing: exit %d: %s", code, errs)
	}
}
