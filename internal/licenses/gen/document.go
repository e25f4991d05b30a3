package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const preface = `# Licences

Written by go generate ./internal/licenses. newtop version --licenses prints it.

The program has in it what is listed here, under the licences that follow. The letters and digits that newtop trains on
without a download are drawn with the Go fonts of golang.org/x/image, in which figures are set, too.

`

// notice is a text of a licence, and the parts that it is of.
type notice struct {
	text string
	of   []string
}

// document writes what is in the program, and each text once.
func document(parts []part) (string, error) {
	var b strings.Builder
	b.WriteString(preface + "| part | licences |\n|---|---|\n")
	var notices []*notice
	for _, p := range parts {
		var files []string
		for _, dir := range append([]string{p.dir}, p.packages...) {
			more, err := texts(dir)
			if err != nil {
				return "", err
			}
			for _, f := range more {
				if !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
		var kinds []string
		for _, f := range files {
			if k := kind(f); k != "" && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
			i := slices.IndexFunc(notices, func(n *notice) bool { return n.text == f })
			if i < 0 {
				i = len(notices)
				notices = append(notices, &notice{text: f})
			}
			notices[i].of = append(notices[i].of, p.name)
		}
		if len(kinds) == 0 {
			return "", fmt.Errorf("%s: no licence that is known in %s: expected one of %s", p.name, p.dir, known())
		}
		fmt.Fprintf(&b, "| %s | %s |\n", p.name, strings.Join(kinds, ", "))
	}
	for _, n := range notices {
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n", strings.Join(n.of, ", "), strings.ReplaceAll(n.text, "```", "'''"))
	}
	return b.String(), nil
}

// texts returns the licences that a directory has at its top, and those of what it took from others.
func texts(dir string) (list []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := strings.ToLower(filepath.ToSlash(rel))
		beside := name == "third_party_licenses" || name == "licenses"
		switch {
		case d.IsDir() && name != "." && !beside:
			return fs.SkipDir
		case d.IsDir(), !isNotice(name):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		list = append(list, plain(string(text)))
		return nil
	})
	return list, err
}

// isNotice reports whether a file says who has a right to what.
func isNotice(name string) bool {
	switch filepath.Ext(name) {
	case "", ".txt", ".md":
	default:
		return strings.HasPrefix(name, "license-")
	}
	for _, begin := range []string{"license", "licence", "copying", "notice", "patents", "third_party_licenses/",
		"ofl"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// plain returns a text as lines of what can be printed.
func plain(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.ToValidUTF8(text, "?"), "\n") {
		line = strings.Map(func(r rune) rune {
			switch {
			case r == '\t' || strconv.IsPrint(r):
				return r
			case r == '\u00a0':
				return ' '
			}
			return -1
		}, line)
		lines = append(lines, strings.TrimRight(line, " \t"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// kinds are licences by what only they say, those first that say what others do as well.
var kinds = []struct{ name, says string }{
	{"Apache-2.0", "Apache License"},
	{"OFL-1.1", "SIL OPEN FONT LICENSE"},
	{"BSL-1.0", "Boost Software License"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "endorse or promote products"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms"},
	{"blessing", "May you do good and not evil"},
}

// kind names a licence; "" is one that is not known.
func kind(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, k := range kinds {
		if strings.Contains(text, strings.ToLower(k.says)) {
			return k.name
		}
	}
	return ""
}

func known() string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}
