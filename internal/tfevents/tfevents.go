// Package tfevents reads and writes the scalars of TensorBoard's event files, and reads histograms, images
// and hyperparameters.
//
// A file is a sequence of records (TensorFlow's record_writer.h), numbers little-endian:
//
//	uint64  length          of data
//	uint32  masked CRC-32C  of the eight bytes of length
//	bytes   data
//	uint32  masked CRC-32C  of data
//
// The mask is ((crc >> 15) | (crc << 17)) + 0xa282ead8. Data is a protocol buffer, tensorflow.Event; the fields that
// are read, by number:
//
//	Event            1 wall_time double · 2 step int64 · 3 file_version string · 5 summary Summary
//	Summary          1 value Value, repeated
//	Value            1 tag string · 2 simple_value float · 4 image Image · 5 histo HistogramProto · 6 audio ·
//	                 8 tensor TensorProto · 9 metadata SummaryMetadata
//	Image            4 encoded_image_string bytes: a PNG, or of a video a GIF
//	SummaryMetadata  1 plugin_data PluginData      PluginData  1 plugin_name string · 2 content bytes
//	HistogramProto   1 min · 2 max · 3 num · 4 sum · 5 sum_squares · 6 bucket_limit, the right edges
//	                 7 bucket, their counts: doubles all, the last two packed
//	TensorProto      1 dtype enum · 2 tensor_shape · 4 tensor_content bytes · 5 float_val · 6 double_val · 7 int_val ·
//	                 8 string_val, repeated · 10 int64_val · 13 half_val, all packed but strings
//	tensor_shape     2 dim, repeated    dim  1 size int64
//
// PyTorch writes simple_value; TensorFlow 2 and Keras write a float tensor of no dimensions. Of histograms PyTorch
// writes histo, and those write a tensor of doubles with the plugin name histograms, whose rows are left edge, right
// edge and count; of images a tensor of strings with the plugin name images: width, height, and each image.
// Hyperparameters are the content of the plugin hparams (hparams.go), which has no value.
package tfevents

import (
	"fmt"
	"hash/crc32"
)

// Version is what the first record of a file says.
const Version = "brain.Event:2"

const (
	headerSize = 12 // length and its CRC
	footerSize = 4  // the CRC of the data

	// maxLength is the longest record that a protocol buffer can be, 2 GiB − 1.
	maxLength = 1<<31 - 1
	// maxParsed is the longest record that is looked into; a longer one has images or a graph, and is passed over.
	maxParsed = 16 << 20
	// maxTags is how many tags are remembered: their names, and that they are no scalars.
	maxTags = 1 << 16
)

// Scalar is one point of one curve.
type Scalar struct {
	Tag   string
	Step  int64
	Wall  float64 // seconds since 1970
	Value float64
}

// FormatError says where a file is not what it should be. Offset is that of the record, in bytes.
type FormatError struct {
	File            string
	Offset          int64
	Found, Expected string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s: expected %s", e.File, e.Offset, e.Found, e.Expected)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mask makes a CRC one that may stand within data of which CRCs are taken.
func mask(crc uint32) uint32 { return (crc>>15 | crc<<17) + 0xa282ead8 }

func checksum(data []byte) uint32 { return mask(crc32.Checksum(data, castagnoli)) }
