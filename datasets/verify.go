package datasets

import (
	"path/filepath"
	"strings"
)

// FileState says what is known of a file of a real set.
type FileState string

// The states.
const (
	FileGood     FileState = "good"      // there, with the right checksum
	FileCorrupt  FileState = "wrong"     // there, with another checksum
	FileUnpacked FileState = "unpacked"  // there without its gzip wrapping, of which the checksum is known
	FileMissing  FileState = "missing"   // not there
	FileUnderWay FileState = "under way" // not there, but a part of its download is
)

// FileStatus is the state of one file.
type FileStatus struct {
	File  string // its name on the mirrors
	Path  string // where it is, or where Fetch would put it
	State FileState
	Sum   string // SHA-256 found, in hexadecimal; empty when missing or under way
	Want  string // SHA-256 expected
}

// Verify compares the files of a real set, where Load would find them, with their checksums. Empty dir:
// CacheDir. It returns an *UnknownError or ErrGenerated (wrapped) for a name without files, and errors of
// reading a file.
func Verify(name, dir string) ([]FileStatus, error) {
	src, err := findSource(name)
	if err != nil {
		return nil, err
	}
	dirs, err := searchDirs(name, dir)
	if err != nil {
		return nil, err
	}
	var all []FileStatus
	for _, file := range src.files {
		status := FileStatus{File: file.name, Path: filepath.Join(dirs[0], file.name), State: FileMissing,
			Want: file.sum}
		if _, ok := locate(dirs[0], file.name+".part"); ok {
			status.State = FileUnderWay
		}
		for _, d := range dirs {
			path, ok := locate(d, file.name)
			if !ok {
				continue
			}
			status.Path = path
			if status.Sum, err = sumFile(path); err != nil {
				return nil, err
			}
			switch {
			case status.Sum == file.sum:
				status.State = FileGood
			case strings.HasSuffix(file.name, ".gz") && !strings.HasSuffix(path, ".gz"):
				status.State = FileUnpacked
			default:
				status.State = FileCorrupt
			}
			break
		}
		all = append(all, status)
	}
	return all, nil
}
