// Package figure draws runs for papers and reports: their curves over epochs, seconds or gradient equivalents, as SVG,
// PNG or PDF.
//
// Panels stand one under the other over one x axis, with the legend and the names of switches above them and what the
// runs were below, so that nothing covers a curve. Runs differ in colour and in the shape of their markers, training
// rows from test rows in dashes, so that a figure can be read without colour.
package figure

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"newtop/internal/atomicfile"
	"newtop/trainer/event"
)

// Run is one run of a figure. Nothing in it is changed.
type Run struct {
	ID, Name string          // Name is what the legend says; empty: what tells the run apart from the others
	Opening  *event.RunEvent // may be nil
	Epochs   []event.EpochEvent
	Switches []event.SwitchEvent
	Diverged *event.DivergedEvent // nil for a run that did not
}

// MaxRuns is how many runs a figure shows at most: as many as colours and markers that can be distinguished.
const MaxRuns = 8

// Options say what a figure shows. The zero value shows losses over errors, by epoch.
type Options struct {
	What   []string // names of Quantities, one panel each, from the top, at most 6; empty: loss, and error or RMSE
	Rows   string   // "test", "train" or "both", of what is known of either; empty: both of up to three runs, else test
	X      string   // "epoch", "seconds" or "equivalents"; empty: epoch
	LogX   bool     // x logarithmic, without what is at zero
	Linear bool     // y linear; else logarithmic where that is usual for a quantity and all its values are above zero
	Smooth float64  // half-life in epochs of an exponential average, the raw curve pale beneath it; 0: none
	Width  float64  // cm, 6 to 60; 0: 16
	Height float64  // cm, 5 to 100; 0: by the number of panels
	Title  string   // empty: the data and the net
}

func (e *OptionError) Error() string {
	return e.Option + " " + strconv.Quote(e.Value) + ": expected " + e.Expected
}

// EmptyError says that the runs have nothing to draw of a quantity.
type EmptyError struct{ What string }

func (e *EmptyError) Error() string { return "nothing to draw: no run has a finite " + e.What }

// Write draws runs into a file, whose name ends in .svg, .png or .pdf. The same runs and options make the same bytes.
// It returns an *OptionError for what it does not know, and an *EmptyError where there is nothing to draw; the file
// appears whole or not at all. It panics without runs.
func Write(path string, runs []Run, o Options) error {
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	var picture bytes.Buffer
	if err := Draw(&picture, format, runs, o); err != nil {
		if bad, ok := errors.AsType[*OptionError](err); ok && bad.Option == optionFormat {
			return &OptionError{"figure file", path, "a name that ends in ." + strings.Join(formats, ", .")}
		}
		return err
	}
	_, err := atomicfile.Write(path, func(w io.Writer) error {
		_, err := picture.WriteTo(w)
		return err
	})
	return err
}

// Draw is Write to any writer; format is "svg", "png" or "pdf".
func Draw(w io.Writer, format string, runs []Run, o Options) error {
	if len(runs) == 0 {
		panic("figure: no runs")
	}
	s, err := newReport(runs, o)
	if err != nil {
		return err
	}
	return s.write(w, format)
}
