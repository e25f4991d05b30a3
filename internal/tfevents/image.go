package tfevents

import (
	"bytes"
	"errors"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/protobuf"
)

// Image is an image that a record has, or several of one tag, each by itself.
type Image struct {
	Tag    string
	Step   int64
	Wall   float64 // seconds since 1970
	At, Of int     // which of those of its tag in the record, from 0
	Offset int64   // of the record, in bytes
	Audio  bool    // it is no image
	plugin string  // whose tag it is
	data   []byte  // encoded; valid while the record is read
}

// image keeps the images of a Summary.Value, if it has any, until their step is known.
func (r *Reader) image(tag string, value []byte) error {
	if r.Image == nil {
		return nil
	}
	var found [][]byte
	audio := r.plugins[tag] == "audio"
	err := protobuf.Fields(value, func(n protowire.Number, _ uint64, b []byte) error {
		audio = audio || n == 6
		inner := map[protowire.Number]protowire.Number{4: 4, 8: 8}[n]
		if inner == 0 || b == nil || n == 8 && r.plugins[tag] != "images" {
			return nil
		}
		return protobuf.Fields(b, func(n protowire.Number, _ uint64, b []byte) error {
			if n == inner && b != nil {
				found = append(found, b)
			}
			return nil
		})
	})
	if r.plugins[tag] == "images" && len(found) > 2 {
		found = found[2:] // width and height
	}
	if audio {
		found = [][]byte{nil}
	}
	for i, b := range found {
		r.images = append(r.images, Image{Tag: tag, At: i, Of: len(found), Offset: r.base, Audio: audio,
			plugin: r.plugins[tag], data: b})
	}
	return err
}

// Encoded reads the encoded bytes of an image from the file that it was found in.
func (i Image) Encoded(file io.ReaderAt) (data []byte, err error) {
	r := NewReader(io.NewSectionReader(file, i.Offset, maxParsed+headerSize+footerSize), "")
	r.plugins[i.Tag] = i.plugin
	r.Image = func(o Image) {
		if o.Tag == i.Tag && o.At == i.At {
			data = bytes.Clone(o.data)
		}
	}
	if err = r.record(); err == nil && data == nil {
		err = errors.New("the file has changed")
	}
	return data, err
}
