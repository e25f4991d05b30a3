package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/internal/bench/load"
	"newtop/trainer/event"
)

// PeerOptions say what to compare with.
type PeerOptions struct {
	Dir     string                           // where the scripts peer_*.py are
	Python  string                           // runs them; empty: the first of python3 and /usr/bin/python3 that has what they import
	DataDir string                           // where letter-recognition.data is; empty: the directory data beside Dir
	Pairs   int                              // how often a script and newtop run in turn, 1 at least
	Budget  time.Duration                    // of a run of training that does not reach its target, above 0
	Threads int                              // newtop's, at most MostThreads; 0: GOMAXPROCS. Peers choose their own
	Quick   bool                             // repeats less within a pair
	Live    func(line PeerLine, failed bool) // is told every line as it comes, and why there are no more from a script

	works map[string][]work // by script; nil: allWorks
}

// PeerLine is a line that a script printed, or newtop's own figures in the same form.
type PeerLine struct {
	Source string `json:"source"` // newtop, or the name of a script
	Text   string `json:"text"`   // of a failure: its reason
}

// Peers is newtop beside its peers.
type Peers struct {
	Machine  Machine       `json:"machine"`
	Python   string        `json:"python"`
	Scripts  []string      `json:"scripts"`
	Lines    []PeerLine    `json:"lines"`
	Figures  []*PeerFigure `json:"figures"`
	Failures []PeerLine    `json:"failures,omitempty"`
}

// work is what a script and newtop measure in turn.
type work struct {
	name string
	args []string // of the script
	// own measures the same of newtop and says it as the script does; nil: there is nothing beside the script.
	own func(ctx context.Context, pair int, say func(line map[string]any)) error
}

// MeasurePeers runs each script in turn with newtop's own measurement, or once if newtop has none. What goes wrong with a
// script is among the Failures. It returns the context's error if that ends first; a script under way is killed then.
func MeasurePeers(ctx context.Context, o PeerOptions) (*Peers, error) {
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.DataDir = cmp.Or(o.DataDir, filepath.Join(o.Dir, "..", "data"))
	scripts, _ := fs.Glob(os.DirFS(o.Dir), "peer_*.py")
	if scripts == nil {
		return nil, fmt.Errorf("%s: expected scripts peer_*.py", o.Dir)
	}
	var err error
	if o.Python, err = findPython(ctx, o.Python, scripts); err != nil {
		return nil, err
	}
	if o.works == nil {
		o.works = o.allWorks()
	}
	p := &Peers{Machine: Here(o.Threads), Python: o.Python, Scripts: scripts, Lines: []PeerLine{}, Figures: []*PeerFigure{}}
	for _, script := range scripts {
		works := o.works[script]
		if works == nil {
			works = []work{{}}
		}
		err = nil
		for i := 0; i < len(works) && err == nil; i++ {
			err = p.inPairs(ctx, &o, script, &works[i])
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

// inPairs runs a script and newtop in turn. A failure ends that, and what came until then counts.
func (p *Peers) inPairs(ctx context.Context, o *PeerOptions, script string, w *work) error {
	tell := func(source, text string) {
		p.Lines = append(p.Lines, PeerLine{source, text})
		o.Live(PeerLine{source, text}, false)
	}
	t := newTable(w.name, o.Pairs)
	defer func() { p.Figures = append(p.Figures, t.compared()...) }()
	for pair := range o.Pairs {
		args := slices.Clone(w.args)
		if script == letterScript {
			args = append(args, "--seed", strconv.Itoa(pair))
		} else if o.Quick && w.own != nil {
			args = append(args, "--reps", "5")
		}
		before, understood := load.Now(ctx), false
		spent, err := runProgram(ctx, o.Python, append([]string{filepath.Join(o.Dir, script)}, args...), func(text string) {
			tell(script, text)
			var line map[string]any
			understood = json.Unmarshal([]byte(text), &line) == nil && t.add(pair, line) || understood
		})
		if err != nil || w.own == nil {
			return err
		}
		if !understood {
			return errors.New("it printed no figures")
		}
		runtime.GC() // now rather than while newtop is measured
		between := load.Now(ctx)
		err = w.own(ctx, pair, func(line map[string]any) {
			text, _ := json.Marshal(line)
			tell(newtop, string(text))
			t.add(pair, line)
		})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		t.load[0].Pairs[pair], t.load[1].Pairs[pair] = event.Float(before.Foreign(between, spent)), event.Float(between.Foreign(load.Now(ctx), 0))
	}
	return nil
}

// findPython returns the named Python, or without a name the first of two, that imports what the scripts need.
func findPython(ctx context.Context, named string, scripts []string) (string, error) {
	var modules []string
	for _, of := range [][]string{{"torch", productsScript, batchScript, letterScript}, {"sklearn", letterScript}} { // a module, and what imports it
		if slices.ContainsFunc(scripts, func(s string) bool { return slices.Contains(of[1:], s) }) {
			modules = append(modules, of[0])
		}
	}
	return pythonWith(ctx, named, modules...)
}

// pythonWith returns the named Python, or without a name the first of two, that has these modules.
func pythonWith(ctx context.Context, named string, modules ...string) (string, error) {
	tried, imports, packages := []string{named}, "sys", "python3"
	if named == "" {
		tried = []string{"python3", "/usr/bin/python3"}
	}
	for _, module := range modules {
		imports, packages = imports+", "+module, packages+" python3-"+module // as Debian calls them
	}
	for _, python := range tried {
		if exec.CommandContext(ctx, python, "-c", "import "+imports).Run() == nil || ctx.Err() != nil {
			return python, ctx.Err()
		}
	}
	return "", fmt.Errorf("no Python that imports %s (tried %s): install it with apt-get install --no-install-recommends %s, or name one with --python",
		imports, strings.Join(tried, ", "), packages)
}
