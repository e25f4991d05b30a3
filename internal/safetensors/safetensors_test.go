package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// file puts a header and numbers together by hand.
func file(header string, buffer ...byte) []byte {
	text := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(text, header...), buffer...)
}

func TestEncodeWritesWhatTheFormatSays(t *testing.T) {
	f := &File{
		Metadata: map[string]string{"z": "ü<\"", "a": ""},
		Tensors: []Tensor{
			{Name: "b", Shape: []int{1, 2}, Data: []float64{1, -2}},
			{Name: "a", Shape: []int{1}, Ints: []int64{-1}},
			{Name: "c", Shape: []int{}, Data: []float64{0.5}},
			{Name: "d", Shape: []int{3, 0}},
		},
	}
	want := file(`{"__metadata__":{"a":"","z":"ü<\""},"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},`+
		`"b":{"dtype":"F64","shape":[1,2],"data_offsets":[8,24]},"c":{"dtype":"F64","shape":[],"data_offsets":[24,32]},`+
		`"d":{"dtype":"F64","shape":[3,0],"data_offsets":[32,32]}}       `,
		unhex("ffffffffffffffff 000000000000f03f 00000000000000c0 000000000000e03f")...)
	var got bytes.Buffer
	if err := Encode(&got, f); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%q\nexpected\n%q", got.Bytes(), want)
	}
	if len(f.Tensors) != 4 || f.Tensors[0].Name != "b" {
		t.Error("Encode changed its argument")
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func TestRoundTrip(t *testing.T) {
	long := make([]float64, 10_000)
	for i := range long {
		long[i] = math.Float64frombits(uint64(i) * 0x9e3779b97f4a7c15)
	}
	f := &File{
		Metadata: map[string]string{"": "empty", "__metadata__": "\u2028\n\x00"},
		Tensors: []Tensor{
			{Name: "", Shape: []int{}, Data: []float64{math.Inf(-1)}},
			{Name: "long", Shape: []int{100, 100}, Data: long},
			{Name: "none", Shape: []int{0}, Data: []float64{}},
			{Name: "whole", Shape: []int{2}, Ints: []int64{math.MinInt64, math.MaxInt64}},
		},
	}
	var text bytes.Buffer
	if err := Encode(&text, f); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(text.Bytes(), "f")
	if err != nil {
		t.Fatal(err)
	}
	if !same(f, got) {
		t.Errorf("got %v, expected %v", got, f)
	}
}

// same compares files to the bit.
func same(a, b *File) bool {
	bits := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	return maps.Equal(a.Metadata, b.Metadata) && slices.EqualFunc(a.Tensors, b.Tensors, func(x, y Tensor) bool {
		return x.Name == y.Name && slices.Equal(x.Shape, y.Shape) && slices.EqualFunc(x.Data, y.Data, bits) && slices.Equal(x.Ints, y.Ints)
	})
}

func TestDecodeReadsNarrowNumbers(t *testing.T) {
	// The numbers are those of IEEE 754: 1, −2, the least and the greatest finite one, infinity; NaN apart.
	header := `{"bf":{"dtype":"BF16","shape":[2],"data_offsets":[12,16]},"h":{"dtype":"F16","shape":[6],"data_offsets":[0,12]},` +
		`"s":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}}`
	f, err := Decode(file(header, unhex("003c 00c0 0100 ff7b 007c 007e 803f 00c0 0000c03f 01000000")...), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{1, -2, math.Ldexp(1, -24), 65504, math.Inf(1), math.NaN()}, {1, -2}, {1.5, math.SmallestNonzeroFloat32}}
	for i, name := range []string{"h", "bf", "s"} {
		if f.Tensors[i].Name != name || !slices.EqualFunc(f.Tensors[i].Data, want[i], func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("tensor %d is %v, expected %s %v", i, f.Tensors[i], name, want[i])
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"nothing", nil, `offset 0: found 0 bytes, expected 8 bytes with the header's length`},
		{"a huge header", huge, `offset 0: found a header of 18446744073709551615 bytes, expected at most 100000000 in a safetensors file`},
		{"a cut header", file("{}")[:9], `offset 0: found a header of 2 bytes, expected at most the 1 that follow`},
		{"no JSON", file("abc"), `offset 8: found no {, expected a safetensors header in JSON`},
		{"no text", file("{\xff}"), `offset 8: found bytes that are not UTF-8, expected a safetensors header in JSON`},
		{"an open object", file(`{"a"`), `offset 12: found JSON that is cut off, expected {`},
		{"two objects", file(`{}{}`), `offset 11: found text behind the header's }, expected spaces at most`},
		{"metadata twice", file(`{"__metadata__":{},"__metadata__":{}}`), `found a second "__metadata__", expected different names`},
		{"a key twice", file(`{"__metadata__":{"a":"","a":""}}`), `found a second "a", expected different names`},
		{"metadata of numbers", file(`{"__metadata__":{"a":1}}`), `offset 30: found "1", expected a text, as all metadata are`},
		{"another dtype", tensor(`"dtype":"C64","shape":[],"data_offsets":[0,8]`, 8), `found dtype "C64", expected F64, F32, F16, BF16 or I64`},
		{"no shape", tensor(`"dtype":"F64","data_offsets":[0,8]`, 8), `found a tensor "a" that lacks one, expected dtype, shape and data_offsets`},
		{"no place", tensor(`"dtype":"F64","shape":[]`, 0), `found a tensor "a" that lacks one, expected`},
		{"another field", tensor(`"kind":"F64"`, 0), `found "kind" in a tensor, expected dtype, shape and data_offsets`},
		{"a negative shape", tensor(`"dtype":"F64","shape":[-1],"data_offsets":[0,8]`, 8), `found -1, expected a whole number from 0 on`},
		{"a broken shape", tensor(`"dtype":"F64","shape":[1.5],"data_offsets":[0,8]`, 8), `found 1.5, expected a whole number from 0 on`},
		{"many dimensions", tensor(`"dtype":"F64","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"data_offsets":[0,8]`, 8), `found another number, expected at most 16`},
		{"a shape beyond all numbers", tensor(`"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]`, 0), `found 0 bytes for F64 with shape [4294967296 4294967296], expected as many`},
		{"too few numbers", tensor(`"dtype":"F64","shape":[2],"data_offsets":[0,8]`, 8), `found 8 bytes for F64 with shape [2], expected as many as the shape says`},
		{"an end before the beginning", tensor(`"dtype":"F64","shape":[],"data_offsets":[8,0]`, 8), `found data_offsets [8 0], expected a beginning and an end from 0 to 8`},
		{"an end outside", tensor(`"dtype":"F64","shape":[],"data_offsets":[0,16]`, 8), `found data_offsets [0 16], expected a beginning and an end from 0 to 8`},
		{"three places", tensor(`"dtype":"F64","shape":[],"data_offsets":[0,4,8]`, 8), `found another number, expected at most 2`},
		{"a hole", tensor(`"dtype":"F64","shape":[],"data_offsets":[8,16]`, 16), `found tensor "a" at 8, expected it at 0, where the one before ends`},
		{"an overlap", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, make([]byte, 12)...),
			`found tensor "b" at 4, expected it at 8, where the one before ends`},
		{"bytes at the end", file(`{}`, 1, 2), `offset 10: found 2 bytes of no tensor, expected the end of the file`},
		{"an infinite offset", tensor(`"dtype":"F64","shape":[],"data_offsets":[0,1e400]`, 8), `found 1e400, expected a whole number from 0 on`},
		{"a deep value", file("{" + strings.Repeat(`"a":{`, 20_000)), `found "a" in a tensor, expected`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Decode(c.text, "x.safetensors")
			var bad *FormatError
			if f != nil || !errors.As(err, &bad) {
				t.Fatalf("got %v and %v, expected a FormatError", f, err)
			}
			if got := err.Error(); !strings.HasPrefix(got, "x.safetensors: offset ") || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if bad.Offset < 0 || bad.Offset > int64(len(c.text)) {
				t.Errorf("offset %d of %d bytes", bad.Offset, len(c.text))
			}
		})
	}
}

