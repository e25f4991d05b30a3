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
	"time"
)

// PeerOptions say what to compare with.
type PeerOptions struct {
	Dir     string                    // where the scripts peer_*.py are
	Python  string                    // runs them; empty: python3, or /usr/bin/python3 where that alone has torch
	DataDir string                    // where letter-recognition.data is; empty: the directory data beside Dir
	Pairs   int                       // how often a script and newtop run in turn, 1 at least
	Budget  time.Duration             // of a run of training that does not reach its target, above 0
	Threads int                       // newtop's, at most MostThreads; 0: GOMAXPROCS. Peers choose their own
	Quick   bool                      // repeats less within a pair
	Live    func(source, text string) // is told every line of a script or of newtop as it comes

	works map[string][]work // by script; nil: allWorks
}

// Peers is newtop beside its peers.
type Peers struct {
	Machine  Machine       `json:"machine"`
	Python   string        `json:"python"`
	Scripts  []string      `json:"scripts"`
	Figures  []*PeerFigure `json:"figures"`
	Failures []string      `json:"failures,omitempty"` // script and reason
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
	if o.Python == "" {
		o.Python = findPython(ctx, "python3", "/usr/bin/python3")
	}
	if o.works == nil {
		o.works = o.allWorks()
	}
	p := &Peers{Machine: machine(o.Threads), Python: o.Python, Scripts: scripts, Figures: []*PeerFigure{}}
	for _, script := range scripts {
		works := o.works[script]
		if works == nil {
			works = []work{{}}
		}
		var err error
		for i := 0; i < len(works) && err == nil; i++ {
			err = p.inPairs(ctx, &o, script, &works[i])
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			p.Failures = append(p.Failures, script+": "+err.Error())
		}
	}
	return p, nil
}

// inPairs runs a script and newtop in turn. A failure ends that, and what came until then counts.
func (p *Peers) inPairs(ctx context.Context, o *PeerOptions, script string, w *work) error {
	t := newTable(w.name, o.Pairs)
	defer func() { p.Figures = append(p.Figures, t.compared()...) }()
	for pair := range o.Pairs {
		args := slices.Clone(w.args)
		if script == letterScript {
			args = append(args, "--seed", strconv.Itoa(pair))
		} else if o.Quick && w.own != nil {
			args = append(args, "--reps", "5")
		}
		before, understood := loadNow(ctx), false
		spent, err := runScript(ctx, o, script, args, func(text string) {
			o.Live(script, text)
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
		between := loadNow(ctx)
		err = w.own(ctx, pair, func(line map[string]any) {
			text, _ := json.Marshal(line)
			o.Live(newtop, string(text))
			t.add(pair, line)
		})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		t.load[0].Pairs[pair], t.load[1].Pairs[pair] = before.foreign(between, spent), between.foreign(loadNow(ctx), 0)
	}
	return nil
}

// findPython returns the first of some that imports torch. If none does it is the first: the scripts tell what they lack.
func findPython(ctx context.Context, pythons ...string) string {
	return pythons[max(0, slices.IndexFunc(pythons, func(python string) bool {
		return exec.CommandContext(ctx, python, "-c", "import torch").Run() == nil
	}))]
}
