// Command newtop trains feed-forward networks with exact curvature and shows how it goes, in a
// terminal.
package main

import (
	"os"

	"newtop/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
