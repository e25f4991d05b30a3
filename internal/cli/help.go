package cli

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/cli/flags"
	"newtop/internal/cli/print"
)

// Widths of the help in a terminal, and of names beside which their texts begin on the same line.
const (
	minHelpWidth = 40
	maxHelpWidth = 120
	maxNameWidth = 26
)

// addHelp has root and the commands below it write their help to out, for --help and by newtop help.
func addHelp(root *cobra.Command, out *print.Output) {
	root.PersistentFlags().BoolP("help", "h", false, "this help; --help all: every flag and key")
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(cmd, out, isAll(cmd.Flags().Args())) })
	root.SetHelpCommand(&cobra.Command{
		Use:               "help [COMMAND] [all]",
		Short:             "Help about any command",
		GroupID:           others,
		ValidArgsFunction: completeCommands,
		RunE: func(_ *cobra.Command, args []string) error {
			all := len(args) > 0 && isAll(args[len(args)-1:])
			if all {
				args = args[:len(args)-1]
			}
			cmd, rest, err := root.Find(args)
			if err == nil && cmd.HasAvailableSubCommands() {
				err = flags.NoArguments(cmd, rest)
			}
			if err == nil {
				writeHelp(cmd, out, all)
			}
			return err
		},
	})
}

// isAll reports whether arguments ask for all of the help.
func isAll(args []string) bool { return slices.Contains(args, "all") }

// completeCommands offers a shell the commands below the one that the arguments name.
func completeCommands(cmd *cobra.Command, args []string, _ string) (out []cobra.Completion,
	_ cobra.ShellCompDirective) {
	if above, _, err := cmd.Root().Find(args); err == nil {
		for _, c := range above.Commands() {
			if c.IsAvailableCommand() {
				out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// helpWriter writes the help of a command.
type helpWriter struct {
	out    io.Writer // remembers what can't be written
	width  int
	all    bool // what few people need, too
	colors helpColors
}

// helpColors are the colors of the help: pairs for a light and a dark background.
type helpColors struct{ title, program, command, flag color.Color }

func newHelpColors(dark bool) helpColors {
	of := lipgloss.LightDark(dark)
	return helpColors{
		title:   lipgloss.Color("#6B50FF"),
		program: of(lipgloss.Color("#00A4FF"), lipgloss.Color("#7272FF")),
		command: of(lipgloss.Color("#FF4FBF"), lipgloss.Color("#FF79D0")),
		flag:    of(lipgloss.Color("#0CB37F"), lipgloss.Color("#12C78F")),
	}
}

// writeHelp writes the help of a command as wide as the terminal. Where that of a command that trains is not all of it,
// it fits a terminal of 80 columns and 40 lines.
func writeHelp(cmd *cobra.Command, out *print.Output, all bool) {
	dark := false
	if f, ok := print.File(out); ok && term.IsTerminal(f.Fd()) {
		lipgloss.EnableLegacyWindowsANSI(f)
		dark = lipgloss.HasDarkBackground(os.Stdin, f)
	}
	width := cmp.Or(print.Width(out), print.TextWidth)
	h := helpWriter{
		out:    colorprofile.NewWriter(out.Styled(), os.Environ()),
		width:  min(max(width, minHelpWidth), maxHelpWidth),
		all:    all || !flags.HasKeys(cmd),
		colors: newHelpColors(dark),
	}
	h.command(cmd)
}

func (h *helpWriter) command(cmd *cobra.Command) {
	cmd.InitDefaultVersionFlag()
	fmt.Fprintln(h.out)
	for paragraph := range strings.SplitSeq(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), "\n\n") {
		h.paragraph(paragraph)
		fmt.Fprintln(h.out)
		if !h.all {
			break
		}
	}
	h.heading("usage")
	if usage := cmd.UseLine(); cmd.HasAvailableSubCommands() {
		h.shell(usage + " | " + cmd.CommandPath() + " COMMAND")
	} else {
		h.shell(usage)
	}
	if cmd.Example != "" && (h.all || cmd.HasParent()) {
		fmt.Fprintln(h.out)
		h.heading("examples")
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			h.shell(line)
		}
	}
	commands, options := commandEntries(cmd), flagEntries(cmd)
	if !h.all {
		commands, options = shortCommands(cmd), shortFlags(cmd)
		h.entries(commands, nameWidth(commands), h.colors.command)
		h.entries(options, nameWidth(options), h.colors.flag)
		fmt.Fprintln(h.out)
		return
	}
	names := nameWidth(slices.Concat(commands, options))
	h.entries(commands, names, h.colors.command)
	h.entries(options, names, h.colors.flag)
	h.entries(keyEntries(cmd), names, h.colors.flag)
	fmt.Fprintln(h.out)
}

// nameWidth is the width of the longest name that has its text beside it.
func nameWidth(list []helpEntry) (width int) {
	for _, e := range list {
		if n := utf8.RuneCountInString(e.name); n <= maxNameWidth {
			width = max(width, n)
		}
	}
	return width
}

// shortCommands returns the commands below one by their names alone, without those that every program has.
func shortCommands(cmd *cobra.Command) (list []helpEntry) {
	for _, g := range cmd.Groups() {
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && g.ID != others && c.IsAvailableCommand() {
				list = append(list, helpEntry{heading: "commands", name: c.Name(), text: c.Short})
			}
		}
	}
	return list
}

// shortFlags returns the flags of a command that people use.
func shortFlags(cmd *cobra.Command) (list []helpEntry) {
	add := func(f *pflag.Flag) {
		if text := flags.Short(f); !f.Hidden && text != "" && f.Name != "version" {
			e := flagEntry(f)
			e.heading, e.text = "flags", capitalized(text)
			list = append(list, e)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return list
}

// keyEntries returns the keys of the flags of a command.
func keyEntries(cmd *cobra.Command) (list []helpEntry) {
	for _, key := range flags.Keys(cmd) {
		list = append(list, helpEntry{heading: "keys of --" + key.Flag, name: key.Name + "=" + key.Value,
			text: capitalized(key.Usage), usual: key.Usual})
	}
	return list
}

// paragraph writes text in lines of the help's width, or as it is where a line of it is set in.
func (h *helpWriter) paragraph(text string) {
	rows := strings.Split(text, "\n")
	if !slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, " ") }) {
		rows = print.Wrapped(text, h.width-2)
	}
	for _, row := range rows {
		fmt.Fprintln(h.out, "  "+row)
	}
}

