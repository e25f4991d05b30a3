// Package python holds newtop.py, the module with which a training loop in Python logs for newtop.
package python

import _ "embed" // for Module

// Module is the text of newtop.py, one file that needs Python 3.8 and nothing else.
//
//go:embed newtop.py
var Module string
