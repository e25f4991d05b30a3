package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"newtop/trainer/event"
	"newtop/trainer/logs"
	"newtop/trainer/logs/csvlog"
	"newtop/trainer/logs/jsonlog"
	"newtop/trainer/logs/shape"
)

// expectedLog says what a file of lines may hold.
const expectedLog = `events or numbers, as {"step":1,"loss":0.5}, a CSV with a header, or text as "step 1 loss 0.5"`

// decoder makes events of the lines of a file or a pipe, whatever they are: newtop's own events, JSON objects, the rows
// of a CSV, or text that a program prints. Only a CSV is one from its first line to its last; the others may come
// mixed, as where a script prints JSON between its messages.
type decoder struct {
	stepAssembler
	json, csv logs.Parser
	text      *shape.Parser
	header    []byte // the first line, while the second has to show whether it is a header
	lines     int    // that were used, but for comments before the first
	own       bool   // there was one of newtop's events
}

func newDecoder(name string) *decoder {
	return &decoder{stepAssembler: newStepAssembler(name), json: jsonlog.New(), text: shape.New()}
}

// metrics reports whether there was an event or a row.
func (d *decoder) metrics() bool { return d.rows.any || d.own }

// line reads a line, without its end. It returns an error that says what is wrong with a line that should have been one
// of a log.
func (d *decoder) line(line []byte) error {
	if d.lines == 0 && line[0] == '#' { // a table may begin below it
		return d.other(line)
	}
	d.lines++
	if d.text.Claims(line) {
		return d.text.Line(line, d)
	}
	if d.csv != nil {
		return d.csv.Line(line, d)
	}
	if d.header != nil {
		header := d.header
		d.header = nil
		if csvlog.Sniff(bytes.Join([][]byte{header, line, nil}, []byte("\n"))) {
			d.csv = csvlog.New()
			return errors.Join(d.csv.Line(header, d), d.csv.Line(line, d))
		}
		return errors.Join(d.other(header), d.other(line))
	}
	if d.lines == 1 && !bytes.ContainsAny(line, "{\r") && bytes.ContainsAny(line, ",;\t") {
		d.header = bytes.Clone(line)
		return nil
	}
	return d.other(line)
}

// other reads a line of anything but a CSV.
func (d *decoder) other(line []byte) error {
	switch line[0] {
	case '{':
		if len(line) > 1 && line[1] == '\'' { // a dict of Python
			break
		}
		known, err := d.event(line)
		if known {
			return err
		}
		d.text.Flush(d) // what came before
		jsonErr := d.json.Line(line, d)
		if jsonErr == nil {
			return nil
		}
		// A dict whose line begins otherwise, or half a line.
		if shape.Dict(line) {
			return d.text.Line(line, d)
		}
		return cmp.Or(err, jsonErr)
	case '[':
		if line[len(line)-1] == ']' && json.Valid(line) {
			d.text.Flush(d)
			if d.json.Line(line, d) == nil {
				return nil
			}
		}
	}
	return d.text.Line(line, d)
}

// event reads one of newtop's own events. It reports whether the line is one, or means to be.
func (d *decoder) event(line []byte) (known bool, err error) {
	name := typeOf(line)
	if !event.IsType(name) {
		return name != "" && d.own, nil // what a later newtop writes
	}
	e, err := event.DecodeForeign(line)
	if err != nil {
		return true, fmt.Errorf("%w: expected an event", err)
	}
	d.flush()
	d.own = true
	switch e := e.(type) {
	case event.RunEvent:
		d.runs++
		d.rows.began = true
		d.name = cmp.Or(e.ID, d.name)
		d.rows.info.Name = cmp.Or(e.Data.Name, d.rows.info.Name)
		d.rows.info.Config, d.rows.info.Steps = e.Settings, float64(e.Epochs)
	case event.EpochEvent:
		d.noteEpoch(e.Epoch)
	}
	d.queue = append(d.queue, e)
	return true, nil
}

// typeOf returns the word behind the key "type" near the beginning of a line, empty if there is none.
func typeOf(line []byte) string {
	const near = 256
	_, after, ok := bytes.Cut(line[:min(len(line), near)], []byte(`"type"`))
	if !ok {
		return ""
	}
	after = bytes.TrimLeft(after, " :\t")
	if len(after) == 0 || after[0] != '"' {
		return ""
	}
	word, _, ok := bytes.Cut(after[1:], []byte(`"`))
	if !ok {
		return ""
	}
	return string(word)
}

// whole uses an object behind which there is no line end, if it is whole.
func (d *decoder) whole(line []byte) bool {
	if d.csv != nil || d.header != nil {
		return false
	}
	if known, err := d.event(line); known {
		return err == nil
	}
	return d.json.Line(line, d) == nil
}

// noteEpoch notes an epoch that the log told as an event, so that rows after it resume from there.
func (d *decoder) noteEpoch(epoch int) {
	if !d.rows.any {
		return
	}
	if epoch > d.lastStep() {
		d.steps = append(d.steps, epoch)
	}
}

// idle gives what was held back, as nothing more has come for now. It reports whether there is an event.
func (d *decoder) idle(settled bool) bool {
	d.json.Flush(d)
	d.text.Flush(d)
	if d.csv != nil {
		d.csv.Flush(d)
	}
	d.catchUp()
	if settled || d.complete() {
		d.flush()
	}
	return d.waiting() > 0
}

// end gives everything, as nothing more will come.
func (d *decoder) end() error {
	var err error
	if d.header != nil {
		header := d.header
		d.header = nil
		err = d.other(header)
	}
	d.idle(true)
	return err
}
