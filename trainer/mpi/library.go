package mpi

import "strings"

// nameOf shortens what MPI says of itself to a name and a version.
func nameOf(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, ",")
	fields := strings.Fields(line)
	switch {
	case strings.HasPrefix(line, "Open MPI v"):
		return "Open MPI " + strings.TrimPrefix(fields[2], "v")
	case strings.HasPrefix(line, "MPICH Version:") && len(fields) > 2:
		return "MPICH " + fields[2]
	case strings.HasPrefix(line, "MVAPICH") && len(fields) > 2:
		return fields[0] + " " + fields[len(fields)-1]
	case len(fields) == 0 && rest != "":
		return nameOf(rest)
	case len(fields) == 0:
		return "MPI"
	}
	return strings.Join(fields, " ")
}

// cutVersion cuts a name that nameOf has returned into what it is and which.
func cutVersion(library string) (name, version string) {
	at := strings.LastIndexByte(library, ' ')
	if at < 0 {
		return library, ""
	}
	return library[:at], library[at+1:]
}

// Library returns the name and version of the MPI that this program was linked to; nothing if it was built without one.
// It need not have begun.
func Library() string { return library() }