// tensor is a file with one tensor, a, and so many bytes.
func tensor(fields string, bytes int) []byte {
	return file(`{"a":{`+fields+`}}`, make([]byte, bytes)...)
}

func TestEncodeRefuses(t *testing.T) {
	for _, f := range []*File{{Metadata: map[string]string{"a": "\xff"}}, {Tensors: []Tensor{{Name: "\xff", Shape: []int{0}}}}} {
		if err := Encode(new(bytes.Buffer), f); err == nil || !strings.Contains(err.Error(), "expected UTF-8") {
			t.Errorf("got %v, expected a refusal of %+v", err, f)
		}
	}
	for name, list := range map[string][]Tensor{
		"a name twice":      {{Name: "a", Shape: []int{0}}, {Name: "a", Shape: []int{0}}},
		"a reserved name":   {{Name: "__metadata__", Shape: []int{0}}},
		"too few numbers":   {{Name: "a", Shape: []int{2}, Data: []float64{1}}},
		"two sorts of them": {{Name: "a", Shape: []int{1}, Data: []float64{1}, Ints: []int64{1}}},
	} {
		func() {
			defer func() {
				if v, ok := recover().(string); !ok || !strings.HasPrefix(v, "safetensors: ") {
					t.Errorf("%s: panicked with %v", name, v)
				}
			}()
			Encode(new(bytes.Buffer), &File{Tensors: list})
		}()
	}
}

// TestDecodeAllocatesLittle reads headers that ask for much.
func TestDecodeAllocatesLittle(t *testing.T) {
	for name, text := range map[string][]byte{
		"a shape beyond the file": tensor(`"dtype":"F64","shape":[1099511627776],"data_offsets":[0,8796093022208]`, 0),
		"a header beyond it":      append(binary.LittleEndian.AppendUint64(nil, maxHeader), '{'),
		"a long list":             tensor(`"dtype":"F64","shape":[`+strings.Repeat("1,", 1<<20)+`1],"data_offsets":[0,8]`, 8),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Decode(text, name); err == nil {
			t.Errorf("%s: expected an error", name)
		}
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(4*len(text)+1<<16); got > limit {
			t.Errorf("%s: allocated %d bytes for %d, expected at most %d", name, got, len(text), limit)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var text bytes.Buffer
	if err := Encode(&text, &File{Metadata: map[string]string{"a": "b"}, Tensors: []Tensor{
		{Name: "x", Shape: []int{2, 1}, Data: []float64{1, 2}}, {Name: "y", Shape: []int{1}, Ints: []int64{7}}, {Name: "z", Shape: []int{0, 5}},
	}}); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add(file(`{}`))
	f.Add(file(`{"h":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}} `, 0, 60))
	f.Add(tensor(`"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]`, 8))
	f.Fuzz(func(t *testing.T, text []byte) {
		decoded, err := Decode(text, "f")
		if err != nil {
			if _, ok := errors.AsType[*FormatError](err); !ok || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %q, expected a FormatError of one line", err)
			}
			return
		}
		var again bytes.Buffer
		if err := Encode(&again, decoded); err != nil {
			t.Fatal(err)
		}
		twice, err := Decode(again.Bytes(), "f")
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(decoded.Tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
		slices.SortFunc(twice.Tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
		if !same(decoded, twice) {
			t.Fatalf("%v became %v", decoded, twice)
		}
	})
}
