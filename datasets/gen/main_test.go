package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestOutlines(t *testing.T) {
	want, err := outlines()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "glyphs.bin"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("glyphs.bin has other outlines than the fonts: expected it after go generate ./datasets: %v", err)
	}
}
