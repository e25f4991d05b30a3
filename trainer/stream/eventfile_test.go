package stream

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/trainer/event"
)

func pbMessage(n protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), slices.Concat(parts...))
}

func pbDouble(n protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), math.Float64bits(v))
}

func pbInt(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

func pbDoubles(n protowire.Number, v ...float64) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return pbMessage(n, b)
}

// summary appends the record of an event with one Summary.Value.
func (w *eventWriter) summary(step uint64, wall float64, value ...[]byte) {
	w.t.Helper()
	sum := func(b []byte) uint32 {
		crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return (crc>>15 | crc<<17) + 0xa282ead8
	}
	data := slices.Concat(pbDouble(1, wall), pbInt(2, step), pbMessage(5, pbMessage(1, value...)))
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	out = binary.LittleEndian.AppendUint32(out, sum(out))
	out = binary.LittleEndian.AppendUint32(append(out, data...), sum(data))
	if _, err := w.f.Write(out); err != nil {
		w.t.Fatal(err)
	}
}

// histogram appends one of 20 values from 0 to 10 and 20 from 10 to 30, as PyTorch writes it.
func (w *eventWriter) histogram(tag string, step uint64, wall float64) {
	histo := slices.Concat(pbDouble(1, 0), pbDouble(2, 30), pbDouble(3, 40), pbDoubles(6, 0, 10, 30), pbDoubles(7, 0, 20, 20))
	w.summary(step, wall, pbMessage(1, []byte(tag)), pbMessage(5, histo))
}

// hparams appends what is the content of the plugin hparams: of a beginning (3) or an end (4).
func (w *eventWriter) hparams(field protowire.Number, content ...[]byte) {
	plugin := pbMessage(1, pbMessage(1, []byte("hparams")), pbMessage(2, pbMessage(field, content...)))
	w.summary(0, 1e9, pbMessage(1, []byte("_hparams_/session")), pbMessage(9, plugin))
}

func pbHparam(key string, value []byte) []byte {
	return pbMessage(1, pbMessage(1, []byte(key)), pbMessage(2, value))
}

func TestQuantilesOfHistograms(t *testing.T) {
	dir := t.TempDir()
	w := newEventWriter(t, filepath.Join(dir, fileName), 1e9)
	for i := range uint64(2) {
		at := 1e9 + float64(i)
		w.put("Loss/train", int64(i), at, 2)
		w.histogram("fc.weight", i, at)
		w.put("Loss/test", int64(i), at, 3)
	}
	w.histogram("fc.weight", 2, 1e9+2) // behind which there is no scalar
	w.old()
	events, err := all(t, openBoard(t, dir))
	figures := " [fc.weight/min=0] [fc.weight/p5=1] [fc.weight/p25=5] [fc.weight/p50=10] [fc.weight/p75=20] [fc.weight/p95=28] [fc.weight/max=30]"
	want := "run " + filepath.Base(dir) + "; 0 loss=2 test=3" + figures + " @0; 1 loss=2 test=3" + figures + " @1; 2" + figures + " @2"
	if got := text(events); err != ErrNone || got != want {
		t.Errorf("%v: %s\nexpected %s", err, got, want)
	}
}

func TestTooManyHistogramsLeaveRoomForScalars(t *testing.T) {
	dir := t.TempDir()
	w := newEventWriter(t, filepath.Join(dir, fileName), 1e9)
	for i := range 200 {
		w.histogram(string(rune('a'+i/26))+string(rune('a'+i%26)), 0, 1e9)
	}
	w.put("Loss/train", 0, 1e9, 2)
	w.old()
	s := openBoard(t, dir)
	events, _ := all(t, s)
	e, ok := events[len(events)-1].(event.EpochEvent)
	if !ok || e.Loss != 2 || len(e.Metrics) != maxHistograms*len(quantiles) {
		t.Errorf("read %d events, the last with %d figures and the loss %g", len(events), len(e.Metrics), e.Loss)
	}
	if s.(warner).Warning() == "" {
		t.Error("no warning")
	}
}

// PyTorch's add_hparams writes what a run came to without steps, into a directory that is named by the time.
func TestHyperparameters(t *testing.T) {
	dir := t.TempDir()
	w := newEventWriter(t, filepath.Join(dir, fileName), 1e9)
	for i := range int64(3) {
		w.put("Loss/test", i, 1e9+float64(i), float64(3-i))
	}
	w.old()
	sub := newEventWriter(t, filepath.Join(dir, "1000000003.25", fileName), 1e9+3)
	sub.hparams(3, pbHparam("lr", pbDouble(2, 0.125)), pbHparam("optimizer", pbMessage(3, []byte("sgd"))), pbHparam("nesterov", pbInt(4, 1)), pbDouble(5, 1e9))
	sub.hparams(4, pbInt(1, 1))
	sub.put("hparam/accuracy", 0, 1e9+3, 0.75)
	sub.put("Loss/test", 0, 1e9+3, 1)
	sub.old()
	events, err := all(t, openBoard(t, dir))
	if got, want := text(events), "run "+filepath.Base(dir)+"; 0 test=3 @0; 1 test=2 @1; 2 test=1 [hparam/accuracy=0.75] @3"; err != ErrNone || got != want {
		t.Errorf("%v: %s\nexpected %s", err, got, want)
	}
	settings := events[0].(event.RunEvent).Settings
	if want := (map[string]any{"lr": 0.125, "optimizer": "sgd", "nesterov": true}); !reflect.DeepEqual(settings, want) {
		t.Errorf("settings %v, expected %v", settings, want)
	}
}

func TestRunThatFailedByItsHyperparameters(t *testing.T) {
	for _, scalars := range []int64{0, 2} {
		dir := t.TempDir()
		w := newEventWriter(t, filepath.Join(dir, fileName), 1e9)
		w.hparams(3, pbHparam("lr", pbDouble(2, 1)))
		for i := range scalars {
			w.put("loss", i, 1e9+float64(i), 1)
		}
		w.hparams(4, pbInt(1, 2), pbDouble(2, 1e9+9))
		w.old()
		s := openBoard(t, dir)
		events, _ := all(t, s)
		done, ok := events[len(events)-1].(event.DoneEvent)
		if !ok || done.Reason != event.ReasonFailed || len(events) != int(scalars)+2 {
			t.Errorf("%d scalars: %v", scalars, events)
		}
	}
}
