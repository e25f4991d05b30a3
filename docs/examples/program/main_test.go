package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"newtop/trainer/app"
)

func TestMain(m *testing.M) {
	register()
	os.Exit(m.Run())
}

// newtop runs the program and returns what it prints.
func newtop(t *testing.T, args string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := app.Main(strings.Fields(args), strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("%s: exit code %d: %s", args, code, errs.String())
	}
	return out.String()
}

// TestProgram: the program trains its own data with its own method and loss, lists them, and resumes the run.
func TestProgram(t *testing.T) {
	t.Setenv("NEWTOP_STATE_DIR", t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"train --data rings --net 8 --set init=xavier --opt sign --loss log-cosh --epochs 30 --format text", "rings: sign, 30 epochs"},
		{"resume last --epochs 40", "rings: sign, 40 epochs"},
		{"runs show last", "log-cosh"},
		{"optimizers", "Sign descent"},
		{"data", "two rings, one in the other"},
	} {
		if got := newtop(t, c.args); !strings.Contains(got, c.want) {
			t.Errorf("%s printed, without %q:\n%s", c.args, c.want, got)
		}
	}
}
