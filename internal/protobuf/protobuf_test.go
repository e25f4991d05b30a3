package protobuf

import (
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The bytes are those of the encoding guide of protocol buffers, of numbers of 32 and 64 bits and of an empty field.
func TestFields(t *testing.T) {
	stop := errors.New("stop")
	for _, c := range []struct {
		hex, want string
		wrong     bool
	}{
		{"089601", "1=150 ", false},
		{"120774657374696e67", "2=testing ", false},
		{"1d01000000", "3=1 ", false},
		{"210100000000000080", "4=9223372036854775809 ", false},
		{"1200", "2= ", false},
		{"0b10010c0801", "1=0 1=1 ", false}, // a group, which is passed over
		{"1207746573", "", true},
		{"08", "", true},
		{"00", "", true},
	} {
		message, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		err = Fields(message, func(n protowire.Number, v uint64, b []byte) error {
			if b != nil {
				got += fmt.Sprintf("%d=%s ", n, b)
			} else {
				got += fmt.Sprintf("%d=%d ", n, v)
			}
			return nil
		})
		if got != c.want || (err != nil) != c.wrong {
			t.Errorf("%s: %q, %v, expected %q", c.hex, got, err, c.want)
		}
	}
	if err := Fields([]byte{8, 1}, func(protowire.Number, uint64, []byte) error { return stop }); err != stop {
		t.Errorf("the error of the function became %v", err)
	}
}
