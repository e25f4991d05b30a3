package flags

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Headings of the help that flags of several places stand under.
const (
	Recording = "record"
	Output    = "output"
	Computing = "computation"
)

// Annotations of flags.
const (
	headingKey = "heading"
	valueKey   = "value"
	shortKey   = "short" // its usage in the short help; empty: the long help alone has the flag
	keysKey    = "keys"  // which keys it takes
)

// The values of keysKey.
const (
	allKeys   = "all"
	againKeys = "again"
)

// Under puts flags under a heading of the help.
func Under(title string, set *pflag.FlagSet, names ...string) {
	for _, name := range names {
		annotate(set.Lookup(name), headingKey, title)
	}
}

// Heading returns the heading of the help that a flag stands under; empty: none of its own.
func Heading(f *pflag.Flag) string { return annotation(f, headingKey) }

// Short returns a flag's usage in the short help of a command: that of the long one where it says nothing else; empty
// where the long help alone has the flag.
func Short(f *pflag.Flag) string {
	if text, ok := f.Annotations[shortKey]; ok {
		return text[0]
	}
	return f.Usage
}

// Long leaves flags to the long help.
func Long(set *pflag.FlagSet, names ...string) {
	for _, name := range names {
		annotate(set.Lookup(name), shortKey, "")
	}
}

// ValueName says in capitals what a flag takes; empty: nothing.
func ValueName(f *pflag.Flag) string {
	if name := annotation(f, valueKey); name != "" {
		return name
	}
	switch f.Value.Type() {
	case "bool":
		return ""
	case "int", "uint64":
		return "N"
	case "float64":
		return "FLOAT"
	case "duration":
		return "TIME"
	case "stringSlice":
		return "LIST"
	}
	return "TEXT"
}

func annotate(f *pflag.Flag, key, text string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = []string{text}
}

func annotation(f *pflag.Flag, key string) string {
	if a := f.Annotations[key]; len(a) > 0 {
		return a[0]
	}
	return ""
}

// isPath reports whether a shell completes the value of a flag by files of its own accord.
func isPath(f *pflag.Flag) bool {
	name := ValueName(f)
	return strings.Contains(name, "FILE") || strings.Contains(name, "DIR")
}

// Finish brings the flags of a command and of those below it into the form in which help and completion take them: what
// a usage has in back quotes is the name of the value, and what takes no file is not completed by files.
func Finish(cmd *cobra.Command) {
	finish := func(f *pflag.Flag) {
		if name, usage := pflag.UnquoteUsage(f); usage != f.Usage {
			annotate(f, valueKey, name)
			f.Usage = usage
		}
		if _, offered := cmd.GetFlagCompletionFunc(f.Name); !offered && !isPath(f) {
			Complete(cmd, f.Name, cobra.NoFileCompletions)
		}
	}
	cmd.Flags().VisitAll(finish)
	cmd.PersistentFlags().VisitAll(finish)
	if takesNothing := len(strings.Fields(strings.TrimSuffix(cmd.Use, " [flags]"))) == 1; takesNothing &&
		cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, c := range cmd.Commands() {
		Finish(c)
	}
}
