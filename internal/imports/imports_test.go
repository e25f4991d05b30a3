// Package imports holds the test that keeps the directions of imports: down only.
package imports

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "newtop"

// allowed says which packages of the module each package may import, directly. A package that is not
// listed may import nothing of the module.
var allowed = map[string][]string{
	"":               {"internal/cli"},
	"internal/cli":   {"tui", "tui/remote", "trainer", "trainer/mpi", "trainer/tune", "trainer/papers", "trainer/optim", "trainer/store", "trainer/stream", "models", "models/saved", "datasets", "internal/bench", "internal/kernel", "internal/version", "internal/figure", "internal/contrast", "internal/tfevents"},
	"internal/bench": {"trainer", "trainer/mpi", "trainer/optim", "models", "models/blas", "datasets", "internal/kernel", "internal/vector"},
	"tui/remote":     {"tui", "trainer", "internal/version"},
	"trainer/mpi":    {"trainer", "models"},
	"trainer/tune":   {"trainer", "trainer/optim", "trainer/store", "models"},
	"trainer/papers": {"trainer", "trainer/optim", "models", "models/blas", "datasets", "internal/version"},
	"tui":            {"trainer", "trainer/tune", "trainer/optim", "trainer/krylov", "internal/contrast", "internal/figure"},
	"trainer/store":  {"trainer", "trainer/krylov", "trainer/stream"},
	"trainer/stream": {"trainer", "internal/tfevents"},
	"trainer":        {"internal/kernel", "internal/version", "internal/safetensors", "trainer/optim", "trainer/krylov", "models", "models/blas", "models/saved", "datasets"},
	"trainer/optim":  {"trainer/krylov", "internal/vector"},
	"trainer/krylov": {"internal/vector"},
	"models":         {"models/blas", "internal/vector"},

	"models/saved":         {"models", "internal/safetensors"},
	"internal/figure":      {"trainer", "internal/contrast"},
	"internal/contrast":    {"trainer"},
	"internal/safetensors": {},
	"internal/tfevents":    {},
	"models/blas":          {"internal/kernel", "internal/vector"},
	"internal/vector":      {"internal/kernel"},
	"internal/vector/gen":  {"internal/kernel"},
	"internal/kernel":      {},
	"internal/version":     {},
	"datasets":             {},
}

// terminal lists the modules that only the screen and the command line may know.
var terminal = []string{
	"charm.land/bubbletea", "charm.land/lipgloss", "charm.land/bubbles", "charm.land/huh", "charm.land/fang",
	"github.com/NimbleMarkets/ntcharts", "github.com/charmbracelet", "github.com/spf13/cobra",
}

// golden compares a test's output with a file, and knows no terminal.
const golden = "github.com/charmbracelet/x/exp/golden"

func TestImportsRunDown(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		seen++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if wrong := violation(filepath.ToSlash(rel), target); wrong != "" {
				t.Error(wrong)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Fatalf("saw %d Go files: looking in the wrong place", seen)
	}
}

// violation says what is wrong with the import, if anything is.
func violation(file, target string) string {
	dir := strings.TrimSuffix(filepath.ToSlash(filepath.Dir(file)), ".")
	screen := dir == "internal/cli" || dir == "tui" || strings.HasPrefix(dir, "tui/")
	if !screen && target != golden && slices.ContainsFunc(terminal, func(m string) bool { return strings.HasPrefix(target, m) }) {
		return fmt.Sprintf("%s imports %s: only tui and internal/cli may", file, target)
	}
	if strings.Contains(target, "ntcharts") && file != "tui/chart.go" {
		return fmt.Sprintf("%s imports %s: only tui/chart.go may", file, target)
	}
	inside, ok := strings.CutPrefix(target, module+"/")
	if !ok || inside == dir || slices.Contains(allowed[dir], inside) {
		return ""
	}
	return fmt.Sprintf("%s imports %s: %q may only import %v", file, target, dir, allowed[dir])
}

func TestViolationsAreSeen(t *testing.T) {
	for _, c := range []struct{ file, target string }{
		{"trainer/optim/x.go", "newtop/models"},
		{"models/x.go", "newtop/datasets"},
		{"trainer/x.go", "charm.land/bubbletea/v2"},
		{"trainer/x.go", "newtop/tui"},
		{"tui/x.go", "github.com/NimbleMarkets/ntcharts/v2/canvas"},
	} {
		if violation(c.file, c.target) == "" {
			t.Errorf("%s importing %s was let through", c.file, c.target)
		}
	}
}
