//go:build !unix

package sqlfile

// sizeLimit returns how large this process may make a file; empty: as large as the disk allows.
func sizeLimit() string { return "" }
