package screen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"
)

type PictureMsg struct {
	Path string
	Err  error
}

// PlainName keeps what every file system and shell takes in a name.
func PlainName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			return unicode.ToLower(r)
		case r == '.' || r == '_':
			return r
		}
		return '-'
	}, s)
	if s = strings.Trim(s, "-."); s == "" {
		return "run"
	}
	return s[:min(len(s), 60)]
}

// WriteNew writes a file that did not exist: base with a suffix, or base-2, base-3, … with it.
func WriteNew(base, suffix string, draw func(io.Writer) error) (path string, err error) {
	var text bytes.Buffer
	if err := draw(&text); err != nil {
		return "", err
	}
	const most = 10_000
	for n := 1; n <= most; n++ {
		path = base + suffix
		if n > 1 {
			path = fmt.Sprintf("%s-%d%s", base, n, suffix)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = text.WriteTo(f)
		if err = errors.Join(err, f.Close()); err != nil {
			os.Remove(path)
		}
		return path, err
	}
	return "", fmt.Errorf("%s%s: there are %d of it", base, suffix, most)
}
