package print

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"newtop/internal/cli/flags"
	"newtop/internal/routine"
)

// Width returns the width of the terminal that out is, or 0 for none.
func Width(out io.Writer) int {
	f, ok := File(out)
	if !ok || !term.IsTerminal(f.Fd()) {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width < 1 {
		return 80
	}
	return width
}

// Terminal returns the command's input and output if both are terminals that can be drawn on.
func Terminal(cmd *cobra.Command) (in, out *os.File, ok bool) {
	in, inOK := cmd.InOrStdin().(*os.File)
	out, outOK := Drawable(cmd.OutOrStdout())
	return in, out, inOK && outOK && term.IsTerminal(in.Fd())
}

// Confirm lists what is to be removed and asks on the terminal.
func Confirm(cmd *cobra.Command, lines []string, what string) error {
	if _, _, ok := Terminal(cmd); !ok {
		return flags.Usagef("%s: expected --yes without a terminal to ask on", cmd.CommandPath())
	}
	out := cmd.ErrOrStderr()
	for _, line := range lines {
		fmt.Fprintln(out, Printable(line))
	}
	fmt.Fprintf(out, "Remove %s for good? [y/N] ", what)
	answered := make(chan string, 1)
	routine.Go(func() {
		line, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
		answered <- strings.ToLower(strings.TrimSpace(line))
	})
	select {
	case <-cmd.Context().Done():
		return cmd.Context().Err()
	case answer := <-answered:
		if answer == "y" || answer == "yes" {
			return nil
		}
	}
	return errors.New("nothing was removed")
}

// JSON writes v for scripts, on lines that are set in.
func JSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Wrapped breaks text between words, at spaces alone and not before %, into rows of a width, which only a longer word
// exceeds.
func Wrapped(text string, width int) (rows []string) {
	const glue = "\u00a0"
	row := ""
	for _, word := range strings.Split(strings.ReplaceAll(strings.Join(strings.Fields(text), " "), " %", glue+"%"),
		" ") {
		if row != "" && ansi.StringWidth(row)+1+ansi.StringWidth(word) > width {
			rows = append(rows, row)
			row = ""
		}
		if row != "" {
			row += " "
		}
		row += strings.ReplaceAll(word, glue, " ")
	}
	return append(rows, row)
}
