package stream

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs"
	"newtop/trainer/logs/jsonlog"
	"newtop/trainer/logs/jsontext"
	"newtop/trainer/logs/shape"
)

// expectedLog says what a file of lines may hold.
const expectedLog = `events or numbers, as {"step":1,"loss":0.5}, a CSV with a header, or text as "step 1 loss 0.5"`

// decoder makes events of the lines of a file or a pipe, whatever they are: newtop's own events, or what a parser of
// lines reads. They may come mixed, as where a script prints JSON between its messages.
type decoder struct {
	stepAssembler
	text  *shape.Parser
	own   bool   // there was one of newtop's events
	whole *whole // lines that may be one JSON document; nil: they are none

	written time.Time // when the line was written that is decoded

	// A program may print what it writes to its log. Its steps there and here do not follow each other, so that each
	// has its parser, and of what both tell from a step of the log on the log's count.
	log    *shape.Parser
	logged bool                // whether a line of the log is read
	told   map[partKey]float64 // by the log, and from which step on
}

func newDecoder(name string) *decoder {
	return &decoder{stepAssembler: newStepAssembler(name), text: shape.New(), whole: &whole{}}
}

// parser is that of the lines that are read.
func (d *decoder) parser() *shape.Parser {
	if !d.logged {
		return d.text
	}
	if d.log == nil {
		d.log, d.told = shape.New(), map[partKey]float64{}
	}
	return d.log
}

// settle has the log's parser give what it holds back.
func (d *decoder) settle() {
	if d.log != nil {
		d.logged = true
		d.log.Flush(d)
		d.logged = false
	}
}

// Row passes a row on, of one that is printed what the log does not tell.
func (d *decoder) Row(r *logs.Row) {
	if d.logged {
		for i := range r.Values {
			d.tell(partKey{r.Part, r.Values[i].Key}, r.Step)
		}
	} else if n := len(r.Values); n > 0 && len(d.told) > 0 {
		r.Values = slices.DeleteFunc(r.Values, func(v logs.Value) bool {
			from, told := d.told[partKey{r.Part, v.Key}]
			return told && !(r.Step < from)
		})
		if len(r.Values) == 0 {
			return
		}
	}
	d.stepAssembler.Row(r)
}

// tell notes that the log tells a value.
func (d *decoder) tell(of partKey, step float64) {
	if _, told := d.told[of]; !told {
		d.told[of] = step
	}
}

// metrics reports whether there was an event or a row.
func (d *decoder) metrics() bool { return d.rows.any || d.own }

// line reads a line, without its end. It returns an error that says what is wrong with a line that should have been one
// of newtop's events.
func (d *decoder) line(line []byte) error {
	if d.whole != nil && !d.logged {
		if event := len(d.whole.text) == 0 && event.IsType(typeOf(line)); !event && d.whole.add(line) {
			return nil
		}
		return errors.Join(d.release(), d.line(line))
	}
	if line[0] == '{' && !d.parser().Claims(line) {
		if known, err := d.event(line); known {
			return err
		}
	}
	return d.parser().Line(line, d)
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
	d.parser().Flush(d) // what came before
	d.flush()
	d.own = true
	switch e := e.(type) {
	case event.RunEvent:
		d.runs++
		d.rows.began = true
		d.name = cmp.Or(e.ID, d.name)
		d.rows.info.Name = cmp.Or(e.Data.Name, d.rows.info.Name)
		d.rows.info.Config, d.rows.info.Steps, d.rows.info.Began = e.Settings, float64(e.Epochs), e.Time
	case event.EpochEvent:
		d.noteEpoch(e.Epoch)
		for of := range event.QuantityCount {
			if v := *of.Of(&e); d.logged && !v.Absent() {
				d.tell(partKey{key: of.Info().Key}, float64(e.Epoch))
			}
		}
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

// whole is the text of lines that are the beginning of a JSON document, as a pipe brings it.
type whole struct {
	text    []byte
	checked int // how much of it is known to be the beginning of one
	closed  bool
}

// add holds a line back, and reports whether it goes on with a document.
func (w *whole) add(line []byte) bool {
	const most = 64 << 20
	n := len(w.text)
	if w.closed || n > most || n == 0 && line[0] != '{' && line[0] != '[' {
		return false
	}
	w.text = append(append(w.text, line...), '\n')
	const short = 1 << 16
	if c := line[0]; len(w.text) < 2*w.checked && c != '}' && c != ']' && n > short {
		return true
	}
	s := jsontext.New(w.text)
	w.closed = s.Skip(0) && s.End()
	w.checked = len(w.text)
	if n == 0 && w.closed && shape.Look(w.text[:len(line)]) != shape.Document || !w.closed && !s.Torn() {
		w.text = w.text[:n]
		return false
	}
	return true
}

// release reads what was held back, as a document if it is one, else line by line.
func (d *decoder) release() (err error) {
	w := d.whole
	d.whole = nil
	if w == nil || len(w.text) == 0 || w.closed && jsonlog.Rows(w.text, d) {
		return nil
	}
	for line := range bytes.Lines(w.text) {
		err = errors.Join(err, d.line(line[:len(line)-1]))
	}
	return err
}

// unended uses an object behind which there is no line end, if it is whole.
func (d *decoder) unended(line []byte) bool {
	if d.whole != nil && len(d.whole.text) > 0 { // what is held back comes first
		return false
	}
	if known, err := d.event(line); known {
		return err == nil
	}
	return jsontext.Whole(line) && d.line(line) == nil
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
	if w := d.whole; w != nil && w.closed && settled {
		d.release()
	}
	if settled { // a box may be under way, and the first lines say together how a log is read
		d.text.Flush(d)
		d.settle()
	}
	d.catchUp()
	if settled || d.complete() {
		d.flush()
	}
	return d.waiting() > 0
}

// end gives everything, as nothing more will come.
func (d *decoder) end() {
	d.release()
	d.idle(true)
}
