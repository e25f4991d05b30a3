// Package imports holds the tests that keep the rooms apart: imports run down, and a few things are written in one place only.
package imports

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of this module, which .ci/rename changes.
var module = strings.TrimSuffix(reflect.TypeFor[here]().PkgPath(), "/internal/imports")

type here struct{}

// levels lists the packages of the module from the bottom up. A package imports packages of lower levels only, so that
// there are no cycles and packages of one level never know one another.
var levels = [][]string{
	{"internal/filelock", "internal/alloctest"},
	{"internal/packed", "internal/protobuf", "internal/jsonscan", "internal/fields", "internal/nightly", "internal/release/targets", "internal/routine", "trainer/logs/files"},
	{"trainer/logs/plain", "trainer/logs", "trainer/logs/files/filestest", "internal/machine", "internal/format", "internal/licenses", "internal/kernel", "internal/version", "internal/safetensors", "internal/tfevents", "internal/atomicfile", "datasets/fault"},
	{"internal/hosts", "trainer/logs/internal/sqlitelog", "trainer/logs/internal/points", "trainer/logs/jsontext", "datasets/csv/lex"},
	{"datasets/csv/schema", "datasets/csv/form"},
	{"datasets/csv/sheet", "datasets/csv/reader"},
	{"trainer/logs/shape", "trainer/logs/wandb", "trainer/logs/mlflow", "trainer/logs/trackio", "internal/format/formattest", "internal/vector", "internal/vector/gen", "datasets/csv", "datasets/convert"},
	{"trainer/logs/jsonlog", "internal/licenses/gen", "internal/python/gen", "models/blas", "models/reduce", "trainer/krylov", "datasets"},
	{"trainer/logs/folders", "models/internal/pass", "internal/cholesky", "datasets/survey"},
	{"models", "trainer/optim", "trainer/event"},
	{"trainer/logs/find", "trainer/logs/images", "models/modelfile", "models/netfile", "internal/rundiff", "internal/python", "trainer/optim/internal/optimtest", "trainer/optim/minibatch"},
	{"trainer/optim/firstorder", "trainer/optim/kronecker", "trainer/optim/descent", "trainer/optim/leastsquares"},
	{"trainer/optim/hessianfree", "trainer/optim/trust"},
	{"trainer/optim/methods"},
	{"trainer/feed", "trainer/objective", "trainer/alert", "internal/score", "internal/release/wheel"},
	{"trainer/analysis", "trainer/peer", "internal/notify", "internal/verify"},
	{"trainer/peer/peertest"},
	{"trainer/checkpoint", "internal/figure"},
	{"trainer/config", "trainer/publish"},
	{"trainer/workplace"},
	{"trainer/trajectory"},
	{"trainer/analyst"},
	{"trainer"},
	{"trainer/stream", "trainer/probe", "trainer/mpi"},
	{"trainer/store/sqlfile"},
	{"trainer/store/rowcode"},
	{"trainer/store"},
	{"trainer/store/recorder", "trainer/store/search"},
	{"trainer/store/upkeep"},
	{"trainer/store/storetest", "trainer/tune", "tui/style", "tui/layout"},
	{"tui/internal/tuitest"},
	{"tui/chart", "tui/widget", "tui/render"},
	{"tui/history", "tui/screen", "tui/film"},
	{"tui/pane"},
	{"tui/internal/panetest", "tui/internal/screentest"},
	{"tui/pane/inner", "tui/pane/analyses", "tui/pane/metrics", "tui/pane/machine"},
	{"tui/dashboard/desk"},
	{"tui/dashboard/dialogs"},
	{"tui/dashboard/race", "tui/dashboard/replay"},
	{"tui/dashboard", "tui/tuning", "tui/runs", "tui/workspace", "tui/system"},
	{"tui", "tui/remote"},
	{"internal/cli/flags", "internal/cli/clitest"},
	{"internal/cli/print"},
	{"internal/cli/launch"},
	{"internal/cli/job"},
	{"internal/cli/watch", "internal/cli/runs", "internal/cli/tune", "internal/cli/predict"},
	{"internal/cli/train"},
	{"internal/cli"},
	{"trainer/app"},
	{"", "docs/examples/method", "docs/examples/loss", "docs/examples/program"},
}

// apart lists pairs of which the first does not import the second although it stands on a higher level.
var apart = [][2]string{
	{"models", "trainer"},
	{"models", "datasets"},
	{"trainer/optim", "models"},
	{"trainer/event", "models"},
	{"trainer/feed", "models"},
	{"tui", "models"},
	{"tui", "datasets"},
	{"internal/cli/flags", "trainer/store"},
	{"internal/cli/print", "tui"},
	{"internal/cli/predict", "trainer"},
	{"internal/cli/predict", "tui"},
}

