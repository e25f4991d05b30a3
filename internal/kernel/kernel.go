// Package kernel says which machine code the numerical packages run: the widest vector instructions that this
// processor has, or what NEWTOP_KERNEL asks for.
package kernel

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that overrides the choice.
const Variable = "NEWTOP_KERNEL"

// Kernel is a set of instructions that there is code for.
type Kernel uint8

// The kernels, each faster than the one before.
const (
	Generic Kernel = iota // Go and gonum, everywhere
	AVX2                  // 256-bit vectors with fused multiply-add
	AVX512                // 512-bit vectors: AVX-512 F, VL, DQ and BW, with AVX2's and BMI2
)

var names = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512"}

// String returns the name that Variable takes.
func (k Kernel) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Kernel(%d)", uint8(k))
}

var selected, fault = choose(os.Getenv(Variable), available())

// Selected returns the kernel of this process. It never changes.
func Selected() Kernel { return selected }

// SameDigits reports whether kernels of these names compute the same bits: AVX2 and AVX-512 do, which add with fused
// multiply-adds in one order.
func SameDigits(a, b string) bool {
	fused := func(name string) bool { return name == names[AVX2] || name == names[AVX512] }
	return a == b || fused(a) && fused(b)
}

// Available returns the kernels that this machine can run, the slowest first.
func Available() []Kernel { return available() }

// Err says why what Variable asks for cannot be had; the kernel is then the widest there is.
func Err() error { return fault }

func choose(wanted string, have []Kernel) (Kernel, error) {
	widest := have[len(have)-1]
	if wanted == "" {
		return widest, nil
	}
	i := slices.Index(names[:], wanted)
	if i < 0 {
		return widest, fmt.Errorf("%s=%s: expected %s", Variable, wanted, strings.Join(names[:], ", "))
	}
	if !slices.Contains(have, Kernel(i)) {
		return widest, fmt.Errorf("%s=%s: this machine has %s", Variable, wanted, join(have))
	}
	return Kernel(i), nil
}

func join(have []Kernel) string {
	var all []string
	for _, k := range have {
		all = append(all, k.String())
	}
	return strings.Join(all, ", ")
}
