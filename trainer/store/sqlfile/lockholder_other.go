//go:build !linux

package sqlfile

// lockHolder names the process that keeps the file locked for writing; empty: not known.
func lockHolder(string) string { return "" }
