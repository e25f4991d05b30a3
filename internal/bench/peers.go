package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The scripts whose figures are understood.
const (
	productsScript = "peer_hvp.py"
	letterScript   = "peer_letter.py"
)

// PeerOptions say what to compare with. Dir is needed; else the zero value works.
type PeerOptions struct {
	// Dir is where the scripts peer_*.py are.
	Dir string
	// Python runs them; empty: the first of python3 and /usr/bin/python3 that has what they import.
	Python string
	// DataDir is where letter-recognition.data is; empty: the directory data beside Dir.
	DataDir string
	// Budget ends each run of training that has not reached its target; 0: 30 s, with Quick 5 s.
	Budget time.Duration
	// Threads is newtop's, at most MostThreads; 0: GOMAXPROCS. Peers choose their own.
	Threads int
	// Quick repeats less and has a smaller default Budget.
	Quick bool
	// Live is told every figure and line as it comes; nil: nobody is.
	Live func(Live)

	rows int         // of newtop's letter problem; 0: letterRows
	runs []letterRun // of newtop on UCI letter; nil: letterRuns
}

func (o *PeerOptions) fill() {
	own := Options{Threads: o.Threads, Rows: o.rows}
	own.fill()
	o.Threads, o.rows = own.Threads, own.Rows
	if o.Budget == 0 {
		o.Budget = 30 * time.Second
		if o.Quick {
			o.Budget = 5 * time.Second
		}
	}
	if o.runs == nil {
		o.runs = letterRuns
	}
	if o.DataDir == "" {
		o.DataDir = filepath.Join(o.Dir, "..", "data")
	}
	if o.Live == nil {
		o.Live = func(Live) {}
	}
}

// Live is what just came: one of the fields after Source is set.
type Live struct {
	Source   string // Newtop, or a script
	Products *PeerProducts
	Letter   *PeerLetter
	Text     string // a line that is not understood
	Failure  string // why there is no more from this script
}

// Newtop is the name of its own figures.
const Newtop = "newtop"

// Peers is newtop beside its peers.
type Peers struct {
	Machine  Machine         `json:"machine"`
	Python   string          `json:"python"`
	Scripts  []string        `json:"scripts"`
	Products *ProductsBeside `json:"products,omitempty"`
	Letter   *LetterBeside   `json:"letter,omitempty"`
	Others   []PeerOutput    `json:"others,omitempty"`
	Failures []PeerFailure   `json:"failures,omitempty"`
}

// PeerOutput is what a script printed whose figures are not understood.
type PeerOutput struct {
	Script string   `json:"script"`
	Lines  []string `json:"lines"`
}

// PeerFailure says why there is nothing, or not all, of a script's.
type PeerFailure struct {
	Script string `json:"script"`
	Reason string `json:"reason"`
}

// NoPeersError says that a directory has no scripts.
type NoPeersError struct{ Dir string }

func (e *NoPeersError) Error() string { return fmt.Sprintf("%s: expected scripts peer_*.py", e.Dir) }

// NoPythonError says that no Python can run the scripts.
type NoPythonError struct {
	Tried   []string
	Modules []string // that at least one of them lacks
}

func (e *NoPythonError) Error() string {
	what, packages := "Python", "python3"
	for i, m := range e.Modules {
		what += []string{" that imports ", " and "}[min(i, 1)] + m
		packages += " " + debian[m]
	}
	return fmt.Sprintf("no %s (tried %s): install it with apt-get install --no-install-recommends %s, or name one with --python",
		what, strings.Join(e.Tried, ", "), packages)
}

// debian has the package of each module.
var debian = map[string]string{"torch": "python3-torch", "sklearn": "python3-sklearn"}

// modules is what the scripts that are understood import, beside what comes with it.
var modules = map[string][]string{productsScript: {"torch"}, letterScript: {"torch", "sklearn"}}

// MeasurePeers runs the scripts one after another, and newtop's own measurement before and after each. What goes
// wrong with one script is among the Failures. It returns a *NoPeersError or *NoPythonError where nothing can be
// run, and the context's error if that ends first; a script under way is killed then.
func MeasurePeers(ctx context.Context, o PeerOptions) (*Peers, error) {
	o.fill()
	scripts, err := findScripts(o.Dir)
	if err != nil {
		return nil, err
	}
	pythons := []string{"python3", "/usr/bin/python3"}
	if o.Python != "" {
		pythons = []string{o.Python}
	}
	if o.Python, err = findPython(ctx, pythons, scripts); err != nil {
		return nil, err
	}
	p := &Peers{Machine: machine(o.Threads), Python: o.Python, Scripts: scripts}
	for _, script := range scripts {
		var err error
		switch script {
		case productsScript:
			p.Products, err = besideProducts(ctx, &o)
		case letterScript:
			p.Letter, err = besideLetter(ctx, &o)
		default:
			err = p.other(ctx, &o, script)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			p.Failures = append(p.Failures, PeerFailure{script, err.Error()})
			o.Live(Live{Source: script, Failure: err.Error()})
		}
	}
	return p, nil
}

// findScripts returns the names of a directory's scripts in alphabetical order.
func findScripts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var scripts []string
	for _, e := range entries {
		if ok, _ := filepath.Match("peer_*.py", e.Name()); ok && !e.IsDir() {
			scripts = append(scripts, e.Name())
		}
	}
	if scripts == nil {
		return nil, &NoPeersError{dir}
	}
	return scripts, nil
}

// findPython returns the first of some commands that is a Python and imports what the scripts need.
func findPython(ctx context.Context, tried, scripts []string) (string, error) {
	var needed []string
	for _, s := range scripts {
		needed = append(needed, modules[s]...)
	}
	slices.Sort(needed)
	needed = slices.Compact(needed)
	slices.Reverse(needed) // torch first
	for _, python := range tried {
		cmd := exec.CommandContext(ctx, python, "-c", "import "+strings.Join(append([]string{"sys"}, needed...), ", "))
		if cmd.Run() == nil {
			return python, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	return "", &NoPythonError{Tried: tried, Modules: needed}
}

// other runs a script whose figures are not understood.
func (p *Peers) other(ctx context.Context, o *PeerOptions, script string) error {
	out := PeerOutput{Script: script, Lines: []string{}}
	err := runScript(ctx, o, script, nil, func(line string) {
		out.Lines = append(out.Lines, line)
		o.Live(Live{Source: script, Text: line})
	})
	p.Others = append(p.Others, out)
	return err
}

// errNoFigures says that a script ended well but told nothing.
var errNoFigures = errors.New("it printed no figures")

// figures runs a script and collects those of its lines that good finds complete.
func figures[T any](ctx context.Context, o *PeerOptions, script string, args []string, good func(*T) bool, live func(*T) Live) ([]T, error) {
	var all []T
	err := runScript(ctx, o, script, args, func(line string) {
		var t T
		if json.Unmarshal([]byte(line), &t) != nil || !good(&t) {
			o.Live(Live{Source: script, Text: line})
			return
		}
		all = append(all, t)
		o.Live(live(&t))
	})
	if err == nil && all == nil {
		err = errNoFigures
	}
	return all, err
}

// positive reports whether all are numbers above zero.
func positive(all ...float64) bool {
	return !slices.ContainsFunc(all, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) })
}
