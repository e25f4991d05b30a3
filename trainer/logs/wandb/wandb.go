// Package wandb reads the runs that W&B writes on the machine where it runs, run-ID.wandb, and those of SwanLab,
// run-ID.swanlab, which differ in their messages and share the file's layout (numbers little-endian):
//
//	file   4 bytes ident · uint16 magic · 1 byte version · chunks, in blocks of 32 KiB from the file's start
//	chunk  uint32 CRC-32 (IEEE) of type and data · uint16 length of data · 1 byte type · data
//
// A record is one chunk of type 1, or a first, middle ones and a last (2, 3, 4). Fewer than seven bytes that are left
// of a block are zeros. A record is a protocol buffer; records.go and swanlab.go list the fields that are read.
//
// Both programs keep what they write in memory, W&B until a block is full: a run that continues comes in jumps.
package wandb

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

var (
	wandb   = &format{program: "W&B", ident: ":W&B", magic: 0xbee1, version: 0}
	swanlab = &format{program: "SwanLab", ident: ":SWL", magic: 0xe1d6, version: 2}
	formats = []*format{wandb, swanlab}
)

const (
	batch     = 4096    // records read at once
	maxLabels = 1 << 16 // whose names are kept
	maxConfig = 4096    // hyperparameters that are kept
)

// reader reads one run.
type reader struct {
	path files.Path
	f    files.File
	c    container
	size int64 // of the file, when it was last looked at
	to   logs.Sink

	info   logs.Info // but the hyperparameters
	config map[string]any
	news   bool // whether info or config have changed since the sink was given them
	// labels of the summary that no row has
	inSummary map[string]bool

	row    logs.Row
	key    []byte            // of the item that is being read
	labels map[string]string // those seen, so that each is kept once
	rows   int

	ended   bool // whether the file says how the run ended, and how
	state   logs.State
	message string
	over    bool // whether the sink was reported
	rowState
	scalars

	pieces [2]console // of stderr and stdout
	output *output    // files/output.log, if the lines come from there
	lines  bool       // whether lines came from the run's file
}

// Open opens a run's file of W&B or SwanLab, which may still be empty. The error is one line, which names the file and
// says what was expected.
func Open(path files.Path) (logs.Reader, error) {
	r := &reader{path: path}
	if err := r.open(); err != nil {
		return nil, err
	}
	if err := r.c.readHeader(); err != nil && err != io.EOF {
		r.Close()
		return nil, err
	}
	return r, nil
}

// open opens the file and forgets what was read.
func (r *reader) open() error {
	f, err := r.path.Open()
	if err != nil {
		return err
	}
	r.Close()
	*r = reader{path: r.path, f: f, c: container{f: f, name: r.path.Name}, config: make(map[string]any),
		labels: make(map[string]string)}
	return nil
}

// Sniff reports whether a file that begins so is one of a run.
func Sniff(head []byte) bool {
	return slices.ContainsFunc(formats, func(f *format) bool { return strings.HasPrefix(string(head), f.ident) })
}

func (r *reader) Read(ctx context.Context, to logs.Sink) (more bool, err error) {
	if info, err := r.path.Stat(); err == nil {
		own, err := r.f.Stat()
		if err != nil {
			return false, err
		}
		if r.size = info.Size(); r.size < r.c.at || !r.path.In.Same(info, own) {
			if err := r.open(); err != nil {
				return false, err
			}
			return false, logs.ErrRestart
		}
	}
	r.to = to
	for n := range batch {
		if n%256 == 0 && ctx.Err() != nil {
			return true, ctx.Err()
		}
		record, err := r.c.next()
		if err == io.EOF {
			flushScalars(r)
			r.reportInfo()
			if r.follow() {
				return true, nil
			}
			r.close()
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if r.decode(record) != nil {
			r.c.bad++
		}
	}
	return true, nil
}

func (r *reader) decode(record []byte) error {
	if r.c.format == swanlab {
		return readSwanLab(r, record)
	}
	return r.wandb(record)
}

// reportInfo gives the sink what is new of the run.
func (r *reader) reportInfo() {
	if !r.news {
		return
	}
	r.news = false
	r.info.Program = r.c.format.program
	info := r.info
	if len(r.config) > 0 {
		info.Config = maps.Clone(r.config)
	}
	info.Axes = maps.Clone(r.info.Axes)
	r.to.Info(info)
}

// give gives the row, if there is something in it.
func (r *reader) give() {
	if len(r.row.Values) == 0 {
		return
	}
	r.reportInfo()
	r.to.Row(&r.row)
	r.rows++
}

// close tells the sink how the run ended, once what W&B writes after that has been read, as a last look at the machine.
func (r *reader) close() {
	if r.ended && !r.over {
		r.over = true
		r.to.End(r.state, r.message)
	}
}

func (r *reader) began(timestamp []byte) error {
	s, err := since1970(timestamp)
	if err == nil && s > 0 && s < 1e11 {
		r.info.Began = time.Unix(0, int64(s*1e9))
	}
	return err
}

// line gives what the run's file tells of the console, unless it comes from files/output.log.
func (r *reader) line(text string) {
	if r.output == nil {
		r.lines = true
		r.to.Line([]byte(text))
	}
}

// follow gives lines of files/output.log, where W&B writes what the program prints at once: the run's file has it as
// well, but later. It reports whether there is more.
func (r *reader) follow() bool {
	if r.lines {
		return false
	}
	if r.output == nil {
		f, err := r.outputPath().Open()
		if err != nil {
			return false
		}
		if info, err := f.Stat(); err != nil || info.Size() == 0 {
			f.Close()
			return false
		}
		r.output = &output{f: f}
	}
	return r.output.read(func(text string) { r.to.Line([]byte(text)) })
}

func (r *reader) outputPath() files.Path { return r.path.Dir().Join("files", "output.log") }

func (r *reader) Watch() []files.Path {
	paths := []files.Path{r.path}
	if r.lines {
		return paths
	}
	for _, path := range []files.Path{r.outputPath().Dir(), r.outputPath()} {
		if path.Exists() {
			paths = append(paths, path)
		}
	}
	return paths
}

func (r *reader) Progress() float64 {
	if r.size == 0 {
		return 0
	}
	return min(1, float64(r.c.at)/float64(r.size))
}

func (r *reader) Warning() string {
	if w := r.c.fault(); w != "" {
		return w
	}
	if r.rows > 0 || r.ended {
		return ""
	}
	if r.c.format == swanlab {
		return "SwanLab writes in blocks: the first numbers may take some minutes"
	}
	return "W&B writes in blocks of 32 kB: the first numbers may take some minutes"
}

func (r *reader) Close() error {
	if r.output != nil {
		r.output.f.Close()
	}
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}
