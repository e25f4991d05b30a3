package peer

import (
	"testing"
	"time"
)

// Bodies are used where either side has no mapped file.
func TestNoMappedFile(t *testing.T) {
	for name, c := range map[string]struct {
		maps    bool
		options Options
		reply   string
	}{
		"not offered":   {false, Options{Map: 1}, ""},
		"few weights":   {true, Options{}, ""},
		"never":         {true, Options{Map: -1}, ""},
		"can't be made": {true, Options{Map: 1}, `"map":false`},
		"not answered":  {true, Options{Map: 1}, `"pam":true`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{n: 3, maps: c.maps}
			f.spoil = func(op string, b []byte) []byte {
				if op != "welcome" || c.reply == "" || f.file == nil {
					return b
				}
				f.file.Close()
				f.file = nil
				return replaced(b, `"map":true`, c.reply)
			}
			client, err := greeted(t, f, c.options)
			if err != nil || client.wire.mapped != nil {
				t.Fatal(err)
			}
			if err := everything(client); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a peer says of the mapped file is believed as little as what it says of bodies.
func TestBadMappedVectors(t *testing.T) {
	for _, c := range []struct{ old, with, want string }{
		{"[4096,4120]", "[0,24]", "outside of 4096 to 8192"},
		{"[4096,4120]", "[8192,8216]", "outside"},
		{"[4096,4120]", "[8128,8216]", "outside"},
		{"[4096,4120]", "[4100,4124]", "multiple of 64"},
		{"[4096,4120]", "[4096,8192]", "has 4096 bytes, not 24"},
		{"[4096,4120]", "[-9223372036854775808,9223372036854775807]", "outside"},
		{`"shape":[3]`, `"shape":[4]`, "shape"},
		{"F64", "F32", "dtype"},
		{`"map":true`, `"map":false`, "vectors end at 4120"},
		{`"map":true`, `"map":1`, "not what it should be"},
	} {
		t.Run(c.want, func(t *testing.T) {
			f := &fake{n: 3, maps: true}
			f.spoil = func(op string, b []byte) []byte {
				if op == "hv" {
					return replaced(b, c.old, c.with)
				}
				return b
			}
			client, err := greeted(t, f, Options{Map: 1, Answer: 10 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if client.wire.mapped == nil {
				t.Skip("no mapped files here")
			}
			x := make([]float64, 3)
			told(t, client.HessianTo(x, x), c.want)
		})
	}
}
