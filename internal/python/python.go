// Package python holds newtop.py, the module with which a training loop in Python logs for newtop.
package python

import (
	_ "embed"

	"newtop/internal/packed"
)

//go:generate go run ./gen

//go:embed newtop.py.gz
var compressed []byte

// Module returns the text of newtop.py, one file that needs Python 3.8 and nothing else.
func Module() string { return packed.Text(compressed) }