// terminal lists the modules that only the screen and the command line may know.
var terminal = []string{
	"charm.land/bubbletea", "charm.land/lipgloss", "charm.land/bubbles",
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
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || nested(path)) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		seen++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, "_test.go") {
			for _, wrong := range misplaced(filepath.ToSlash(rel), file) {
				t.Error(wrong)
			}
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

// nested reports whether a folder has a module of its own, which may know all.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && filepath.Base(dir) != ".."
}

// violation says what is wrong with the import, if anything is.
func violation(file, target string) string {
	dir := strings.TrimSuffix(filepath.ToSlash(filepath.Dir(file)), ".")
	screen := within(dir, "internal/cli") || dir == "tui" || strings.HasPrefix(dir, "tui/")
	if !screen && target != golden && slices.ContainsFunc(terminal, func(m string) bool { return strings.HasPrefix(target, m) }) {
		return fmt.Sprintf("%s imports %s: only tui and internal/cli may", file, target)
	}
	if strings.HasPrefix(target, "github.com/spf13/") && !within(dir, "internal/cli") {
		return fmt.Sprintf("%s imports %s: only internal/cli may", file, target)
	}
	if strings.Contains(target, "ntcharts") && dir != "tui/chart" {
		return fmt.Sprintf("%s imports %s: only tui/chart may", file, target)
	}
	if strings.HasPrefix(target, "codeberg.org/go-pdf/") && dir != "internal/figure" {
		return fmt.Sprintf("%s imports %s: only internal/figure may", file, target)
	}
	inside, ok := strings.CutPrefix(target, module+"/")
	if !ok || inside == dir {
		return ""
	}
	if within(dir, "docs/examples") && slices.Contains(strings.Split(inside, "/"), "internal") {
		return fmt.Sprintf("%s imports %s: programs of others could not", file, target)
	}
	from, to := level(dir), level(inside)
	if from < 0 || to < 0 {
		return fmt.Sprintf("%s imports %s: the levels of this test don't list one of them", file, target)
	}
	if to >= from {
		return fmt.Sprintf("%s imports %s: imports run down, and %q stands no higher than %q", file, target, dir, inside)
	}
	for _, a := range apart {
		if within(dir, a[0]) && within(inside, a[1]) && !within(inside, a[0]) {
			return fmt.Sprintf("%s imports %s: %q must not know %q", file, target, a[0], a[1])
		}
	}
	return ""
}

// TestImportingDoesNothing: no package does anything when it is imported but set its own variables.
func TestImportingDoesNothing(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "gen"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sgr is how the sequences that colour text begin. Who writes them: the inks, the renderer of viewers, and the SSH server,
// which reads keys.
const sgr = "\\x1b["

var (
	writesSGR    = []string{"tui/style", "tui/render", "tui/remote", "tui/internal"}
	runsPrograms = []string{"tui/screen", "tui/dashboard", "tui/internal/screentest"}
)

// onDisk are the functions of path/filepath that look at this machine's files.
var onDisk = []string{"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"}

// readsLogs reports whether a file is of a reader of logs, which may lie on another machine, and not of what starts
// programs.
func readsLogs(file string) bool {
	return within(file, "trainer/logs") && !within(file, "trainer/logs/files") || within(file, "internal/tfevents") ||
		within(file, "trainer/stream") && !strings.Contains(file, "/program_")
}

// misplaced finds what belongs to a few packages: colours, Bubble Tea's Program, and the files of this machine.
func misplaced(file string, f *ast.File) (wrong []string) {
	dir := filepath.ToSlash(filepath.Dir(file))
	if readsLogs(file) {
		ast.Inspect(f, func(n ast.Node) bool {
			if n, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := n.X.(*ast.Ident); ok && (x.Name == "os" || x.Name == "filepath" && slices.Contains(onDisk, n.Sel.Name)) {
					wrong = append(wrong, fmt.Sprintf("%s knows %s.%s: readers are given trainer/logs/files", file, x.Name, n.Sel.Name))
				}
			}
			return true
		})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if text := unguarded(n); text != "" && !starts(dir) {
			wrong = append(wrong, fmt.Sprintf("%s starts a goroutine with %s: expected internal/routine, which gives the "+
				"terminal back if it panics", file, text))
		}
		return true
	})
	if !within(dir, "tui") {
		return wrong
	}
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return within(dir, p) })
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if strings.Contains(n.Value, sgr) && !in(writesSGR) {
				wrong = append(wrong, fmt.Sprintf("%s writes %s: colours are tui/style's", file, n.Value))
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "tea" && strings.Contains(n.Sel.Name, "Program") && !in(runsPrograms) {
				wrong = append(wrong, fmt.Sprintf("%s knows tea.%s: only screens run programs", file, n.Sel.Name))
			}
		}
		return true
	})
	return wrong
}

