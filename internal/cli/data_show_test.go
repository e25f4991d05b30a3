package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/datasets/survey"
	"newtop/internal/cli/print"
)

// table writes rows of which euros are the price in another unit, and with many columns of pixels.
func table(t *testing.T, pixels int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,city,price,euros")
	for j := range pixels {
		fmt.Fprintf(&b, ",p%d", j)
	}
	b.WriteString("\n")
	for i := range 200 {
		price := float64(i*i%211) + 0.5
		fmt.Fprintf(&b, "%d,%s,%g,%g", i, []string{"Ulm", "Bonn", ""}[i%3], price, price/2)
		for j := range pixels {
			fmt.Fprintf(&b, ",%d", (i*j+j)%200)
		}
		b.WriteString("\n")
	}
	file := filepath.Join(t.TempDir(), "flats.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestDataShow(t *testing.T) {
	file := table(t, 0)
	out := succeed(t, "data", "show", file, "--target", "price")
	for _, want := range []string{
		"136 training rows, 24 validation rows, 40 test rows", "left out: numbers the rows", "Bonn, Ulm", "66",
		"! ", "euros predicts the target alone", "--table drop=euros leaves it out", "0.5 … ", "city: 66 missing values: a category of their own",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if out := succeed(t, "data", "show", file, "--target", "price", "--table", "drop=euros", "--validation", "0", "--test", "0.5"); strings.Contains(out, "predicts the target alone") || !strings.Contains(out, "100 training rows, 100 test") {
		t.Errorf("without euros and validation rows:\n%s", out)
	}
	var s survey.Survey
	if err := json.Unmarshal([]byte(succeed(t, "data", "show", file, "--target", "price", "--format", "json")), &s); err != nil || len(s.Columns) != 4 || !s.Columns[3].Leak || s.Columns[0].LeftOut == "" || !s.Columns[2].Target {
		t.Errorf("JSON: %v, %+v", err, s)
	}
	for _, wrong := range [][]string{{"--target", "rent"}, {"--format", "xml"}, {"--table", "drop=rent"}, {"--table", "missing=guess"}, {"--test", "1000"}} {
		refuses(t, print.ExitUsage, wrong[0], append([]string{"data", "show", file}, wrong...)...)
	}
}

// TestManyColumns: of columns that are alike the first and the last are listed, on no more columns than the terminal has.
func TestManyColumns(t *testing.T) {
	file := table(t, 784)
	out := succeed(t, "data", "show", file, "--target", "price")
	if n := strings.Count(out, "\n"); n > 30 || !strings.Contains(out, "alike") || !strings.Contains(out, "p783") || !strings.Contains(out, "euros") {
		t.Errorf("%d lines:\n%s", n, out)
	}
	if n := strings.Count(succeed(t, "data", "show", file, "--target", "price", "--all"), "\n"); n < 785 {
		t.Errorf("--all lists them on %d lines", n)
	}
	s := survey.Survey{Columns: []survey.Column{{Name: strings.Repeat("very long ", 20), Type: "number"}, {Name: "世界", Type: "category", Frequent: []survey.Word{{Word: "世"}}}}}
	for line := range strings.Lines(columnTable(&s, 60, false)) {
		if ansi.StringWidth(line) > 60 {
			t.Errorf("%d columns: %q", ansi.StringWidth(line), line)
		}
	}
}