func (h *helpWriter) heading(text string) {
	fmt.Fprintln(h.out, "  "+lipgloss.NewStyle().Bold(true).Foreground(h.colors.title).Render(strings.ToUpper(text)))
}

// shell writes a line as it is typed.
func (h *helpWriter) shell(line string) {
	words := strings.Split(line, " ")
	for i, word := range words {
		switch {
		case word == "newtop":
			words[i] = foreground(h.colors.program, word)
		case strings.HasPrefix(word, "-"):
			words[i] = foreground(h.colors.flag, word)
		}
	}
	fmt.Fprintln(h.out, "    "+strings.Join(words, " "))
}

func foreground(c color.Color, text string) string {
	return lipgloss.NewStyle().Foreground(c).Render(text)
}

// helpEntry is a command or a flag.
type helpEntry struct{ heading, name, text, usual string }

// commandEntries returns the commands below one, in the order of their groups.
func commandEntries(cmd *cobra.Command) (list []helpEntry) {
	headings := map[string]string{"": "commands"}
	order := []string{""}
	for _, g := range cmd.Groups() {
		headings[g.ID] = g.Title
		order = append(order, g.ID)
	}
	for _, group := range order {
		for _, c := range cmd.Commands() {
			if c.GroupID == group && (c.IsAvailableCommand() || c.Name() == "help") {
				list = append(list, helpEntry{heading: headings[group], name: strings.TrimSuffix(c.Use, " [flags]"),
					text: c.Short})
			}
		}
	}
	return list
}

// flagEntries returns the flags of a command by their headings, in the order of the first of each; those without one
// come last.
func flagEntries(cmd *cobra.Command) (list []helpEntry) {
	var order []string
	under := map[string][]helpEntry{}
	add := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		e := flagEntry(f)
		if e.heading != "" && under[e.heading] == nil {
			order = append(order, e.heading)
		}
		under[e.heading] = append(under[e.heading], e)
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	for _, heading := range order {
		list = append(list, under[heading]...)
	}
	rest := "flags"
	if len(list) > 0 {
		rest = "others"
	}
	for _, e := range under[""] {
		e.heading = rest
		list = append(list, e)
	}
	return list
}

// flagEntry is what the long help tells of a flag.
func flagEntry(f *pflag.Flag) helpEntry {
	e := helpEntry{heading: flags.Heading(f), name: "--" + f.Name, text: capitalized(f.Usage)}
	if f.Shorthand != "" {
		e.name = "-" + f.Shorthand + ", " + e.name
	}
	if value := flags.ValueName(f); value != "" {
		e.name += " " + value
	}
	if f.DefValue != f.NoOptDefVal && !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) {
		e.usual = f.DefValue
	}
	return e
}

// capitalized returns a text with a capital at its beginning.
func capitalized(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:]
}

// entries writes names of that many columns, with their texts beside them, under their headings.
func (h *helpWriter) entries(list []helpEntry, names int, c color.Color) {
	const gap = 2
	left := 4 + names + gap
	heading := ""
	for _, e := range list {
		if e.heading != heading {
			heading = e.heading
			fmt.Fprintln(h.out)
			h.heading(heading)
		}
		text := e.text
		if e.usual != "" {
			text += " (default " + e.usual + ")"
		}
		pad := left - 4 - utf8.RuneCountInString(e.name)
		line := "    " + foreground(c, e.name)
		for i, row := range print.Wrapped(text, h.width-left) {
			if i > 0 || pad < gap {
				line += "\n"
				pad = left
			}
			line += strings.Repeat(" ", pad) + row
		}
		fmt.Fprintln(h.out, line)
	}
}
