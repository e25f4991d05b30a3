package imports

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The bounds of a package and of what is in it.
const (
	maxFiles       = 25  // of a package, those of all systems, without tests
	maxMethods     = 30  // of a type
	maxMethodFiles = 3   // that have methods of one type
	maxFields      = 25  // of a struct
	maxCycle       = 8   // files of a package that need one another
	maxColumns     = 120 // of a line outside tests, a tab as four
)

// The totals of the main module, in lines of Go outside testdata. Who adds takes away as much, or raises a total in a commit
// of its own that says why.
const (
	maxLines     = 157260
	maxTestLines = 86226
)

// records are structs that have many fields because what they stand for has: nothing but data, and no methods that hide them.
var records = map[string]string{
	"trainer/config Config":    "a field for each setting of a run",
	"trainer/event EpochEvent": "a field for each number of an epoch, as JSON has them",
	"internal/cli/runs runRow": "a field for each number of a run, as JSON has them",
	"tui/remote statusReport":  "a field for each number of a status, as JSON has them",
	"internal/figure epoch":    "a field for each curve",
}

// over lists what is over a bound, with how far. It only shrinks: what is less than listed here has to be lowered.
var over = map[string]int{
	"internal/release/wheel long lines": 1,
	"trainer/logs/jsonlog long lines":   1,
}

func TestBounds(t *testing.T) {
	packages, err := load(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 50 {
		t.Fatalf("saw %d packages: looking in the wrong place", len(packages))
	}
	found := map[string]int{}
	note := func(p *pkg, what string, n, bound int) {
		if n > bound {
			found[p.dir+" "+what] = n
		}
	}
	byCycle := map[string]*pkg{}
	for _, p := range packages {
		note(p, "files", p.files, maxFiles)
		note(p, "long lines", len(p.long), 0)
		note(p, "cycle", p.cycle(p.home), maxCycle)
		byCycle[p.dir+" cycle"] = p
		for name, s := range p.types {
			note(p, name+" methods", s.methods, maxMethods)
			note(p, name+" files with methods", len(s.files), maxMethodFiles)
			if records[p.dir+" "+name] == "" {
				note(p, name+" fields", s.fields, maxFields)
			}
		}
		if base := filepath.Base(p.dir); slices.Contains([]string{"util", "utils", "common", "types"}, base) {
			t.Errorf("%s: a package is called after what it has, and not %s", p.dir, base)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		switch allowed := over[key]; {
		case found[key] < allowed:
			t.Errorf("%s: %d now, not %d: lower it in the list", key, found[key], allowed)
		case found[key] > allowed:
			t.Errorf("%s: %d\n%s", key, found[key], advice(byCycle[key], packages, key))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(over)) {
		if found[key] == 0 {
			t.Errorf("%s: within the bound now: take it off the list", key)
		}
	}
}

func TestTotals(t *testing.T) {
	code, tests := 0, 0
	err := eachFile(filepath.Join("..", ".."), func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") {
			tests += bytes.Count(text, []byte("\n"))
		} else {
			code += bytes.Count(text, []byte("\n"))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if code > maxLines || tests > maxTestLines {
		t.Errorf("%d lines and %d of tests: expected at most %d and %d", code, tests, maxLines, maxTestLines)
	}
}

// eachFile visits the Go files of the module.
func eachFile(root string, visit func(path string, text []byte)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && skipped(root, path, d) {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			visit(path, text)
		}
		return nil
	})
}

// skipped reports whether a directory is none of the module: hidden, data of tests, or another module.
func skipped(root, path string, d fs.DirEntry) bool {
	if path == root {
		return false
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"
}

// pkg is a package as the bounds look at it.
type pkg struct {
	dir   string
	files int
	long  []string // lines over maxColumns
	types map[string]*size
	home  map[string]string          // the file of a declaration
	uses  map[string]map[string]bool // of a declaration
}

// size is how large a type is.
type size struct {
	methods, fields int
	files           map[string]bool // with methods
}

// load type-checks the packages of the module.
func load(root string) ([]*pkg, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			exports[path] = file
		}
	}
	var packages []*pkg
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if skipped(root, path, d) {
			return filepath.SkipDir
		}
		b, err := build.ImportDir(path, 0)
		if err != nil || len(b.GoFiles) == 0 {
			return nil // no package, or one of tests alone
		}
		p, err := check(root, path, b.GoFiles, exports)
		if err == nil {
			packages = append(packages, p)
		}
		return err
	})
	return packages, err
}

func check(root, dir string, names []string, exports map[string]string) (*pkg, error) {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	p := &pkg{dir: filepath.ToSlash(rel), types: map[string]*size{}, home: map[string]string{}, uses: map[string]map[string]bool{}}
	if err := p.measure(dir); err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	checked, err := config.Check(rel, fset, files, info)
	if err != nil {
		return nil, err
	}
	var spans []span
	for _, f := range files {
		spans = append(spans, p.declare(filepath.Base(fset.Position(f.Pos()).Filename), f)...)
	}
	for name, s := range p.types {
		if o, ok := checked.Scope().Lookup(name).(*types.TypeName); ok && !o.IsAlias() {
			if fields, ok := o.Type().Underlying().(*types.Struct); ok {
				s.fields = fields.NumFields()
			}
		}
	}
	p.connect(checked, info, spans)
	return p, nil
}

