package kernel

import "testing"

func TestChoose(t *testing.T) {
	both, none := []Kernel{Generic, AVX2}, []Kernel{Generic}
	for _, c := range []struct {
		wanted string
		have   []Kernel
		want   Kernel
		fault  string
	}{
		{"", both, AVX2, ""},
		{"", none, Generic, ""},
		{"generic", both, Generic, ""},
		{"avx2", both, AVX2, ""},
		{"avx512", both, AVX2, "NEWTOP_KERNEL=avx512: this machine has generic, avx2"},
		{"sse", both, AVX2, "NEWTOP_KERNEL=sse: expected generic, avx2, avx512"},
	} {
		got, err := choose(c.wanted, c.have)
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		if got != c.want || fault != c.fault {
			t.Errorf("%q of %v: %v, %q; want %v, %q", c.wanted, c.have, got, fault, c.want, c.fault)
		}
	}
}

func TestSameDigits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"avx2", "avx512", true}, {"generic", "generic", true}, {"generic", "avx2", false}, {"avx512", "", false}} {
		if got := SameDigits(c.a, c.b); got != c.want || SameDigits(c.b, c.a) != got {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
