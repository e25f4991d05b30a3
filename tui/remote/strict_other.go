//go:build !unix

package remote

import (
	"fmt"
	"os"
)

// Permissions are not told by mode bits here: the files are taken as the system's access control leaves them.

func onlyOwnerWrites(path string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("expected a regular file")
	}
	return nil
}

func onlyOwnerReads(path string, info os.FileInfo) error { return onlyOwnerWrites(path, info) }
