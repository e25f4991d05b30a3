package tune

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/format"
	"newtop/trainer"
)

// What newtop itself says in the place of a name, and in the environment as NEWTOP_DIR, ….
var ownNames = []string{"dir", "seed", "trial"}

var (
	placeholder = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_-]*)\}`)
	axisName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
)

// expand puts values in the place of names. It reports whether one is missing, and returns the first name that nobody
// knows. A brace that is not before a name stays, as in JSON.
func expand(text string, known func(name string) bool, values map[string]string) (out string, missing bool,
	unknown string) {
	var b strings.Builder
	for open := 0; text != ""; {
		m := placeholder.FindStringSubmatch(text)
		n := 1
		switch {
		case strings.HasPrefix(text, "{{"):
			open++
			n = 2
			b.WriteByte('{')
		case strings.HasPrefix(text, "}}") && open > 0:
			open--
			n = 2
			b.WriteByte('}')
		case m != nil:
			n = len(m[0])
			value, has := values[m[1]]
			if !has && !known(m[1]) {
				return "", false, m[1]
			}
			missing = missing || !has
			b.WriteString(value)
		default:
			b.WriteByte(text[0])
		}
		text = text[n:]
	}
	return b.String(), missing, ""
}

// arguments returns the program with a trial's values. An argument with a name that the trial has not, as its condition
// is not met, is left out with the flag before it.
func (p *Program) arguments(known func(string) bool, values map[string]string) (args []string) {
	for i, text := range p.Args {
		arg, missing, _ := expand(text, known, values)
		switch {
		case !missing:
			args = append(args, arg)
		case i > 1 && strings.HasPrefix(p.Args[i-1], "-") && !strings.ContainsAny(p.Args[i-1], "={ "):
			args = args[:len(args)-1]
		}
	}
	return args
}

// environ returns what a trial's program has in its environment beside this process's: NEWTOP_NAME for its choices
// first.
func (p *Program) environ(known func(string) bool, choices []Choice, values map[string]string) (env []string) {
	for _, c := range choices {
		env = append(env, variable(c.Key)+"="+c.Value)
	}
	for _, name := range ownNames {
		env = append(env, variable(strings.ToUpper(name))+"="+values[name])
	}
	for _, text := range p.Env {
		if e, missing, _ := expand(text, known, values); !missing {
			env = append(env, e)
		}
	}
	return env
}

// variable is the environment variable of a name.
func variable(name string) string { return "NEWTOP_" + strings.ReplaceAll(name, "-", "_") }

// valuesOf are what the names stand for in a trial.
func valuesOf(t *trial, dir string) map[string]string {
	values := map[string]string{"dir": dir, "seed": strconv.FormatUint(t.Seed, 10), "trial": strconv.Itoa(t.Number)}
	for _, c := range t.Choices {
		values[c.Key] = c.Value
	}
	return values
}

// names reports whether a name may stand in braces.
func (s *space) names(name string) bool {
	return slices.Contains(ownNames, name) || slices.ContainsFunc(s.axes, func(a axis) bool { return a.Key == name })
}

// check returns a *trainer.ConfigError for what can be seen to be wrong before a trial runs.
func (p *Program) check(s *space, search string) error {
	invalid := func(field, value, expected string) error {
		return &trainer.ConfigError{Field: field, Value: value, Expected: expected}
	}
	if len(p.Args) == 0 {
		return invalid("Program", "", "a program")
	}
	if len(s.axes) == 0 {
		return invalid("Over", "", "an axis for a program, as in --over lr=1e-5..1e-1:log")
	}
	for i := range s.axes {
		key := s.axes[i].Key
		taken := slices.ContainsFunc(s.axes[:i], func(a axis) bool { return variable(a.Key) == variable(key) })
		if taken || !axisName.MatchString(key) || slices.Contains(ownNames, strings.ToLower(key)) || key == "LOG" {
			return invalid("Over", s.axes[i].String(), "a name of letters, digits, _ and - that is none of "+
				strings.Join(ownNames, ", ")+", and with _ for - no other's")
		}
	}
	for _, text := range slices.Concat(p.Args, p.Env, []string{p.Log}) {
		if _, _, name := expand(text, s.names, nil); name != "" {
			return invalid("Program", text, fmt.Sprintf(
				"the name of an --over, dir, seed or trial in place of %s, or {{%[1]s}} for the text itself", name))
		}
	}
	for _, e := range p.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return invalid("Env", e, "NAME=VALUE")
		}
	}
	if info, err := os.Stat(filepath.Join(p.Dir, search)); err == nil && !info.IsDir() {
		return invalid("Name", search, "a name for the trials' directory: there is a file of it")
	}
	if placeholder.MatchString(p.Args[0]) {
		return nil
	}
	cmd := exec.Command(p.Args[0])
	if cmd.Dir = p.Dir; cmd.Err != nil {
		return invalid("Program", p.Args[0], "a program: "+cmd.Err.Error())
	}
	return nil
}

// newDir makes a trial's directory: of its number, or where a trial that was cut short has left one, with .2, .3, …
// behind it.
func (p *Program) newDir(search string, number int) (string, error) {
	parent := filepath.Join(p.Dir, search)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return "", err
	}
	for attempt := 1; ; attempt++ {
		name := strconv.Itoa(number)
		if attempt > 1 {
			name += "." + strconv.Itoa(attempt)
		}
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o777); err == nil || !os.IsExist(err) {
			return dir, err
		}
	}
}

// commandLine writes what a shell runs to have a trial's program again: what stands in no argument is in its
// environment. Its directory is another, so that nothing of the trial's is lost.
func (p *Program) commandLine(s *space, search string, t *trial) string {
	dir := filepath.Join(p.Dir, search, "best")
	values := valuesOf(t, dir)
	var words []string
	if p.mentions("dir") {
		words = append(words, "mkdir -p "+format.Quote(dir)+" &&")
	}
	if !p.mentions("seed") {
		words = append(words, variable("SEED")+"="+values["seed"])
	}
	for _, c := range t.Choices {
		if !p.mentions(c.Key) {
			words = append(words, variable(c.Key)+"="+format.Quote(c.Value))
		}
	}
	for _, text := range p.Env {
		if e, missing, _ := expand(text, s.names, values); !missing {
			name, value, _ := strings.Cut(e, "=")
			words = append(words, name+"="+format.Quote(value))
		}
	}
	return strings.Join(append(words, format.QuoteAll(p.arguments(s.names, values))), " ")
}

// mentions reports whether an argument or a variable has a name.
func (p *Program) mentions(name string) bool {
	return slices.ContainsFunc(slices.Concat(p.Args, p.Env), func(text string) bool {
		_, missing, _ := expand(text, func(n string) bool { return n == name }, nil)
		return missing
	})
}

// Unmentioned lists the axes that stand in no argument, which the program finds in its environment alone.
func (p *Program) Unmentioned(over []Dimension) (names []string) {
	for i := range over {
		if key := over[i].Key; !p.mentions(key) {
			names = append(names, key+" as $"+variable(key))
		}
	}
	return names
}
