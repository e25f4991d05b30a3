// Package logs is what the readers of other programs' logs have in common: what they are given, what they give, and
// what the names of columns and keys mean. The readers are packages below this one, one for each kind of log.
//
// There are two kinds of readers. A Parser is given lines, and knows nothing of files: package stream follows the file
// or the pipe that they come from. A Reader reads what is not lines, as a database, a container or a directory, and
// remembers how far it has come; it opens files by package files alone, so that they may lie on another machine. Both
// give what they find to a Sink, in the order in which it was written.
package logs

import (
	"context"
	"errors"
	"math"
	"time"

	"newtop/trainer/logs/files"
)

// Value is a number with the name that the program gave it, as train/loss. V may be NaN or infinite: it was written so.
// What was left out has no Value.
type Value struct {
	Key string
	V   float64
}

// Row is what a program wrote at once. NaN says that it did not tell a coordinate. Whoever is given a row may keep its
// keys but not its Values, which the giver uses again.
type Row struct {
	Step    float64 // as the program counts its updates
	Epoch   float64 // may be a fraction
	Wall    float64 // when it was written, in seconds since 1970
	Elapsed float64 // seconds since the run began
	Part    string  // "train" or "val" where the row's keys do not say it but the writer did, else empty
	Values  []Value
}

// Clear makes the row one that reports nothing.
func (r *Row) Clear() {
	nan := math.NaN()
	r.Step, r.Epoch, r.Wall, r.Elapsed, r.Part, r.Values = nan, nan, nan, nan, "", r.Values[:0]
}

// Add appends a value.
func (r *Row) Add(key string, v float64) { r.Values = append(r.Values, Value{key, v}) }

// Image is an image that a log has, or what no screen shows, as audio.
type Image struct {
	Key  string
	Step int
	// Load reads its encoded bytes, on any goroutine; nil: it is no image.
	Load func() ([]byte, error)
	Kind string // what it is then: "audio", "video"
}

// Gallery is a Sink that also takes images.
type Gallery interface{ Image(i Image) }

// State is what became of a run.
type State uint8

// The states.
const (
	Unknown State = iota // going on, as far as the log says
	Finished
	Failed
	Stopped // by its user
)

// Info is what a log says of its run. A Sink is given it as often as there is something new; zero fields say nothing.
type Info struct {
	Name    string         // of the run
	Began   time.Time      //
	Config  map[string]any // hyperparameters: numbers, strings, booleans
	Steps   float64        // how many there will be, on the axis of Row.Step, or of Row.Epoch where that is reported
	Program string         // that wrote it, as "W&B" or "Keras"
	// Axes are what metrics are counted by that are not counted by the run's steps, by their keys.
	Axes map[string]string
}

// Sink takes what a log holds.
type Sink interface {
	Row(r *Row)
	Info(i Info)
	// Line is a line that the program printed, cleaned of control characters; it may be no UTF-8. The giver uses its
	// bytes again.
	Line(text []byte)
	// End says what became of the run, with the writer's words, if any.
	End(s State, message string)
}

// Run is a run in a store of several.
type Run struct {
	ID, Name string
	Status   string    // in its writer's words, empty: unknown
	Began    time.Time // zero: unknown
	Written  time.Time // when something of it was last written, as far as that is known
}

// Nobody is a Sink of what nobody wants.
type Nobody struct{}

func (Nobody) Row(*Row)          {}
func (Nobody) Info(Info)         {}
func (Nobody) Line([]byte)       {}
func (Nobody) End(State, string) {}

// Parser reads lines. Its methods are called by one goroutine.
type Parser interface {
	// Line reads the next line, without its end, and gives its numbers to the sink. It keeps nothing of the line. It
	// returns an error, which says what was expected, for a line that is not of the log's kind; the caller counts them,
	// and tells the user if there is nothing else.
	Line(line []byte, to Sink) error
	// Flush gives what was held back for lines that belong to it, as there is nothing more for now.
	Flush(to Sink)
}

// Reader reads a log that is not lines. Its methods are called by one goroutine.
type Reader interface {
	// Read gives the sink what was written since the last call, some thousand rows at most, and reports whether there
	// is more already. It returns ErrRestart when all that it gave is void, and begins again then. Other errors are
	// final.
	Read(ctx context.Context, to Sink) (more bool, err error)
	// Watch lists files and directories whose changes say that there may be more.
	Watch() []files.Path
	// Progress is how much of what there is has been read, from 0 to 1; 0: unknown.
	Progress() float64
	// Warning says in a line what could not be read, or why nothing comes; empty if all is well.
	Warning() string
	Close() error
}

// ErrRestart says that what a reader gave is void, and that it begins again.
var ErrRestart = errors.New("the log begins anew")
