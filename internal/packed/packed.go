// Package packed keeps texts of the program compressed in it.
package packed

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
)

// Text returns a text that Write compressed. It panics where the bytes are others, as they are a part of the program.
func Text(data []byte) string {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Write compresses a text into a file, unless the file has it: other releases of Go may compress otherwise.
func Write(file, text string) error {
	if old, err := os.ReadFile(file); err == nil && Text(old) == text {
		return nil
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
	io.WriteString(w, text)
	w.Close() // into memory
	return os.WriteFile(file, b.Bytes(), 0o644)
}
