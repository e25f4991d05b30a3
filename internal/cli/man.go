package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/version"
)

// newMan is for those who package newtop.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual: a page of section 1 for each command",
		Example: "newtop man /usr/local/share/man/man1",
		Args:    flags.OneArgument("a directory for the pages"),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManual(cmd.Root(), args[0])
		},
	}
}

// writeManual writes the page of a command and those of the commands below it.
func writeManual(cmd *cobra.Command, dir string) error {
	var page strings.Builder
	writePage(&page, cmd)
	if err := os.WriteFile(filepath.Join(dir, pageName(cmd)+".1"), []byte(page.String()), 0o644); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writeManual(c, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// pageName returns newtop-runs-show for newtop runs show.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// writePage writes what --help tells of a command in the language of man(7).
func writePage(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, ".TH %s 1 \"\" \"newtop %s\" \"newtop\"\n", strings.ToUpper(pageName(cmd)), version.Program())
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	fmt.Fprintf(w, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(cmd.UseLine()))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, ".br\n\\fB%s\\fP [command]\n", roff(cmd.CommandPath()))
	}
	fmt.Fprintf(w, ".SH DESCRIPTION\n")
	for i, paragraph := range strings.Split(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), "\n\n") {
		if i > 0 {
			fmt.Fprintln(w, ".PP")
		}
		if strings.Contains("\n"+paragraph, "\n ") { // lines that are set in stand as they are
			paragraph = ".nf\n" + roff(paragraph) + "\n.fi"
		} else {
			paragraph = roff(paragraph)
		}
		fmt.Fprintln(w, paragraph)
	}
	heading := ""
	for _, e := range slices.Concat(commandEntries(cmd), flagEntries(cmd), keyEntries(cmd)) {
		if e.heading != heading {
			heading = e.heading
			fmt.Fprintf(w, ".SH %s\n", strings.ToUpper(roff(heading)))
		}
		text := e.text
		if e.usual != "" {
			text += " (default " + e.usual + ")"
		}
		fmt.Fprintf(w, ".TP\n\\fB%s\\fP\n%s\n", roff(e.name), roff(text))
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	if above := cmd.Parent(); above != nil {
		fmt.Fprintf(w, ".SH SEE ALSO\n\\fB%s\\fP(1)\n", roff(pageName(above)))
	}
}

// roff escapes text: backslashes, hyphens that are to be copied as they are, and dots that would begin a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
