//go:build unix

package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// onlyOwnerWrites is sshd's StrictModes: an error if anybody but this user and root could change the file, or put
// another in its place, on the way down from the home directory or the root. What lies below a directory that others
// can't enter is out of their reach.
func onlyOwnerWrites(path string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("expected a regular file")
	}
	if err := ours(path, info); err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return err
	}
	home, _ := os.UserHomeDir()
	var open error // the lowest directory that others could change
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if err = ours(dir, info); err == nil && info.Mode().Perm()&0o011 == 0 {
			return nil
		}
		if open == nil {
			open = err
		}
		if dir == home || dir == filepath.Dir(dir) {
			return open
		}
	}
}

// ours says whether only this user and root can change a file or a directory's entries. In a sticky directory, as /tmp
// is, nobody can touch the entries of others.
func ours(path string, info os.FileInfo) error {
	mode := info.Mode()
	if mode.Perm()&0o022 != 0 && !(mode.IsDir() && mode&os.ModeSticky != 0) {
		return fmt.Errorf("others can write %s (mode %04o): chmod go-w %[1]s", path, mode.Perm())
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, who is neither you nor root", path, stat.Uid)
	}
	return nil
}

// onlyOwnerReads is an error if anybody but this user and root can read or write a private key.
func onlyOwnerReads(path string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("expected a regular file")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others can read it (mode %04o): chmod 600 %s", mode, path)
	}
	return ours(path, info)
}
