package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// WriterOf returns which process of this user has a file open for writing, or a file beneath a directory. Of several of
// which one has begun the others it is that one. It reads of every process of the user, once: some milliseconds.
func WriterOf(path string) (pid int, ok bool) { return writerOf("/proc", path) }

func writerOf(proc, path string) (pid int, ok bool) {
	path, err := filepath.Abs(path)
	if err != nil {
		return 0, false
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return 0, false
	}
	list, err := os.ReadDir(proc)
	if err != nil {
		return 0, false
	}
	writers := map[int]bool{}
	for _, d := range list {
		if p, err := strconv.Atoi(d.Name()); err == nil && p != os.Getpid() &&
			writes(filepath.Join(proc, d.Name()), path) {
			writers[p] = true
		}
	}
	for p := range writers {
		if !writers[parentOf(proc, p)] && (!ok || p < pid) {
			pid, ok = p, true
		}
	}
	return pid, ok
}

// writes reports whether a process has a file open for writing. Of another user's process nothing can be read.
func writes(process, path string) bool {
	list, err := os.ReadDir(filepath.Join(process, "fd"))
	if err != nil {
		return false
	}
	for _, d := range list {
		to, err := os.Readlink(filepath.Join(process, "fd", d.Name()))
		if err != nil || to != path && !strings.HasPrefix(to, strings.TrimSuffix(path, "/")+"/") {
			continue
		}
		for line := range strings.Lines(readText(filepath.Join(process, "fdinfo", d.Name()))) {
			if text, is := strings.CutPrefix(line, "flags:"); is {
				flags, err := strconv.ParseInt(strings.TrimSpace(text), 8, 64)
				if err == nil && flags&(int64(os.O_WRONLY)|int64(os.O_RDWR)) != 0 {
					return true
				}
			}
		}
	}
	return false
}

func parentOf(proc string, pid int) int {
	for line := range strings.Lines(readText(filepath.Join(proc, strconv.Itoa(pid), "status"))) {
		if text, is := strings.CutPrefix(line, "PPid:"); is {
			parent, _ := strconv.Atoi(strings.TrimSpace(text))
			return parent
		}
	}
	return 0
}
