package mpi

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// affinity returns the numbers of the processors that this process may run on, as in 0-3,8; nothing where that is not known.
func affinity() string {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if list, ok := strings.CutPrefix(lines.Text(), "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(list)
		}
	}
	return ""
}

// overlap reports whether two lists of processors have one in common. One that is not known has all.
func overlap(a, b string) bool {
	in, ok := ranges(a)
	of, known := ranges(b)
	if !ok || !known {
		return true
	}
	for _, x := range in {
		for _, y := range of {
			if x[0] <= y[1] && y[0] <= x[1] {
				return true
			}
		}
	}
	return false
}

// ranges reads a list of numbers and of ranges of them.
func ranges(list string) (out [][2]int, ok bool) {
	for item := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(item, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || from > to {
			return nil, false
		}
		out = append(out, [2]int{from, to})
	}
	return out, true
}
