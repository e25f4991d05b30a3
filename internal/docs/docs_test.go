// Package docs holds the tests of README.md and the pages of docs/: links, length and spelling. The commands in them are tested in
// internal/cli.
package docs

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/golangci/misspell"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// The most words that a page may have, and all of docs/ together.
var limits = map[string]int{
	"README.md":               700,
	"docs/getting-started.md": 500,
	"docs/":                   20_000,
}

var update = flag.Bool("update", false, "write the word list anew")

// dictionary lists the words that the pages use, a line each, in lower case.
const dictionary = "testdata/words.txt"

// page is a document, by its path from the module's root.
type page struct {
	name, source string
	links        []string
	anchors      map[string]bool // of its headings, as GitHub makes them
	prose        []string        // the text of each paragraph, heading and cell, without code
}

func read(t *testing.T) map[string]*page {
	t.Helper()
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d pages in docs: %v", len(files), err)
	}
	pages := map[string]*page{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		p := parse(filepath.ToSlash(name), source)
		pages[p.name] = p
	}
	return pages
}

func parse(name string, source []byte) *page {
	p := &page{name: name, source: string(source), anchors: map[string]bool{}}
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	// The walk returns no error, as nothing in it does.
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
		case *ast.Heading:
			anchor := slug(words(n, source, true))
			for i, base := 1, anchor; p.anchors[anchor]; i++ {
				anchor = fmt.Sprintf("%s-%d", base, i)
			}
			p.anchors[anchor] = true
		}
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
			p.prose = append(p.prose, words(n, source, false))
		}
		return ast.WalkContinue, nil
	})
	return p
}

// words returns the text of a block, where code is a dash unless it is wanted.
func words(block ast.Node, source []byte, code bool) string {
	var b strings.Builder
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			if !code {
				b.WriteString("–")
				return ast.WalkSkipChildren, nil
			}
		case *ast.AutoLink:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// slug makes the anchor of a heading as GitHub does: letters, digits, hyphens and underscores in lower case, and a hyphen for each space.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// TestLinks follows every link within the repository, to the heading. The site's first page leads to all others.
func TestLinks(t *testing.T) {
	pages, linked := read(t), map[string]bool{}
	for _, p := range pages {
		for _, link := range p.links {
			u, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: %s: %v", p.name, link, err)
				continue
			}
			if u.IsAbs() {
				continue
			}
			to := path.Join(path.Dir(p.name), u.Path)
			if u.Path == "" {
				to = p.name
			}
			if p.name == "docs/index.md" {
				linked[to] = true
			}
			target := pages[to]
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(to))); err != nil {
				t.Errorf("%s: %s: there is no %s", p.name, link, to)
			} else if u.Fragment != "" && (target == nil || !target.anchors[u.Fragment]) {
				t.Errorf("%s: %s: %s has no heading %s", p.name, link, to, u.Fragment)
			}
		}
	}
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && name != "docs/index.md" && !linked[name] {
			t.Errorf("docs/index.md does not lead to %s", name)
		}
	}
}

