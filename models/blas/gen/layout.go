package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
)

// layout knows where the fields of package blas's structs are.
type layout struct {
	pkg *types.Package
}

var sizes = types.SizesFor("gc", "amd64")

// read reads the types of some files, which must not need others.
func read(names ...string) (layout, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return layout{}, err
		}
		files = append(files, f)
	}
	config := types.Config{Importer: importer.Default()} // of unsafe
	pkg, err := config.Check("blas", set, files, nil)
	return layout{pkg}, err
}

func (l layout) structure(name string) *types.Struct {
	return l.pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
}

func (l layout) size(name string) uint64 { return uint64(sizes.Sizeof(l.structure(name))) }

// offset returns how many bytes after a struct's beginning a field is.
func (l layout) offset(name, field string) int {
	s := l.structure(name)
	var fields []*types.Var
	for f := range s.Fields() {
		fields = append(fields, f)
	}
	for i, at := range sizes.Offsetsof(fields) {
		if fields[i].Name() == field {
			return int(at)
		}
	}
	panic(fmt.Sprintf("gen: %s has no field %s", name, field))
}
