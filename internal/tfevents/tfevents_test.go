package tfevents

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// Three records, put together from the format's description by a program of its own, which takes the CRC-32C bit by bit
// and was checked with the vectors of RFC 3720 B.4: the version at 1700000000.5 s; what PyTorch writes for
// Loss/train 0.25 at step 7; what Keras writes for epoch_loss 1.5 at step 300.
const (
	versionHex = "1800000000000000a37f4b220900002040fc54d9411a0d627261696e2e4576656e743a322b353110"
	pytorchHex = "200000000000000029eda9500900002040fc54d94110072a130a110a0a4c6f73732f747261696e150000803e256f87bf"
	kerasHex   = "3700000000000000e7e8ca590900002040fc54d94110ac022a290a270a0a65706f63685f6c6f7373420a0801120022040000c03f" +
		"4a0d0a0b0a077363616c6172731200a340d901"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readAll(t *testing.T, r *Reader) []Scalar {
	t.Helper()
	var out []Scalar
	for {
		s, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
}

func TestReadsTheFormat(t *testing.T) {
	got := readAll(t, NewReader(bytes.NewReader(unhex(t, versionHex+pytorchHex+kerasHex)), "x"))
	want := []Scalar{{"Loss/train", 7, 1700000000.5, 0.25}, {"epoch_loss", 300, 1700000000.5, 1.5}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("read %v: expected %v", got, want)
	}
}

func TestWritesTheFormat(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, 1700000000.5)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Scalar{"Loss/train", 7, 1700000000.5, 0.25}); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(out.Bytes()); got != versionHex+pytorchHex {
		t.Errorf("wrote %s: expected %s", got, versionHex+pytorchHex)
	}
}

// record frames data as a writer does that is trusted by TestWritesTheFormat.
func record(data []byte) []byte {
	var out bytes.Buffer
	(&Writer{&out}).record(data)
	return out.Bytes()
}

func message(number protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slicesOf(parts...))
}

// tensorRecord is an event of one tensor, with the name of a plugin.
func tensorRecord(tag, plugin string, tensor []byte) []byte {
	value := append(message(1, []byte(tag)), message(8, tensor)...)
	if plugin != "" {
		value = append(value, message(9, message(1, message(1, []byte(plugin))))...)
	}
	return record(message(5, message(1, value)))
}

func TestTensors(t *testing.T) {
	content := func(dtype byte, b ...byte) []byte { return append([]byte{8, dtype, 0x12, 0}, message(4, b)...) }
	list := func(dtype byte, number protowire.Number, b ...byte) []byte {
		return append([]byte{8, dtype}, message(number, b)...)
	}
	dim := func(n byte, tensor []byte) []byte { return append(message(2, message(2, []byte{8, n})), tensor...) }
	float := []byte{0, 0, 0xc0, 0x3f}
	for _, c := range []struct {
		name   string
		tensor []byte
		want   float64 // NaN: no scalar
	}{
		{"float content", content(dtFloat, float...), 1.5},
		{"double content", content(dtDouble, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f), 1.5},
		{"int32 content", content(dtInt32, 0xfe, 0xff, 0xff, 0xff), -2},
		{"int64 content", content(dtInt64, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), -2},
		{"half content", content(dtHalf, 0x00, 0x3e), 1.5},
		{"half, the least", content(dtHalf, 0x01, 0x80), -math.Ldexp(1, -24)},
		{"half, infinite", content(dtHalf, 0x00, 0xfc), math.Inf(-1)},
		{"bfloat16 content", content(dtBfloat16, 0xc0, 0x3f), 1.5},
		{"float list", list(dtFloat, 5, float...), 1.5},
		{"float not packed", append([]byte{8, dtFloat, 5<<3 | 5}, float...), 1.5},
		{"double list", list(dtDouble, 6, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f), 1.5},
		{"int64 list", list(dtInt64, 10, 0x7f), 127},
		{"half list", list(dtHalf, 13, 0x80, 0x7c), 1.5},
		{"zeros left out", []byte{8, dtFloat}, 0},
		{"one element in two dimensions", dim(1, dim(1, list(dtFloat, 5, float...))), 1.5},
		{"a vector", dim(2, list(dtFloat, 5, append(float, float...)...)), math.NaN()},
		{"a string", list(7, 8, 'x'), math.NaN()},
	} {
		got := readAll(t, NewReader(bytes.NewReader(tensorRecord("a", "scalars", c.tensor)), "x"))
		switch {
		case math.IsNaN(c.want) && len(got) != 0, !math.IsNaN(c.want) && (len(got) != 1 || got[0].Value != c.want):
			t.Errorf("%s: read %v, expected %v", c.name, got, c.want)
		}
	}
}

