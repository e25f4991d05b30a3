package kernel

import "golang.org/x/sys/cpu"

func available() []Kernel {
	have := []Kernel{Generic}
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return have
	}
	have = append(have, AVX2)
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW &&
		cpu.X86.HasBMI2 {
		have = append(have, AVX512)
	}
	return have
}
