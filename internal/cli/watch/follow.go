package watch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"

	"newtop/internal/cli/print"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/stream"
)

// follow prints a source as it comes, until the run is over, nothing more can come, or the context ends. It closes
// the source.
func follow(ctx context.Context, messages io.Writer, source stream.Source, p *printer) (err error) {
	defer func() {
		err = cmp.Or(err, p.out.Flush())
		if warning := stream.Warning(source); warning != "" && err == nil {
			print.Warn(messages, warning)
		}
		err = cmp.Or(err, source.Close())
	}()
	over := false // the latest event is the run's last
	said := ""
	for {
		e, err := source.Next(ctx)
		switch {
		case err == nil:
			if err := p.print(e); err != nil {
				return err
			}
			if _, printed := e.(event.ConsoleEvent); !printed {
				_, over = e.(event.DoneEvent)
			}
		case errors.Is(err, stream.ErrNone):
			if over && !stream.Running(source) {
				return nil
			}
			if err := p.out.Flush(); err != nil {
				return err
			}
			if why := stream.Waiting(source); why != said {
				if said = why; said != "" {
					print.Warn(messages, said)
				}
			}
			if why := stream.Stale(source); why != "" {
				fmt.Fprintln(messages, "newtop:", why)
				return nil
			}
			if err := source.Wait(ctx); err != nil {
				return err
			}
		case errors.Is(err, stream.ErrRestart):
			if err := p.restart(); err != nil {
				return err
			}
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// printer prints events, many at a time. What would be printed the same again after a source began again is passed
// over: a run that was resumed resumes from its checkpoint, and values that were written late change the epochs that
// they belong to.
type printer struct {
	name     string // of the format
	width    int    // of the terminal; 0: there is none
	format   trainer.Recorder
	text     bytes.Buffer // what the format made of an event
	notes    bytes.Buffer // the same, for messages
	out      *bufio.Writer
	messages io.Writer
	seed     maphash.Seed
	given    []uint64 // hashes of what was printed of each event
	same     int      // how many of them came again since the source began again
	latest   int      // the epoch that was printed last
	common   int      // the last epoch among those that came again
}

// noEpoch is no epoch's number.
const noEpoch = math.MinInt

func newPrinter(format string, out, messages io.Writer) (*printer, error) {
	p := &printer{name: format, width: print.Width(out), out: bufio.NewWriterSize(out, 1<<16), messages: messages,
		seed: maphash.MakeSeed(), latest: noEpoch}
	return p, p.restart()
}

// restart begins the format again: what it prints depends on what it has seen.
func (p *printer) restart() (err error) {
	p.same, p.common = 0, noEpoch
	p.format, err = print.NewRecorderOf(p.width, p.name, &p.text, &p.notes)
	return err
}

func (p *printer) print(e event.Event) error {
	if err := p.format.Record(e); err != nil {
		return err
	}
	epoch := noEpoch
	if e, ok := e.(event.EpochEvent); ok && p.text.Len() > 0 {
		epoch = e.Epoch
	}
	hash := maphash.Bytes(p.seed, p.text.Bytes()) ^ maphash.Bytes(p.seed, p.notes.Bytes())
	again := p.same < len(p.given)
	if again && p.given[p.same] == hash {
		p.text.Reset()
		p.notes.Reset()
	} else {
		if again {
			if err := p.goBack(epoch); err != nil {
				return err
			}
		}
		p.given = append(p.given, hash)
		if epoch != noEpoch {
			p.latest = epoch
		}
	}
	p.same++
	if epoch != noEpoch {
		p.common = epoch
	}
	return p.write()
}

// goBack says that what was printed after the last event that came again is void. The next one is of an epoch, or of
// none.
func (p *printer) goBack(next int) error {
	p.given = p.given[:p.same]
	if p.name == "jsonl" && p.common == noEpoch && p.same > 0 && next != noEpoch {
		p.common = next - 1
	}
	switch {
	case p.common == noEpoch || p.latest == noEpoch:
		return p.say("newtop: the run starts again")
	case p.common == p.latest:
		return nil
	case p.name == "jsonl":
		line, err := event.EncodeEvent(event.RewindEvent{Epoch: p.latest, To: p.common})
		if err != nil {
			return err
		}
		p.out.Write(append(line, '\n')) // an error stays until Flush
		return nil
	}
	return p.say(fmt.Sprintf("newtop: what follows replaces the epochs after %d", p.common))
}

func (p *printer) say(message string) error {
	if err := p.out.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.messages, message)
	return err
}

// write passes on what the format made of an event, messages after what was printed before them.
func (p *printer) write() error {
	if p.notes.Len() > 0 {
		if err := p.out.Flush(); err != nil {
			return err
		}
		if _, err := p.notes.WriteTo(p.messages); err != nil {
			return err
		}
	}
	_, err := p.text.WriteTo(p.out)
	return err
}
