// Package licenses has the licences of all that is in the program.
package licenses

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
)

//go:generate go run ./gen

// notices is THIRD_PARTY.md of the module's root, where go:embed doesn't reach, compressed.
//
//go:embed third_party.md.gz
var notices []byte

// Text returns the notices: whose work is in the program, and under which licences.
func Text() (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(notices))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}
