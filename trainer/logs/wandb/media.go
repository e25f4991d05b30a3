package wandb

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// maxImage is the size up to which an image's file is read.
const maxImage = 64 << 20

// medium is what a row has of what is no number: its key, and what W&B says of it, as a file's path.
type medium struct {
	key, kind string
	paths     []string
}

// media are those of a row.
type media []medium

// note takes an item of the history that says something of a medium. The _type says that it is one.
func (m *media) note(label string, value []byte) {
	at := strings.LastIndexByte(label, '/')
	if at < 1 {
		return
	}
	key, what := label[:at], label[at+1:]
	if what != "_type" && what != "path" && what != "filenames" {
		return
	}
	if n := len(*m); n == 0 || (*m)[n-1].key != key {
		*m = append(*m, medium{key: key})
	}
	to := &(*m)[len(*m)-1]
	var text string
	if what == "filenames" {
		_ = json.Unmarshal(value, &to.paths)
	} else if json.Unmarshal(value, &text) == nil && what == "path" {
		to.paths = []string{text}
	} else {
		to.kind = text
	}
}

// of reports whether a label is of a medium, whose numbers are no metrics.
func (m media) of(label string) bool {
	for _, i := range m {
		if i.kind != "" && strings.HasPrefix(label, i.key+"/") {
			return true
		}
	}
	return false
}

// give gives the images, whose files lie below a directory, and says which audio and videos there are.
func (m media) give(dir files.Path, row *logs.Row, to logs.Sink) {
	gallery, takes := to.(logs.Gallery)
	for _, i := range m {
		if !takes {
			return
		}
		image := logs.Image{Key: i.key, Step: int(max(row.Step, 0))}
		switch kind := strings.TrimRight(strings.TrimSuffix(i.kind, "-file"), "s"); kind {
		case "audio", "video":
			image.Kind = kind
			gallery.Image(image)
		case "image", "images/separated":
			for n, path := range i.paths {
				image.Key = i.key
				if len(i.paths) > 1 {
					image.Key += " #" + strconv.Itoa(n+1)
				}
				if file := dir.Join(filepath.FromSlash(path)); filepath.IsLocal(path) {
					image.Load = func() ([]byte, error) { return file.Read(maxImage) }
					gallery.Image(image)
				}
			}
		}
	}
}
