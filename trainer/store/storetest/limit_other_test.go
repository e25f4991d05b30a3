//go:build !unix || freebsd

package storetest

func (c *child) limit() error { return nil }
