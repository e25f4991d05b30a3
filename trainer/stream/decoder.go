package stream

import (
	"bytes"
	"cmp"
	"fmt"

	"newtop/trainer/event"
	"newtop/trainer/logs/jsontext"
	"newtop/trainer/logs/shape"
)

// expectedLog says what a file of lines may hold.
const expectedLog = `events or numbers, as {"step":1,"loss":0.5}, a CSV with a header, or text as "step 1 loss 0.5"`

// decoder makes events of the lines of a file or a pipe, whatever they are: newtop's own events, or what a parser of
// lines reads. They may come mixed, as where a script prints JSON between its messages.
type decoder struct {
	stepAssembler
	text *shape.Parser
	own  bool // there was one of newtop's events
}

func newDecoder(name string) *decoder {
	return &decoder{stepAssembler: newStepAssembler(name), text: shape.New()}
}

// metrics reports whether there was an event or a row.
func (d *decoder) metrics() bool { return d.rows.any || d.own }

// line reads a line, without its end. It returns an error that says what is wrong with a line that should have been one
// of newtop's events.
func (d *decoder) line(line []byte) error {
	if line[0] == '{' && !d.text.Claims(line) {
		if known, err := d.event(line); known {
			return err
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
	d.text.Flush(d) // what came before
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
	if known, err := d.event(line); known {
		return err == nil
	}
	return jsontext.Whole(line) && d.text.Line(line, d) == nil
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
	d.text.Flush(d)
	d.catchUp()
	if settled || d.complete() {
		d.flush()
	}
	return d.waiting() > 0
}

// end gives everything, as nothing more will come.
func (d *decoder) end() { d.idle(true) }
