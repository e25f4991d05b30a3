// Command gen writes THIRD_PARTY.md and what the program has of it: the licences of every module that is linked into
// newtop on one of the systems that it is built for, and of Go itself.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"newtop/internal/packed"
)

func main() {
	log.SetFlags(0)
	if err := run(filepath.Join("..", ".."), "third_party.md.gz"); err != nil {
		log.Fatal("licenses: ", err)
	}
}

// run reads the module in root.
func run(root, embedded string) error {
	list, err := modules(root, "linux", "darwin", "windows", "freebsd")
	if err != nil {
		return err
	}
	goroot, err := output(root, "", "env", "GOROOT")
	if err != nil {
		return err
	}
	parts := []part{{name: "newtop", dir: root}, {name: "Go's standard library and runtime",
		dir: strings.TrimSpace(goroot)}}
	text, err := document(append(parts, list...))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "THIRD_PARTY.md"), []byte(text), 0o644); err != nil {
		return err
	}
	return packed.Write(embedded, text)
}

// part is something of others' in the program.
type part struct {
	name, dir string
	packages  []string // directories of what is linked, some of which are under a licence of their own
}

// modules returns those of which a package is in the program, on any of the systems; "" is this one.
func modules(root string, systems ...string) (list []part, err error) {
	parts := map[string]*part{}
	for _, system := range systems {
		text, err := output(root, system, "list", "-e", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", ".")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			name, dirs, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
			if name == "" {
				continue
			}
			dir, linked, _ := strings.Cut(dirs, "\t")
			if dir == "" {
				return nil, fmt.Errorf("%s is not in the module cache: expected it after go mod download", name)
			}
			if parts[name] == nil {
				parts[name] = &part{name: name, dir: dir}
			}
			if p := parts[name]; linked != dir && !slices.Contains(p.packages, linked) {
				p.packages = append(p.packages, linked)
			}
		}
	}
	for _, p := range parts {
		slices.Sort(p.packages)
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// output runs the go command as for a system.
func output(dir, system string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if system != "" {
		cmd.Env = append(cmd.Env, "GOOS="+system, "GOARCH=amd64")
	}
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(text), nil
}
