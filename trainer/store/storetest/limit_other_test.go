//go:build !unix

package storetest

func (c *child) limit() error { return nil }