// starts reports whether a directory may start goroutines by itself: internal/routine, and helpers of tests.
func starts(dir string) bool {
	return dir == "internal/routine" || strings.HasSuffix(dir, "test")
}

// unguarded is how a node starts a goroutine whose panic leaves the terminal as a screen has it; "": it does not.
func unguarded(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		if _, ok := n.(*ast.GoStmt); ok {
			return "go"
		}
		return ""
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "AfterFunc" && (s.Sel.Name != "Go" || len(call.Args) != 1) || named(s.X) == "routine" {
		return ""
	}
	if guard, ok := call.Args[len(call.Args)-1].(*ast.CallExpr); ok {
		if g, ok := guard.Fun.(*ast.SelectorExpr); ok && g.Sel.Name == "Guard" && named(g.X) == "routine" {
			return ""
		}
	}
	return s.Sel.Name
}

// named is the name that an expression is; "": it is something else.
func named(x ast.Expr) string {
	if id, ok := x.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func level(dir string) int {
	return slices.IndexFunc(levels, func(l []string) bool { return slices.Contains(l, dir) })
}

// within reports whether a directory is another one or lies in it; only main lies in "".
func within(dir, other string) bool {
	return dir == other || other != "" && strings.HasPrefix(dir, other+"/")
}

func TestViolationsAreSeen(t *testing.T) {
	for _, c := range []struct{ file, target string }{
		{"trainer/optim/x.go", "newtop/models"},
		{"models/x.go", "newtop/trainer/krylov"},
		{"trainer/feed/x.go", "newtop/models/blas"},
		{"trainer/x.go", "newtop/trainer/unheard"},
		{"models/x.go", "newtop/datasets"},
		{"trainer/x.go", "charm.land/bubbletea/v2"},
		{"trainer/x.go", "newtop/tui"},
		{"tui/x.go", "github.com/spf13/cobra"},
		{"internal/cli/tune/x.go", "newtop/internal/cli/runs"},
		{"internal/cli/predict/x.go", "newtop/trainer"},
		{"tui/x.go", "github.com/NimbleMarkets/ntcharts/v2/canvas"},
		{"tui/pane/x.go", "codeberg.org/go-pdf/fpdf"},
		{"tui/pane/inner/x.go", "newtop/tui/pane/analyses"},
		{"tui/pane/x.go", "newtop/tui/dashboard"},
		{"tui/chart/x.go", "newtop/tui/history"},
		{"tui/chart/x.go", "newtop/tui/widget"},
		{"tui/dashboard/x.go", "newtop/models"},
		{"docs/examples/method/x.go", "newtop/internal/vector"},
	} {
		if violation(c.file, c.target) == "" {
			t.Errorf("%s importing %s was let through", c.file, c.target)
		}
	}
}

func TestMisplacedCodeIsSeen(t *testing.T) {
	for _, c := range []struct {
		file, code string
		wrong      bool
	}{
		{"tui/pane/x.go", `const red = "\x1b[31m"`, true},
		{"tui/style/x.go", `const red = "\x1b[31m"`, false},
		{"tui/pane/x.go", "var p *tea.Program", true},
		{"tui/chart/x.go", "var p = tea.NewProgram(nil)", true},
		{"tui/screen/x.go", "var p *tea.Program", false},
		{"tui/pane/x.go", "var c tea.Cmd", false},
		{"trainer/logs/x/x.go", `var f, _ = os.Open("x")`, true},
		{"trainer/logs/files/x.go", `var f, _ = os.Open("x")`, false},
		{"trainer/stream/x.go", `var f, _ = filepath.Glob("x")`, true},
		{"trainer/stream/program_x.go", `var f, _ = os.Open("x")`, false},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), c.file, "package x\n"+c.code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := misplaced(c.file, f); (len(got) > 0) != c.wrong {
			t.Errorf("%s with %s: %q", c.file, c.code, got)
		}
	}
}

func TestUnguardedGoroutinesAreSeen(t *testing.T) {
	for line, want := range map[string]string{
		"go f()":                                 "go",
		"go func() {}()":                         "go",
		"w.Go(f)":                                "Go",
		"time.AfterFunc(d, func() {})":           "AfterFunc",
		"routine.Go(f)":                          "",
		"w.Go(routine.Guard(f))":                 "",
		"context.AfterFunc(c, routine.Guard(f))": "",
		"source.Go(up, down)":                    "",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package x\nfunc _() { "+line+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		ast.Inspect(f, func(n ast.Node) bool {
			got = cmp.Or(got, unguarded(n))
			return true
		})
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
