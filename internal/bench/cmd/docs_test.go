package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	documented = regexp.MustCompile("(?m)(?:^|`)newtop-bench ([^`\n#]+)")
	argument   = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
)

// TestDocumentedCommandsParse: each command of the pages exists, with its flags.
func TestDocumentedCommandsParse(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range documented.FindAllStringSubmatch(string(text), -1) {
			seen++
			args := argument.FindAllString(line[1], -1)
			for i := range args {
				args[i] = strings.Trim(args[i], `'"`)
			}
			cmd, rest, err := newRoot().Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil {
				t.Errorf("%s: newtop-bench %s: %v", filepath.Base(page), line[1], err)
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d commands: looked in the wrong place", seen)
	}
}
