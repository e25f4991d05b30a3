package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/syntax"

	"newtop/internal/cli/launch"
	"newtop/internal/cli/print"
)

// documentedCommand is a command of newtop in a document.
type documentedCommand struct {
	page, as string
	args     []string
	prose    bool // names a command, and may leave out what it needs
}

var (
	shBlock  = regexp.MustCompile("(?sm)^```sh\n(.*?)^```")
	anyBlock = regexp.MustCompile("(?sm)^```.*?^```")
	codeSpan = regexp.MustCompile("`(newtop [^`]+)`")
)

// documentedCommands returns the commands in the sh blocks and the prose of README.md and docs/.
func documentedCommands(t *testing.T) (commands []documentedCommand) {
	t.Helper()
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		read := func(code string, prose bool) {
			script, err := syntax.NewParser().Parse(strings.NewReader(code), page)
			if err != nil {
				t.Errorf("%s: %v\n%s", page, err, code)
				return
			}
			syntax.Walk(script, func(n syntax.Node) bool {
				if call, ok := n.(*syntax.CallExpr); ok {
					if args := ofNewtop(call); args != nil {
						commands = append(commands, documentedCommand{filepath.Base(page), "newtop " + strings.Join(args, " "), args, prose})
					}
				}
				return true
			})
		}
		for _, b := range shBlock.FindAllStringSubmatch(string(text), -1) {
			read(b[1], false)
		}
		for _, s := range codeSpan.FindAllStringSubmatch(anyBlock.ReplaceAllString(string(text), ""), -1) {
			// A table has bars behind backslashes, and N is any number.
			read(strings.NewReplacer(`\|`, "|", "\n", " ", " N", " 1").Replace(s[1]), true)
		}
	}
	return commands
}

// ofNewtop returns the arguments that a call gives to newtop, itself or by way of mpirun, srun or exec; nil if it calls
// something else. An expansion is 1, as it may have to be a number.
func ofNewtop(call *syntax.CallExpr) []string {
	var args []string
	for _, word := range call.Args {
		var b strings.Builder
		syntax.Walk(word, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Lit:
				b.WriteString(strings.NewReplacer("\\\n", "", `\`, "").Replace(n.Value))
			case *syntax.SglQuoted:
				b.WriteString(n.Value)
			case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ArithmExp:
				b.WriteByte('1')
				return false
			}
			return true
		})
		args = append(args, b.String())
	}
	if len(args) >= 3 && slices.Equal(args[:3], []string{"go", "run", "."}) {
		return args[3:]
	}
	i := slices.IndexFunc(args, func(a string) bool { return a == "newtop" || a == "./newtop" })
	if i < 0 || i > 0 && !slices.Contains([]string{"mpirun", "srun", "exec"}, args[0]) {
		return nil
	}
	return args[i+1:]
}

// TestDocumentedCommandsParse: newtop has every command of the documents, with its flags and arguments.
func TestDocumentedCommandsParse(t *testing.T) {
	commands := documentedCommands(t)
	if len(commands) < 50 {
		t.Errorf("%d commands: looked in the wrong place", len(commands))
	}
	for _, c := range commands {
		root := newRoot(launch.New(print.NewOutput(io.Discard, "")))
		cmd, rest, err := root.Find(c.args)
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateRequiredFlags()
		}
		if err == nil && !c.prose {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err != nil && err != pflag.ErrHelp {
			t.Errorf("%s: %s: %v", c.page, c.as, err)
		}
	}
}

// TestDocumentedCommandsRun runs those that are cheap and need no more than two recorded runs, a saved model, a table and a log.
func TestDocumentedCommandsRun(t *testing.T) {
	commands := documentedCommands(t)
	t.Setenv("NEWTOP_STATE_DIR", t.TempDir())
	t.Chdir(t.TempDir())
	table := "height,width,price\n"
	for i := range 40 {
		table += fmt.Sprintf("%d,%d,%s\n", i, i%7, []string{"low", "high"}[i%2])
	}
	for name, text := range map[string]string{
		"table.csv": table, "new.csv": table, "log.csv": "epoch,loss,val_loss,acc\n1,1.0,,0.5\n2,nan,0.05,0.95\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"adam-3e-3", "another"} {
		succeed(t, "train", "--data", "table.csv", "--target", "price", "--epochs", "1", "--name", name, "--save", "best.onnx")
	}

	cheap := strings.Fields("version python optimizers data data-show predict explain runs runs-list runs-show runs-compare runs-plot runs-export runs-check runs-salvage runs-rm")
	file, trial := regexp.MustCompile(`\.(csv|onnx|safetensors|db|toml|parquet)$`), regexp.MustCompile(`^[a-z]+-\d+\.\d+$`)
	lacks := func(args []string) bool {
		for i, a := range args {
			_, err := os.Stat(a)
			if trial.MatchString(a) || err != nil && file.MatchString(a) && (i == 0 || args[i-1] != "-o" && args[i-1] != "--out") {
				return true
			}
		}
		return false
	}
	ran := map[string]bool{}
	for _, c := range commands {
		cmd, _, err := newRoot(launch.New(print.NewOutput(io.Discard, ""))).Find(c.args)
		if err != nil || c.prose || ran[c.as] || lacks(c.args) {
			continue
		}
		name := strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), "newtop "), " ", "-")
		if !slices.Contains(cheap, name) && !(name == "watch" && (slices.Contains(c.args, "--once") || slices.Contains(c.args, "--until"))) {
			continue
		}
		ran[c.as] = true
		if _, errs, code := newtop(c.args...); code != print.ExitDone {
			t.Errorf("%s: %s: exit %d\n%s", c.page, c.as, code, errs)
		}
	}
	if len(ran) < 10 {
		t.Errorf("%d commands ran: looked in the wrong place", len(ran))
	}
}
