package modelfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"

	"newtop/internal/safetensors"
)

// A model's file says in its metadata what the checksum of all else is that newtop reads of it, so that a bit that
// changes on the disk is found. It is of the content and not of the bytes: another program may write the same content
// again. Two keys say it, as one bit may take one of them away. Files of before have neither.
const (
	keyChecksum = "checksum" // what it is
	keyCRC      = "crc32c"   // the checksum, in hexadecimal digits
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the CRC-32C of the metadata, but for the checksum itself, and of all tensors, each text and list
// behind its length.
func checksum(metadata map[string]string, tensors []safetensors.Tensor) string {
	sum := uint32(0)
	var buffer []byte
	flush := func() {
		sum = crc32.Update(sum, castagnoli, buffer)
		buffer = buffer[:0]
	}
	number := func(n uint64) {
		if buffer = binary.LittleEndian.AppendUint64(buffer, n); len(buffer) >= 1<<15 {
			flush()
		}
	}
	text := func(s string) {
		number(uint64(len(s)))
		buffer = append(buffer, s...)
	}
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if key != keyCRC {
			text(key)
			text(metadata[key])
		}
	}
	for _, t := range safetensors.Sorted(tensors) {
		text(t.Name)
		number(uint64(len(t.Shape)))
		for _, n := range t.Shape {
			number(uint64(n))
		}
		for _, v := range t.Data {
			number(math.Float64bits(v))
		}
		for _, v := range t.Ints {
			number(uint64(v))
		}
	}
	flush()
	return fmt.Sprintf("%08x", sum)
}

// verify compares the content with its checksum, if it has one, and takes that out of the metadata.
func (r *reader) verify(tensors []safetensors.Tensor) error {
	_, marked := r.metadata[keyChecksum]
	said, summed := r.metadata[keyCRC]
	if (marked || summed) && said != checksum(r.metadata, tensors) {
		return r.fault("", "other content than its checksum is of, as it is damaged or another program has changed it",
			fmt.Sprintf("what newtop saved, or no %s and %s in the metadata", keyChecksum, keyCRC))
	}
	delete(r.metadata, keyChecksum)
	delete(r.metadata, keyCRC)
	return nil
}
