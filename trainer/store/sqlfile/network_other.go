//go:build !linux

package sqlfile

func NetworkOf(string) string { return "" }
