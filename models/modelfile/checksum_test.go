package modelfile

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"newtop/internal/safetensors"
)

// A bit that flips anywhere in a saved model is noticed, or changes nothing of the model.
func TestFlippedBits(t *testing.T) {
	list := samples(t)
	slices.SortFunc(list, func(a, b sample) int { return a.model.Network.Dim() - b.model.Network.Dim() })
	for _, m := range []*Model{list[0].model, list[len(list)/2].model} {
		want := text(t, WriteSafetensors, m)
		for name, write := range map[string]func(io.Writer, *Model) error{Safetensors: WriteSafetensors, ONNX: WriteONNX} {
			whole := text(t, write, m)
			if got, err := Decode(whole, "file"); err != nil || !bytes.Equal(text(t, WriteSafetensors, got), want) {
				t.Fatalf("%s as it is: %v", name, err)
			}
			step := max(1, 8*len(whole)/4000)
			for bit := 0; bit < 8*len(whole); bit += step {
				file := bytes.Clone(whole)
				file[bit/8] ^= 1 << (bit % 8)
				m, err := Decode(file, "file")
				if err != nil {
					if strings.Contains(err.Error(), "\n") {
						t.Errorf("%s: bit %d of byte %d: %v", name, bit%8, bit/8, err)
					}
					continue
				}
				if !bytes.Equal(text(t, WriteSafetensors, m), want) {
					t.Errorf("%s: bit %d of byte %d went unnoticed: %q", name, bit%8, bit/8, whole[max(0, bit/8-20):min(len(whole), bit/8+20)])
				}
			}
		}
	}
}

// What another program writes anew with the same content is the same model, and a file without a checksum is taken as it
// is.
func TestChecksumIsOfTheContent(t *testing.T) {
	m := samples(t)[0].model
	want := text(t, WriteSafetensors, m)
	f, err := safetensors.Decode(want, "file")
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(f.Tensors)
	for _, step := range []struct {
		name   string
		change func()
	}{
		{"other order", func() {}},
		{"no checksum", func() { delete(f.Metadata, keyChecksum); delete(f.Metadata, keyCRC) }},
		{"another weight", func() { f.Tensors[0].Data[0]++ }},
	} {
		step.change()
		var b bytes.Buffer
		if err := safetensors.Encode(&b, f); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(b.Bytes(), "file")
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if same := bytes.Equal(text(t, WriteSafetensors, got), want); same != (step.name != "another weight") {
			t.Errorf("%s: the same model: %v", step.name, same)
		}
	}
}
