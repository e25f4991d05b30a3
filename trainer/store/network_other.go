//go:build !linux

package store

func networkOf(string) string { return "" }
