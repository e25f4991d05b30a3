//go:build !linux

package store

// lockHolder names the process that keeps the file locked for writing; empty: not known.
func lockHolder(string) string { return "" }
