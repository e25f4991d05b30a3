package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/trainer/optim/methods"
)

// TestDocsListTheOptimizers holds the table of docs/optimizers.md against the registry: every method, in order, with
// its paper and its cost.
func TestDocsListTheOptimizers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "optimizers.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## All methods\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var rows [][]string
	for _, line := range strings.Split(table, "\n") {
		if cells := strings.Split(line, " | "); len(cells) == 4 && strings.HasPrefix(line, "| `") && !strings.HasPrefix(line, "| `--opt`") {
			cells[0] = strings.Trim(cells[0], "|` ")
			rows = append(rows, cells)
		}
	}
	all := methods.All()
	if len(rows) != len(all) {
		t.Fatalf("%d rows for %d optimizers", len(rows), len(all))
	}
	for i, info := range all {
		if rows[i][0] != info.Name || rows[i][1] != info.Paper || rows[i][2] != info.Cost {
			t.Errorf("row %d is %q, expected %s, %q and %q", i+1, rows[i], info.Name, info.Paper, info.Cost)
		}
	}
}