// measure counts the files of all systems and their long lines.
func (p *pkg) measure(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		p.files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, []byte("// Code generated ")) {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			if n := len([]rune(line)) + 3*strings.Count(line, "\t"); n > maxColumns {
				p.long = append(p.long, fmt.Sprintf("%s/%s:%d: %d columns", p.dir, filepath.Base(path), i+1, n))
			}
		}
	}
	return nil
}

// span is where a declaration stands.
type span struct {
	from, to token.Pos
	name     string
}

// declare notes the declarations of a file.
func (p *pkg) declare(file string, f *ast.File) (spans []span) {
	add := func(n ast.Node, name string) {
		if name == "_" || name == "init" {
			name = fmt.Sprint(name, " ", n.Pos())
		}
		spans = append(spans, span{n.Pos(), n.End(), name})
		p.home[name] = file
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if of := receiver(d); of != "" {
				name = of + "." + name
				s := p.size(of)
				s.methods++
				s.files[file] = true
			}
			add(d, name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					p.size(s.Name.Name)
					add(s, s.Name.Name)
				case *ast.ValueSpec:
					add(s, s.Names[0].Name)
				}
			}
		}
	}
	return spans
}

func (p *pkg) size(name string) *size {
	if p.types[name] == nil {
		p.types[name] = &size{files: map[string]bool{}}
	}
	return p.types[name]
}

// receiver returns the name of a method's type; empty: it is a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

// connect notes which declarations use which.
func (p *pkg) connect(checked *types.Package, info *types.Info, spans []span) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	at := func(pos token.Pos) string {
		i, found := slices.BinarySearchFunc(spans, pos, func(s span, pos token.Pos) int { return cmp.Compare(s.from, pos) })
		if !found {
			i--
		}
		if i < 0 || pos > spans[i].to {
			return ""
		}
		return spans[i].name
	}
	for id, o := range info.Uses {
		if o.Pkg() != checked || !o.Pos().IsValid() {
			continue
		}
		if from, to := at(id.Pos()), at(o.Pos()); from != "" && to != "" && from != to {
			if p.uses[from] == nil {
				p.uses[from] = map[string]bool{}
			}
			p.uses[from][to] = true
		}
	}
}

// cycle returns how many files the greatest cycle has, if declarations were at home there.
func (p *pkg) cycle(home map[string]string) (greatest int) {
	for _, c := range p.cycles(home) {
		greatest = max(greatest, len(c))
	}
	return greatest
}

// cycles returns the sets of files that need one another (Tarjan's strongly connected components).
func (p *pkg) cycles(home map[string]string) (out [][]string) {
	needs := map[string]map[string]bool{}
	for from, all := range p.uses {
		for to := range all {
			if a, b := home[from], home[to]; a != b {
				if needs[a] == nil {
					needs[a] = map[string]bool{}
				}
				needs[a][b] = true
			}
		}
	}
	number, low, open := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var visit func(file string)
	visit = func(file string) {
		number[file] = len(number) + 1
		low[file], open[file] = number[file], true
		stack = append(stack, file)
		for next := range needs[file] {
			if number[next] == 0 {
				visit(next)
				low[file] = min(low[file], low[next])
			} else if open[next] {
				low[file] = min(low[file], number[next])
			}
		}
		if low[file] != number[file] {
			return
		}
		i := slices.Index(stack, file)
		if c := slices.Sorted(slices.Values(stack[i:])); len(c) > 1 {
			out = append(out, c)
		}
		for _, done := range stack[i:] {
			open[done] = false
		}
		stack = stack[:i]
	}
	for file := range needs {
		if number[file] == 0 {
			visit(file)
		}
	}
	return out
}

// advice says what would help: the lines that are too long, or the cycle and which declarations, moved, make it smaller.
func advice(p *pkg, packages []*pkg, key string) string {
	if p == nil {
		for _, p := range packages {
			if key == p.dir+" long lines" {
				return strings.Join(p.long, "\n")
			}
		}
		return ""
	}
	var b strings.Builder
	now := p.cycle(p.home)
	for _, c := range p.cycles(p.home) {
		if len(c) == now {
			fmt.Fprintf(&b, "a cycle of %s\n", strings.Join(c, " "))
		}
	}
	type move struct {
		text  string
		cycle int
	}
	var moves []move
	home := maps.Clone(p.home)
	for name, file := range p.home {
		to := map[string]bool{}
		for other := range p.uses[name] {
			to[p.home[other]] = true
		}
		for other, all := range p.uses {
			if all[name] {
				to[p.home[other]] = true
			}
		}
		for next := range to {
			home[name] = next
			if n := p.cycle(home); n < now {
				moves = append(moves, move{fmt.Sprintf("%s from %s to %s: a cycle of %d", name, file, next, n), n})
			}
		}
		home[name] = file
	}
	slices.SortFunc(moves, func(a, b move) int { return cmp.Or(a.cycle-b.cycle, strings.Compare(a.text, b.text)) })
	for _, m := range moves[:min(5, len(moves))] {
		fmt.Fprintf(&b, "\tmove %s\n", m.text)
	}
	return b.String()
}
