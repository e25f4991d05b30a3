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

// Drawing writes a picture in the format that an ending of a file's name stands for.
type Drawing struct {
	Suffix string
	Draw   func(io.Writer) error
}

// PictureMsg says where a picture was written, or why not.
type PictureMsg struct {
	Path string
	Also string // the endings of the others of the same name, as " and .png"
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

// WriteNew writes files that did not exist, of one name: base with each drawing's suffix, or base-2, base-3, … with it.
// It returns the path of the first.
func WriteNew(base string, drawings ...Drawing) (path string, err error) {
	texts := make([]bytes.Buffer, len(drawings))
	for i := range drawings {
		if err := drawings[i].Draw(&texts[i]); err != nil {
			return "", err
		}
	}
	const most = 10_000
	for n := 1; n <= most; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		if err := writeAll(name, drawings, texts); !errors.Is(err, fs.ErrExist) {
			return name + drawings[0].Suffix, err
		}
	}
	return "", fmt.Errorf("%s%s: there are %d of it", base, drawings[0].Suffix, most)
}

// writeAll writes all files or none.
func writeAll(name string, drawings []Drawing, texts []bytes.Buffer) error {
	for i := range drawings {
		f, err := os.OpenFile(name+drawings[i].Suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		written := i
		if err == nil {
			_, err = f.Write(texts[i].Bytes())
			err = errors.Join(err, f.Close())
			written++
		}
		if err != nil {
			for _, d := range drawings[:written] {
				os.Remove(name + d.Suffix)
			}
			return err
		}
	}
	return nil
}
