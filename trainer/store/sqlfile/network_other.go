//go:build !linux

package sqlfile

// NetworkOf returns "": the kind of a file system is known on Linux only.
func NetworkOf(string) string { return "" }
