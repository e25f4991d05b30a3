package tfevents

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func double(n protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), math.Float64bits(v))
}

func doubles(v ...float64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// histo is a HistogramProto.
func histo(least, greatest float64, limits, counts []float64) []byte {
	return slicesOf(double(1, least), double(2, greatest), double(3, 4), message(6, doubles(limits...)), message(7, doubles(counts...)))
}

// rows is a tensor of left and right edges and counts.
func rows(v ...float64) []byte {
	shape := message(2, message(2, []byte{8, byte(len(v) / 3)}), message(2, []byte{8, 3}))
	return slicesOf([]byte{8, dtDouble}, shape, message(4, doubles(v...)))
}

// histogramRecord is an event at 100.5 s and step 7, whose summary comes first.
func histogramRecord(field protowire.Number, data []byte, plugin string) []byte {
	value := slicesOf(message(1, []byte("w")), message(field, data))
	if plugin != "" {
		value = append(value, message(9, message(1, message(1, []byte(plugin))))...)
	}
	return record(slicesOf(message(5, message(1, value)), []byte{2 << 3, 7}, double(1, 100.5)))
}

func hparamsRecord(content []byte) []byte {
	metadata := message(9, message(1, message(1, []byte("hparams")), message(2, content)))
	return record(message(5, message(1, message(1, []byte("_hparams_/session_start_info")), metadata)))
}

func TestHistograms(t *testing.T) {
	huge := math.MaxFloat64
	unpacked := slicesOf(double(1, 1), double(2, 3), double(6, 2), double(6, 3), double(7, 2), double(7, 2))
	for _, c := range []struct {
		name   string
		record []byte
		want   []float64 // the quantiles; nil: no histogram
	}{
		// 20 values from 0 to 10 and 20 from 10 to 30: 5 % are two values, up to 1; 95 % are 38, up to 28.
		{"PyTorch, with its empty first bucket", histogramRecord(5, histo(0, 30, []float64{0, 10, 30}, []float64{0, 20, 20}), ""), []float64{0, 1, 5, 10, 20, 28, 30}},
		{"edges of all numbers", histogramRecord(5, histo(-4, 4, []float64{-1, 0, 1, huge}, []float64{3, 5, 5, 3}), ""), []float64{-4, -3.2, -0.8, 0, 0.8, 3.2, 4}},
		{"empty outer buckets", histogramRecord(5, histo(-1, 1, []float64{-huge, -1, 0, 1, huge}, []float64{0, 0, 10, 10, 0}), ""), []float64{-1, -0.9, -0.5, 0, 0.5, 0.9, 1}},
		{"not packed", histogramRecord(5, unpacked, ""), []float64{1, 1.1, 1.5, 2, 2.5, 2.9, 3}},
		{"Keras", histogramRecord(8, rows(-5, -4, 0, -2, 0, 10, 0, 2, 10, 2, 3, 0), "histograms"), []float64{-2, -1.8, -1, 0, 1, 1.8, 2}},
		{"all values equal", histogramRecord(8, rows(3, 3, 12), "histograms"), []float64{3, 3, 3, 3, 3, 3, 3}},
		{"no values", histogramRecord(8, rows(0, 0, 0), "histograms"), nil},
		{"an infinite edge", histogramRecord(8, rows(0, 2, 20, 2, math.Inf(1), 2), "histograms"), []float64{0, 0.11, 0.55, 1.1, 1.65, math.Inf(1), math.Inf(1)}},
		{"counts missing", histogramRecord(5, histo(0, 1, []float64{0, 1}, []float64{1}), ""), nil},
		{"no rows of three", histogramRecord(8, rows(1, 2, 3, 4), "histograms"), nil},
		{"another plugin", histogramRecord(8, rows(1, 2, 3), "pr_curves"), nil},
	} {
		var got []Histogram
		r := NewReader(bytes.NewReader(slicesOf(c.record, unhex(t, pytorchHex))), "x")
		r.Histogram = func(h Histogram) { got = append(got, h) }
		if s := readAll(t, r); len(s) != 1 || s[0].Tag != "Loss/train" {
			t.Errorf("%s: scalars %v", c.name, s)
		}
		if c.want == nil {
			if len(got) > 0 {
				t.Errorf("%s: read %v", c.name, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Tag != "w" || got[0].Step != 7 || got[0].Wall != 100.5 {
			t.Errorf("%s: read %v", c.name, got)
			continue
		}
		for i, q := range got[0].Quantiles {
			if q != c.want[i] && !(math.Abs(q-c.want[i]) < 1e-12) {
				t.Errorf("%s: quantiles %v, expected %v", c.name, got[0].Quantiles, c.want)
				break
			}
		}
	}
}

// Only the first record of a tag needs to name its plugin, and a reader that wants no histograms passes them over.
func TestHistogramsOfOneTag(t *testing.T) {
	file := slicesOf(histogramRecord(8, rows(0, 1, 1), "histograms"), histogramRecord(8, rows(0, 1, 2), ""))
	n := 0.0
	r := NewReader(bytes.NewReader(file), "x")
	r.Histogram = func(h Histogram) { n += h.Count }
	if s := readAll(t, r); len(s) != 0 || n != 3 {
		t.Errorf("%g values and scalars %v: expected 3 values", n, s)
	}
	if s := readAll(t, NewReader(bytes.NewReader(file), "x")); len(s) != 0 {
		t.Errorf("scalars %v", s)
	}
}

func TestHparams(t *testing.T) {
	hparam := func(key string, value []byte) []byte { return message(1, message(1, []byte(key)), message(2, value)) }
	start := message(3, hparam("lr", double(2, 0.1)), hparam("opt", message(3, []byte("sgd"))), hparam("nesterov", []byte{4 << 3, 1}),
		hparam("none", []byte{1 << 3, 0}), message(4, []byte("group")), double(5, 100.5))
	end := message(4, []byte{1 << 3, 2}, double(2, 200.5))
	file := slicesOf(hparamsRecord([]byte{1 << 3, 0}), hparamsRecord(start), hparamsRecord(end))
	var got []Session
	r := NewReader(bytes.NewReader(file), "x")
	r.Session = func(s Session) { got = append(got, s) }
	readAll(t, r)
	want := []Session{{Hparams: map[string]any{"lr": 0.1, "opt": "sgd", "nesterov": true}, Group: "group", Began: 100.5}, {Status: Failure, Ended: 200.5}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %v: expected %v", got, want)
	}
}

func TestLightningsPlaceholderIsHidden(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(Scalar{"hp_metric", 0, 1, -1}, Scalar{"hp_metric", 1, 1, 0.5}, Scalar{"loss", 1, 1, -1})
	if got := readAll(t, NewReader(&file, "x")); len(got) != 2 || got[0].Value != 0.5 || got[1].Tag != "loss" {
		t.Errorf("read %v", got)
	}
}
