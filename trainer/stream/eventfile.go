package stream

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"newtop/internal/tfevents"
	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/find"
)

// maxHistograms is how many tags of histograms are shown, each by its quantiles: they must leave room for scalars.
const maxHistograms = 64

// quantiles are the ends of the tags that a histogram's quantiles have, in the order of tfevents.Shares.
var quantiles = [len(tfevents.Shares)]string{"/min", "/p5", "/p25", "/p50", "/p75", "/p95", "/max"}

// eventFile reads one event file of a run: its scalars, and between them the quantiles of its histograms.
type eventFile struct {
	path    files.Path
	prefix  string // of its tags: the directories between the run's and its own
	summary bool   // what a run came to, which PyTorch writes without steps beside its hyperparameters
	f       files.File
	r       *tfevents.Reader
	value   tfevents.Scalar // the next one
	some    bool            // whether there is one
	over    bool            // after an error
	size    int64
	wrote   time.Time

	read       bool // scalar and err are what was read behind the histograms
	scalar     tfevents.Scalar
	err        error
	histograms []tfevents.Histogram
	given      int // of their quantiles
	names      map[string]*[len(quantiles)]string
}

func (b *board) newEventFile(path files.Path, prefix string, f files.File) *eventFile {
	e := &eventFile{path: path, prefix: prefix, f: f, r: tfevents.NewReader(f, path.Name),
		names: make(map[string]*[len(quantiles)]string)}
	if isTime(strings.TrimSuffix(prefix, "/")) {
		e.prefix, e.summary = "", true
	}
	e.r.Session = func(s tfevents.Session) { b.sessions = append(b.sessions, s) }
	e.r.Image = func(i tfevents.Image) { b.image(e.image(i), i.Wall) }
	e.r.Histogram = func(h tfevents.Histogram) {
		tag := e.prefix + h.Tag
		if !b.histograms[tag] {
			if len(b.histograms) >= maxHistograms {
				b.dropped++
				return
			}
			b.histograms[tag] = true
		}
		e.histograms = append(e.histograms, h)
	}
	return e
}

// image is an image of the file, which is read when it is looked at.
func (f *eventFile) image(i tfevents.Image) logs.Image {
	out := logs.Image{Key: f.prefix + i.Tag, Step: int(i.Step), Kind: "audio"}
	if i.Of > 1 {
		out.Key += " #" + strconv.Itoa(i.At+1)
	}
	if path := f.path; !i.Audio {
		out.Kind, out.Load = "", func() ([]byte, error) {
			file, err := path.Open()
			if err != nil {
				return nil, err
			}
			defer file.Close()
			return i.Encoded(file)
		}
	}
	return out
}

// prefixOf is what stands before the tags of a directory's files, in the run of a directory at or above it: the names
// of what lies between, but for the one in which Guild hides all that it writes.
func prefixOf(run, dir files.Path) string {
	rel, err := filepath.Rel(run.Name, dir.Name)
	if err != nil || rel == "." {
		return ""
	}
	return strings.ReplaceAll(filepath.ToSlash(rel)+"/", find.Guild+"/", "")
}

// isTime reports whether a directory is named by Python's time.time(), as those that PyTorch's add_hparams makes.
func isTime(name string) bool {
	t, err := strconv.ParseFloat(name, 64)
	return err == nil && t > 1e9 && t < 1e10 && strings.Trim(name, "0123456789.") == ""
}

// next returns what stands next in the file, as tfevents.Reader's Next does.
func (f *eventFile) next() (tfevents.Scalar, error) {
	if !f.read {
		f.histograms, f.given = f.histograms[:0], 0
		f.scalar, f.err = f.r.Next()
		f.read = true
	}
	if i := f.given; i < len(f.histograms)*len(quantiles) {
		f.given++
		h, k := &f.histograms[i/len(quantiles)], i%len(quantiles)
		return tfevents.Scalar{Tag: f.namesOf(h.Tag)[k], Step: h.Step, Wall: h.Wall, Value: h.Quantiles[k]}, nil
	}
	f.read = false
	return f.scalar, f.err
}

// namesOf returns the tags of a histogram's quantiles.
func (f *eventFile) namesOf(tag string) *[len(quantiles)]string {
	names := f.names[tag]
	if names == nil {
		names = new([len(quantiles)]string)
		for i, end := range quantiles {
			names[i] = tag + end
		}
		f.names[tag] = names
	}
	return names
}

// joinNext joins the next value of a file.
func (b *board) joinNext(f *eventFile) {
	key, s := f.prefix+f.value.Tag, f.value
	if f.summary && s.Step == 0 {
		if c := b.curves[key]; c == nil || c.raw != 0 { // several summaries are steps of their own
			s.Step = int64(max(0, b.current()))
		}
	}
	b.join(key, s)
}

// report says what the files say of the run. Once it has begun this waits until all that is there was read, so that no
// step is cut in two. PyTorch says with the hyperparameters already that a run succeeded: only a failure is an end.
func (b *board) report(all bool) {
	retained := b.sessions[:0]
	for _, s := range b.sessions {
		b.Info(logs.Info{Config: s.Hparams, Began: timeOf(s.Began)})
		switch {
		case s.Status != tfevents.Failure:
		case !all:
			retained = append(retained, s)
		default:
			if math.IsNaN(b.first) { // it failed before its first scalar
				b.rows.began = true
				b.startRun(s.Ended)
			}
			b.End(logs.Failed, "")
		}
	}
	b.sessions = retained
}
