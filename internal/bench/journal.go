package bench

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"os"
)

// readJournal hands over each line of a file of what is done; there is none yet without the file or its name.
func readJournal[T any](path string, line func(*T)) error {
	file, err := os.Open(path)
	if path == "" || errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var v T
		if json.Unmarshal(lines.Bytes(), &v) == nil { // a line that was cut off is done again
			line(&v)
		}
	}
	return lines.Err()
}

// keepInJournal appends a line, which other processes may do too.
func keepInJournal(path string, v any) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	line, err := json.Marshal(v)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
	}
	return cmp.Or(err, file.Close())
}
