package blas

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestAVX2Registers: functions for AVX2 have the vector registers 0 to 15 of 256 bits and no masks.
func TestAVX2Registers(t *testing.T) {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	later := regexp.MustCompile(`.*\b([XY](1[6-9]|2\d|3[01])|Z\d+|K[0-7]|\w+_(BCST|Z))\b.*`)
	seen := 0
	for _, function := range strings.Split(string(text), "\nTEXT ")[1:] {
		if name, _, _ := strings.Cut(function, "("); strings.Contains(name, "AVX2") {
			seen++
			if line := later.FindString(function); line != "" {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	if seen != 11 {
		t.Errorf("%d functions for AVX2", seen)
	}
}
