package checkpoint

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// samples are checkpoints with arrays that are equal, empty and not finite.
func samples(t testing.TB) (texts [][]byte) {
	t.Helper()
	for _, c := range []Checkpoint{
		{Vectors: map[string][]float64{}, Numbers: map[string]float64{}, Texts: map[string]string{}},
		{
			Epoch: 3, Fingerprint: "leaves.12-34",
			Vectors: map[string][]float64{"net 0.weights": {1, -0.5, 1e300}, "net 1.weights": {1, -0.5, 1e300}, "net 0.gradient": {math.Inf(1), 0, 5e-324}, "none": {}},
			Numbers: map[string]float64{"nets": 2, "net 0.loss": math.Inf(-1), "spectrum owed": 1},
			Texts:   map[string]string{"optimizer": "adam", "net 0.stalled": "\"a\n"},
		},
	} {
		text, err := c.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var back Checkpoint
		if err := back.UnmarshalBinary(text); err != nil || !reflect.DeepEqual(back, c) {
			t.Fatalf("%+v, %v, expected %+v", back, err, c)
		}
		texts = append(texts, text)
	}
	return texts
}

// TestSpoilt: checkpoints are told apart from good ones, wherever a byte is wrong or missing.
func TestSpoilt(t *testing.T) {
	for _, text := range samples(t) {
		for i := range text {
			bad := slices.Clone(text)
			bad[i] ^= 0x10
			var spoilt *CheckpointError
			if err := new(Checkpoint).UnmarshalBinary(bad); !errors.As(err, &spoilt) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("byte %d of %d: %v", i, len(text), err)
			}
			if new(Checkpoint).UnmarshalBinary(text[:i]) == nil {
				t.Fatalf("the first %d of %d bytes are taken", i, len(text))
			}
		}
	}
}

// FuzzCheckpoint: bytes that are no checkpoint are refused in a line, and others come back.
func FuzzCheckpoint(f *testing.F) {
	for _, text := range samples(f) {
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c, again Checkpoint
		err := c.UnmarshalBinary(text)
		var bad *CheckpointError
		switch {
		case errors.As(err, &bad) && !strings.Contains(err.Error(), "\n"):
			return
		case err != nil:
			t.Fatal(err)
		}
		first, err := c.MarshalBinary()
		if err == nil {
			err = again.UnmarshalBinary(first)
		}
		if err != nil {
			t.Fatal(err)
		}
		if second, err := again.MarshalBinary(); err != nil || !slices.Equal(first, second) {
			t.Fatalf("%v: it comes back as another", err)
		}
	})
}
