//go:build !unix

package peer

import "errors"

func newMapped(int64, string) (*mapped, error) { return nil, errors.New("no mapped files here") }
