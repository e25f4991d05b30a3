package vector

import (
	"os"
	"regexp"
	"testing"
)

// TestAVX2Registers: AVX2 has the vector registers 0 to 15; avo would give out AVX-512's, too.
func TestAVX2Registers(t *testing.T) {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`.*\bY(1[6-9]|2\d|3[01])\b.*`).Find(text); found != nil {
		t.Errorf("%s", found)
	}
}
