//go:build !unix

package store

func (c *child) limit() error { return nil }
