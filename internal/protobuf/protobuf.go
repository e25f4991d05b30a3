// Package protobuf goes through the fields of protocol buffers of which only some matter.
package protobuf

import "google.golang.org/protobuf/encoding/protowire"

// Fields calls f with every field of a message: v is what a varint or fixed number is; b is what a length-delimited
// field holds, not nil then. It returns the error of f, or one that says what is no field.
func Fields(message []byte, f func(n protowire.Number, v uint64, b []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var v uint64
		var b []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var small uint32
			small, n = protowire.ConsumeFixed32(message)
			v = uint64(small)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(message)
			if b == nil {
				b = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := f(number, v, b); err != nil {
			return err
		}
	}
	return nil
}