// Hyperparameters, for one, are written as a tensor of one element, and only a tag's first record need say so.
func TestOtherPluginsArePassedOver(t *testing.T) {
	one := []byte{8, dtFloat}
	file := slicesOf(tensorRecord("_hparams_/info", "hparams", one), tensorRecord("_hparams_/info", "", one), tensorRecord("b", "", one))
	if got := readAll(t, NewReader(bytes.NewReader(file), "x")); len(got) != 1 || got[0].Tag != "b" {
		t.Errorf("read %v: expected b alone", got)
	}
}

func slicesOf(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// growing gives what is there, and io.EOF until there is more.
type growing struct{ data []byte }

func (g *growing) Read(b []byte) (int, error) {
	if len(g.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b, g.data)
	g.data = g.data[n:]
	return n, nil
}

func TestFileThatGrowsByteByByte(t *testing.T) {
	file := unhex(t, versionHex+pytorchHex+kerasHex)
	g := &growing{}
	r := NewReader(g, "x")
	var got []Scalar
	for _, c := range file {
		g.data = append(g.data, c)
		got = append(got, readAll(t, r)...)
	}
	if len(got) != 2 || r.Offset() != int64(len(file)) {
		t.Errorf("read %v up to byte %d of %d", got, r.Offset(), len(file))
	}
}

func TestLongRecordsArePassedOver(t *testing.T) {
	long := record(make([]byte, maxParsed+1)) // which would be no event
	file := slicesOf(long, unhex(t, pytorchHex))
	if got := readAll(t, NewReader(bytes.NewReader(file), "x")); len(got) != 1 || got[0].Step != 7 {
		t.Errorf("read %v after a long record", got)
	}
	file[headerSize+5] ^= 1
	_, err := NewReader(bytes.NewReader(file), "x").Next()
	var bad *FormatError
	if !errors.As(err, &bad) || bad.Offset != 0 {
		t.Errorf("a long record with a wrong CRC gave %v", err)
	}
}

func TestBadFiles(t *testing.T) {
	version, good := unhex(t, versionHex), unhex(t, pytorchHex)
	changed := func(at int) []byte {
		b := bytes.Clone(slicesOf(version, good))
		b[at] ^= 0x10
		return b
	}
	absurd := binary.LittleEndian.AppendUint64(nil, 1<<40)
	absurd = binary.LittleEndian.AppendUint32(absurd, checksum(absurd))
	for _, c := range []struct {
		name string
		file []byte
		want string // part of the error
	}{
		{"another format", []byte("this is no event file"), "f: byte 0: 74 68 69 73 20 69 73 20 6e 6f 20 65: expected a TensorBoard event file"},
		{"length", changed(len(version)), "f: byte 40: "},
		{"CRC of the length", changed(len(version) + 9), "f: byte 40: "},
		{"data", changed(len(version) + 20), "f: byte 40: a record with the CRC bf876f25: expected "},
		{"CRC of the data", changed(len(version) + len(good) - 1), "the CRC of its data"},
		{"absurd length", slicesOf(version, absurd), "f: byte 40: a record of 1099511627776 bytes: expected at most 2147483647"},
		{"no protocol buffer", slicesOf(version, record([]byte{0xff})), "f: byte 40: a record that is no event"},
		{"number in too few bytes", tensorRecord("a", "", append([]byte{8, dtFloat}, message(4, []byte{1})...)), "a number of type 1 in 1 bytes"},
	} {
		r := NewReader(bytes.NewReader(c.file), "f")
		var err error
		for err == nil {
			_, err = r.Next()
		}
		var bad *FormatError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v: expected %q", c.name, err, c.want)
		}
		if _, again := r.Next(); again != err {
			t.Errorf("%s: a second call gave %v", c.name, again)
		}
	}
}

