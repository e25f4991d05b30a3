package convert

import "os"

// Temporary returns a file that is nowhere to be found, so that no end of the program leaves it behind. Discard takes
// it away.
func Temporary() (*os.File, error) {
	file, err := os.CreateTemp("", "newtop-*.csv")
	if err == nil {
		os.Remove(file.Name()) // which systems other than Windows can do to an open file
	}
	return file, err
}

// Discard takes away what Temporary returned.
func Discard(file *os.File) {
	file.Close()
	os.Remove(file.Name())
}
