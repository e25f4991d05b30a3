// Command newtop trains feed-forward networks with exact curvature and shows how it goes, in a
// terminal.
package main

import (
	"os"

	"newtop/trainer/app"
)

func main() { os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
