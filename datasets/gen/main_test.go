package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestOutlines(t *testing.T) {
	want, err := outlines()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join("..", "glyphs.bin.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(packed)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("glyphs.bin.gz has other outlines than the fonts: expected it after go generate ./datasets: %v", err)
	}
}
