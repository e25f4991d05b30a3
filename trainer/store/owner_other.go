//go:build !linux

package store

// identity returns nothing: where there is no /proc the heartbeat alone tells whether a process lives.
func identity(int) string { return "" }

func sameMachine(string) bool { return false }
