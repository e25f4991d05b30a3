package mpi

import (
	"bufio"
	"os"
	"strings"
)

// affinity returns the numbers of the processors that this process may run on, as in 0-3,8; nothing where that is not
// known.
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

// overlap reports whether two lists of processors have one in common: launchers bind processes to the same or to
// others. One that is not known has all.
func overlap(a, b string) bool { return a == b || a == "" || b == "" }
