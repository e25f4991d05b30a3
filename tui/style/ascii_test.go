package style

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// drawn are characters that are only drawn where the glyph set is not that of ASCII.
const drawn = "▀▘▝▖▌▞▛▗▚▐▜▄▙▟"

// Everything that screens say, and what methods say of themselves there, has a character of ASCII that is clear.
func TestEveryTextHasASCII(t *testing.T) {
	for r, a := range asciiOf {
		if a < ' ' || a > '}' || a == '?' || a == '~' {
			t.Errorf("%c is %c", r, a)
		}
	}
	for _, root := range []string{"../../tui", "../../internal/format/format.go", "../../trainer/optim", "../../trainer/event", "../../trainer/krylov", "../../trainer/tune"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "tui/internal/") || strings.Contains(path, "tui/render/") || strings.HasSuffix(path, "event/names.go") { // names in logs
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING && literal.Kind != token.CHAR {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(path, literal.Value, err)
				}
				for _, r := range text {
					if _, ok := asciiOf[r]; r > '~' && !ok && !strings.ContainsRune(drawn, r) {
						t.Errorf("%s: %c in %s has no character of ASCII", path, r, literal.Value)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