// A length that is not there must not be allocated.
func TestLengthsAreNotBelieved(t *testing.T) {
	head := binary.LittleEndian.AppendUint64(nil, maxParsed)
	head = binary.LittleEndian.AppendUint32(head, checksum(head))
	r := NewReader(bytes.NewReader(head), "x")
	if _, err := r.Next(); err != io.EOF {
		t.Fatalf("half a record gave %v: expected io.EOF", err)
	}
	if cap(r.buf) > 4*readSize {
		t.Errorf("%d bytes were taken for a file of %d", cap(r.buf), len(head))
	}
}

func FuzzReader(f *testing.F) {
	whole := unhex(f, versionHex+pytorchHex+kerasHex)
	f.Add(whole, 7)
	f.Add(whole[:90], 1)
	f.Add(tensorRecord("a", "scalars", []byte{8, dtFloat}), 3)
	f.Add([]byte("no event file"), 100)
	f.Add(histogramRecord(5, histo(-2, 2, []float64{-2, 0, 2}, []float64{0, 1, 3}), ""), 9)
	f.Add(histogramRecord(8, rows(-2, 0, 1, 0, 2, 3), "histograms"), 9)
	f.Add(hparamsRecord(message(3, message(1, message(1, []byte("lr")), message(2, double(2, 0.1))))), 9)
	f.Fuzz(func(t *testing.T, file []byte, step int) {
		all, err := drain(NewReader(bytes.NewReader(file), "x"))
		// However the file grows, the same is read.
		g := &growing{}
		r := NewReader(g, "x")
		var parts []Scalar
		var partErr error
		step = max(1, step&1023)
		for rest := file; len(rest) > 0; rest = rest[min(step, len(rest)):] {
			g.data = append(g.data, rest[:min(step, len(rest))]...)
			got, err := drain(r)
			parts, partErr = append(parts, got...), err
		}
		if len(parts) != len(all) || (err == io.EOF) != (partErr == io.EOF || len(file) == 0) {
			t.Fatalf("at once %d scalars and %v, in parts of %d %d and %v", len(all), err, step, len(parts), partErr)
		}
		if cap(r.buf) > len(file)+4*readSize {
			t.Fatalf("%d bytes were taken for a file of %d", cap(r.buf), len(file))
		}
		// As the protocol buffer of one event, so that the fuzzer need not find CRCs.
		one := NewReader(bytes.NewReader(record(file)), "x")
		one.Session = func(Session) {}
		one.Histogram = func(h Histogram) {
			if !(h.Count > 0) {
				t.Fatalf("a histogram of %g values", h.Count)
			}
		}
		drain(one)
	})
}

func drain(r *Reader) (out []Scalar, err error) {
	for {
		s, err := r.Next()
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("Loss/train", int64(7), 1.5, 0.25)
	f.Add("", int64(-1), math.Inf(1), math.NaN())
	f.Fuzz(func(t *testing.T, tag string, step int64, wall, value float64) {
		var file bytes.Buffer
		w, err := NewWriter(&file, wall)
		if err != nil {
			t.Fatal(err)
		}
		in := []Scalar{{tag, step, wall, value}, {tag + "x", step, wall, 1}, {tag, step + 1, wall, -value}}
		if err := w.Write(in...); err != nil {
			t.Fatal(err)
		}
		out, err := drain(NewReader(&file, "x"))
		if err != io.EOF || len(out) != len(in) {
			t.Fatalf("read %v (%v): expected %v", out, err, in)
		}
		for i, s := range out {
			same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
			if s.Tag != in[i].Tag || s.Step != in[i].Step || !same(s.Wall, in[i].Wall) || !same(s.Value, float64(float32(in[i].Value))) {
				t.Fatalf("%v came back as %v", in[i], s)
			}
		}
	})
}