// TestLength counts what has a letter or a digit in it, between spaces, but for the figures that docs/figures.sh writes,
// and the list of writers.
func TestLength(t *testing.T) {
	figures := regexp.MustCompile(`(?s)<!-- [a-z-]+ -->\n.*?\n<!-- end of [a-z-]+ -->|<!-- writers -->.*?<!-- /writers -->`)
	counts := map[string]int{}
	for name, p := range read(t) {
		for _, w := range strings.Fields(figures.ReplaceAllString(p.source, "")) {
			if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				counts[name]++
				if strings.HasPrefix(name, "docs/") {
					counts["docs/"]++
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d words: %s", counts[name], name)
	}
	for name, most := range limits {
		if counts[name] == 0 || counts[name] > most {
			t.Errorf("%s has %d words: expected at most %d", name, counts[name], most)
		}
	}
}

// TestSpelling looks for common misspellings, for words that stand twice, and for words that are not in the list.
func TestSpelling(t *testing.T) {
	word := regexp.MustCompile(`\p{L}+(?:['’]\p{L}+)*`)
	replacer := misspell.New()
	listed, used := map[string]bool{}, map[string]string{}
	if list, err := os.ReadFile(dictionary); err == nil {
		for w := range strings.FieldsSeq(string(list)) {
			listed[w] = true
		}
	} else if !*update {
		t.Fatal(err)
	}
	for _, p := range read(t) {
		for _, text := range p.prose {
			if _, wrong := replacer.Replace(text); len(wrong) > 0 {
				t.Errorf("%s: %s: expected %s", p.name, wrong[0].Original, wrong[0].Corrected)
			}
			all := word.FindAllStringIndex(text, -1)
			for i, at := range all {
				w := strings.ToLower(strings.ReplaceAll(text[at[0]:at[1]], "’", "'"))
				if i > 0 && len(w) > 1 && strings.TrimSpace(text[all[i-1][1]:at[0]]) == "" && strings.EqualFold(w, text[all[i-1][0]:all[i-1][1]]) {
					t.Errorf("%s: %s stands twice", p.name, w)
				}
				if w = strings.TrimSuffix(w, "'s"); len(w) > 2 {
					used[w] = p.name
				}
			}
		}
	}
	if *update {
		list := strings.Join(slices.Sorted(maps.Keys(used)), "\n") + "\n"
		if err := os.WriteFile(dictionary, []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, w := range slices.Sorted(maps.Keys(used)) {
		if !listed[w] && !listed[strings.TrimSuffix(w, "s")] {
			t.Errorf("%s: %q is a new word: if it is spelled well, go test ./internal/docs -run Spelling -update", used[w], w)
		}
	}
}

// TestFigures: what docs/figures.sh measured was measured by the sources that there are.
func TestFigures(t *testing.T) {
	root := filepath.Join("..", "..")
	table, err := os.ReadFile(filepath.Join(root, "docs", "figures.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	if len(lines) < 2 || lines[0] != "figure\tpage\tsources\thash\tcommit\tmachine\tload\tdate" {
		t.Fatalf("docs/figures.tsv: %d lines, the first is %q", len(lines), lines[0])
	}
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 8 {
			t.Errorf("docs/figures.tsv: %q: expected 8 cells", line)
			continue
		}
		var files []string
		for _, pattern := range strings.Fields(cells[2]) {
			found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
			if err != nil || len(found) == 0 {
				t.Errorf("%s: no file is %s", cells[0], pattern)
			}
			files = append(files, found...)
		}
		slices.Sort(files)
		hash := sha256.New()
		for _, file := range slices.Compact(files) {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			hash.Write(source)
		}
		if sum := fmt.Sprintf("%x", hash.Sum(nil))[:16]; sum != cells[3] {
			t.Errorf("%s of %s was measured by other sources than there are now, of hash %s: docs/figures.sh WORK DATA %[1]s", cells[0], cells[1], sum)
		}
	}
}

// TestWriters: the page on watching names each program whose logs .ci/writers compares, with the version.
func TestWriters(t *testing.T) {
	root := filepath.Join("..", "..")
	folders, err := filepath.Glob(filepath.Join(root, ".ci", "writers", "*", "*", "requirements.txt"))
	if err != nil || len(folders) == 0 {
		t.Fatal("no writers", err)
	}
	versions := map[string]string{}
	for _, file := range folders {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		for _, line := range strings.Fields(string(text)) {
			of, version, _ := strings.Cut(line, "==")
			if of, _, _ = strings.Cut(of, "["); of != "numpy" && strings.HasPrefix(strings.ToLower(of), strings.ToLower(name[:min(4, len(name))])) {
				versions[of] = version
			}
		}
	}
	var list []string
	for _, of := range slices.Sorted(maps.Keys(versions)) {
		list = append(list, of+" "+versions[of])
	}
	const begin, end = "<!-- writers -->", "<!-- /writers -->"
	page := filepath.Join(root, "docs", "watch.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), begin)
	_, tail, ok := strings.Cut(rest, end)
	want := head + begin + "[`.ci/writers/run`](../.ci/writers/run) runs these programs, and compares each point that is read with what they were told: `" +
		strings.Join(list, "`, `") + "`." + end + tail
	switch {
	case !ok:
		t.Errorf("docs/watch.md: expected %s and %s", begin, end)
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case string(text) != want:
		t.Error("docs/watch.md names other writers than .ci/writers has: go test ./internal/docs -run Writers -update")
	}
}
