package sqlfile

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// writeLock is the byte of the -shm file that a process locks which writes [SQLite, wal.c].
const writeLock = "120"

// lockHolder names the process that keeps the file locked for writing; empty: not known. Asking the system by the file
// itself would take away this process's own locks on it.
func lockHolder(path string) string {
	info, err := os.Stat(path + "-shm")
	if err != nil {
		return ""
	}
	own, ok := info.Sys().(*syscall.Stat_t)
	locks, err := os.Open("/proc/locks")
	if !ok || err != nil {
		return ""
	}
	defer locks.Close()
	inode := fmt.Sprintf(":%d", own.Ino)
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// 1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 120 120
		f := strings.Fields(lines.Text())
		if len(f) == 8 && f[3] == "WRITE" && strings.HasSuffix(f[5], inode) && f[6] == writeLock &&
			f[4] != strconv.Itoa(os.Getpid()) {
			return "process " + f[4] + processName(f[4])
		}
	}
	return ""
}

// processName returns what a process is called, and whether it stands still, in brackets.
func processName(pid string) string {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	before, after, _ := strings.Cut(string(text), ") ")
	_, name, _ := strings.Cut(before, "(")
	if strings.HasPrefix(after, "T") {
		return " (" + name + ", which is stopped)"
	}
	return " (" + name + ")"
}
