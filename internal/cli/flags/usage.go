package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"newtop/internal/format"
	"newtop/trainer"
)

// UsageError is a wrong flag or argument.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// Usagef returns a *UsageError.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// NoArguments refuses arguments of commands that take none. At the root it is a command that does not
// exist, perhaps a misspelt one.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return Usagef("%s %s: expected no argument", cmd.CommandPath(), args[0])
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion" {
			names = append(names, c.Name())
		}
	}
	message := fmt.Sprintf("unknown command %q: expected one of %s", args[0], strings.Join(names, ", "))
	return &UsageError{message + format.DidYouMean(args[0], names)}
}

// Error says what a flag expected, in place of what the number parser thinks of the text, or which flag of the command
// was probably meant.
func Error(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && len(unknown.GetSpecifiedName()) > 1 {
		return &UsageError{err.Error() + format.DidYouMean("--"+unknown.GetSpecifiedName(), names(cmd.Flags()))}
	}
	if former, ok := errors.AsType[*UsageError](err); ok {
		return former
	}
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return &UsageError{err.Error()}
	}
	flag := value.GetFlag()
	return Invalid("--"+flag.Name, value.GetValue(), expected(flag.Value))
}

// names returns the flags as they are typed, but for hidden ones.
func names(set *pflag.FlagSet) (list []string) {
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			list = append(list, "--"+f.Name)
		}
	})
	return list
}

// expected says in words what a flag takes.
func expected(v pflag.Value) string {
	switch v.Type() {
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number ≥ 0"
	case "float64":
		return "a number"
	case "duration":
		return "a duration as in 90s or 5m"
	case "bool":
		return "true or false"
	}
	return "a " + v.Type()
}

// Invalid says that a flag has a value that it can't have.
func Invalid(flag string, value any, expected string) error {
	return &trainer.ConfigError{Field: flag, Value: fmt.Sprint(value), Expected: expected}
}

// OneOf refuses a flag's value that is none of two or more.
func OneOf(flag, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	last := len(choices) - 1
	return Invalid(flag, value, strings.Join(choices[:last], ", ")+" or "+choices[last]+format.DidYouMean(
		value, choices))
}

// Arguments asks for that many arguments, any number from least on where most is 0, and says what they are.
func Arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most > 0 && len(args) > most {
			return Usagef("%s: expected %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// OneArgument asks for exactly one argument and says what it is.
func OneArgument(what string) cobra.PositionalArgs { return Arguments(1, 1, "one argument: "+what) }
