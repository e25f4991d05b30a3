// Command targets checks the types of the whole module and all that it imports, for every system that newtop is
// released for, or for those that its arguments name, as windows/arm64. It finds what a compiler would refuse in a
// small part of the time; .ci/nightly compiles and vets, tests included.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

var all = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
	"freebsd/amd64", "freebsd/arm64"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("targets: ")
	root, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	targets := os.Args[1:]
	if len(targets) == 0 {
		targets = all
	}
	failed := false
	for _, target := range targets {
		n, problems, err := check(root, target)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d packages\n", target, n)
		for _, p := range problems {
			fmt.Println(p)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns how many packages the module in root has for a system, and what is wrong in them.
func check(root, target string) (n int, problems []string, err error) {
	goos, goarch, _ := strings.Cut(target, "/")
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Dir: root,
		Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch),
		ParseFile: func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, root+string(filepath.Separator)) {
				hollow(file)
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return 0, nil, err
	}
	for _, p := range list {
		for _, e := range p.Errors {
			problems = append(problems, e.Error())
		}
	}
	return len(list), problems, nil
}

// hollow takes the bodies out of a file that others compile every day.
func hollow(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
