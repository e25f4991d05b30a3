// Package licenses has the licences of all that is in the program.
package licenses

import (
	_ "embed"

	"newtop/internal/packed"
)

//go:generate go run ./gen

// notices is THIRD_PARTY.md of the module's root, where go:embed doesn't reach, compressed.
//
//go:embed third_party.md.gz
var notices []byte

// Text returns the notices: whose work is in the program, and under which licences.
func Text() string { return packed.Text(notices) }
