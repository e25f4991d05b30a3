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

	"newtop/trainer/event"
)

// The scripts that newtop has something to set beside.
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
	// Live is told every line as it comes, and why there are no more from a script; nil: nobody is.
	Live func(l PeerLine, failed bool)

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
		o.Live = func(PeerLine, bool) {}
	}
}

// Newtop is the source of its own lines.
const Newtop = "newtop"

// PeerLine is a line that a script printed, or newtop's own figures in the same form.
type PeerLine struct {
	Source string `json:"source"` // Newtop, or the name of a script
	Text   string `json:"text"`   // of a failure: its reason
}

// Peers is newtop beside its peers.
type Peers struct {
	Machine  Machine    `json:"machine"`
	Python   string     `json:"python"`
	Scripts  []string   `json:"scripts"`
	Lines    []PeerLine `json:"lines"`
	Ratios   []Ratio    `json:"ratios"`
	Failures []PeerLine `json:"failures,omitempty"`
}

// Ratio is how many times as fast as a peer newtop is in one figure, all of which are times: the peer's best over the mean of
// newtop's before and after it. Newtop's is null where it did not get there, and so is Ratio then.
type Ratio struct {
	What    string      `json:"what"` // the figure's key
	Peer    string      `json:"peer"`
	PeerIs  float64     `json:"peer_value"`
	Newtop  string      `json:"newtop"`
	OwnIs   event.Float `json:"newtop_value"`
	Quicker event.Float `json:"ratio"`
}

// figure is a time, of those that a line has. Only figures of one What and one kind are compared.
type figure struct {
	what, kind, of string // of: who took it, in words
	value          float64
}

// compare sets newtop's figures against the peers' best of each kind, in the order in which these came. A kind that newtop has
// nothing of is left out; its figures of no kind stand beside any.
func compare(own, peers []figure) (list []Ratio) {
	type group struct{ what, kind string }
	best := map[group]figure{}
	var order []group
	for _, f := range peers {
		g := group{f.what, f.kind}
		b, ok := best[g]
		if !ok {
			order = append(order, g)
		}
		if !ok || f.value < b.value {
			best[g] = f
		}
	}
	for _, g := range order {
		alike := func(f figure) bool { return f.what == g.what && (f.kind == g.kind || f.kind == "") }
		if i := slices.IndexFunc(own, alike); i >= 0 {
			list = append(list, ratioOf(best[g], own[i].of, meanOf(own, alike)))
		}
	}
	return list
}

func ratioOf(peer figure, name string, own float64) Ratio {
	return Ratio{What: peer.what, Peer: peer.of, PeerIs: peer.value, Newtop: name, OwnIs: event.Float(own), Quicker: event.Float(peer.value / own)}
}

func meanOf(all []figure, alike func(figure) bool) float64 {
	sum, n := 0.0, 0.0
	for _, f := range all {
		if alike(f) {
			sum, n = sum+f.value, n+1
		}
	}
	return sum / n
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
		packages += " python3-" + m // as Debian calls them
	}
	return fmt.Sprintf("no %s (tried %s): install it with apt-get install --no-install-recommends %s, or name one with --python",
		what, strings.Join(e.Tried, ", "), packages)
}

// modules is what some scripts import, beside what comes with it.
var modules = map[string][]string{productsScript: {"torch"}, letterScript: {"torch", "sklearn"}}

// MeasurePeers runs the scripts one after another, and newtop's own measurement before and after each that it has one
// for. What goes wrong with one script is among the Failures. It returns a *NoPeersError or *NoPythonError where nothing
// can be run, and the context's error if that ends first; a script under way is killed then.
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
	p := &Peers{Machine: machine(o.Threads), Python: o.Python, Scripts: scripts, Lines: []PeerLine{}, Ratios: []Ratio{}}
	for _, script := range scripts {
		switch script {
		case productsScript:
			err = p.besideProducts(ctx, &o)
		case letterScript:
			err = p.besideLetter(ctx, &o)
		default:
			err = runScript(ctx, &o, script, nil, func(line string) { p.add(&o, script, line) })
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			p.Failures = append(p.Failures, PeerLine{script, err.Error()})
			o.Live(PeerLine{script, err.Error()}, true)
		}
	}
	return p, nil
}

func (p *Peers) add(o *PeerOptions, source, text string) {
	p.Lines = append(p.Lines, PeerLine{source, text})
	o.Live(PeerLine{source, text}, false)
}

// own adds a line of newtop's.
func (p *Peers) own(o *PeerOptions, line any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic("bench: " + err.Error())
	}
	p.add(o, Newtop, string(text))
}

// figures runs a script and returns what figuresOf makes of its lines: nil of those that it does not understand, of which
// not all may be.
func figures[T any](ctx context.Context, p *Peers, o *PeerOptions, script string, args []string, figuresOf func(*T) []figure) (all []figure, err error) {
	understood := false
	err = runScript(ctx, o, script, args, func(line string) {
		p.add(o, script, line)
		var t T
		if json.Unmarshal([]byte(line), &t) != nil {
			return
		}
		list := figuresOf(&t)
		understood = understood || list != nil
		all = append(all, list...)
	})
	if err == nil && !understood {
		err = errors.New("it printed no figures")
	}
	return all, err
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

// positive reports whether all are numbers above zero.
func positive(all ...float64) bool {
	return !slices.ContainsFunc(all, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) })
}
