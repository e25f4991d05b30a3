package vector

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestAVX2Registers: AVX2 has the vector registers 0 to 15 of 256 bits and no masks; avo would give out AVX-512's, too.
func TestAVX2Registers(t *testing.T) {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	later := regexp.MustCompile(`.*\b([XY](1[6-9]|2\d|3[01])|Z\d+|K[0-7]|\w+_(BCST|Z))\b.*`)
	for _, function := range strings.Split(string(text), "\nTEXT ")[1:] {
		name, _, _ := strings.Cut(function, "(")
		_, code, found := strings.Cut(function, "\navx2:\n")
		if !found {
			t.Errorf("%s has no code for AVX2", name)
		}
		if line := later.FindString(code); line != "" {
			t.Errorf("%s: %s", name, line)
		}
	}
}
