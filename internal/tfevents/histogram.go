package tfevents

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/protobuf"
)

// Histogram is what a distribution, as of a layer's weights, was at a step.
type Histogram struct {
	Tag       string
	Step      int64
	Wall      float64 // seconds since 1970
	Count     float64 // of the values
	Quantiles [7]float64
}

// Shares are of how much of the values each of a histogram's quantiles is the bound: the first is the least value and
// the last the greatest. Between a bucket's edges values are taken to lie evenly.
var Shares = [7]float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1}

// bucket is how many values lie between two edges.
type bucket struct{ left, right, count float64 }

// histoProto reads a HistogramProto, as PyTorch and TensorFlow 1 write it. Its first and last edges may be those of all
// numbers, and the least and the greatest value stand beside. It reports false where there is no value, or not a count
// for each bucket.
func histoProto(data []byte) (h Histogram, ok bool, err error) {
	var least, greatest float64
	var limits, counts []float64
	err = protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) (err error) {
		switch {
		case n == 1 && b == nil:
			least = math.Float64frombits(v)
		case n == 2 && b == nil:
			greatest = math.Float64frombits(v)
		case n == 6:
			limits, err = appendDoubles(limits, v, b)
		case n == 7:
			counts, err = appendDoubles(counts, v, b)
		}
		return err
	})
	if err != nil || len(limits) != len(counts) {
		return h, false, err
	}
	buckets := make([]bucket, 0, len(counts))
	left := least
	for i, limit := range limits {
		// The greater and the lesser, but not NaN where one of them is.
		right := limit
		if right > greatest {
			right = greatest
		}
		if right < left {
			right = left
		}
		buckets = append(buckets, bucket{left, right, counts[i]})
		left = right
	}
	ok = h.summarize(buckets)
	if ok {
		h.Quantiles[0], h.Quantiles[len(Shares)-1] = least, greatest
	}
	return h, ok, nil
}

// histoTensor reads the rows of left edge, right edge and count that TensorFlow 2 and Keras write. It reports false
// where there is no value.
func histoTensor(data []byte) (h Histogram, ok bool, err error) {
	var dtype uint64
	var content []byte
	var v []float64
	err = protobuf.Fields(data, func(n protowire.Number, u uint64, b []byte) (err error) {
		switch {
		case n == 1 && b == nil:
			dtype = u
		case n == 4 && b != nil:
			content = b
		case n == 6:
			v, err = appendDoubles(v, u, b)
		}
		return err
	})
	if err == nil && dtype == dtDouble && len(content) > 0 {
		v, err = appendDoubles(nil, 0, content)
	}
	if err != nil || dtype != dtDouble || len(v)%3 != 0 {
		return h, false, err
	}
	buckets := make([]bucket, 0, len(v)/3)
	for ; len(v) > 0; v = v[3:] {
		buckets = append(buckets, bucket{v[0], v[1], v[2]})
	}
	return h, h.summarize(buckets), nil
}

// appendDoubles appends the numbers of a packed list, or one that is not packed.
func appendDoubles(list []float64, v uint64, packed []byte) ([]float64, error) {
	if packed == nil {
		return append(list, math.Float64frombits(v)), nil
	}
	if len(packed)%8 != 0 {
		return nil, fmt.Errorf("numbers of 8 bytes in %d bytes", len(packed))
	}
	for ; len(packed) > 0; packed = packed[8:] {
		list = append(list, math.Float64frombits(binary.LittleEndian.Uint64(packed)))
	}
	return list, nil
}

// summarize sets the count and the quantiles. It reports false where there is no value.
func (h *Histogram) summarize(buckets []bucket) bool {
	some := buckets[:0]
	for _, b := range buckets {
		if b.count > 0 && b.count <= math.MaxFloat64 {
			some = append(some, b)
			h.Count += b.count
		}
	}
	if len(some) == 0 {
		return false
	}
	below, i := 0.0, 0 // how many values the buckets before the i-th have
	for k, share := range Shares {
		wanted := share * h.Count
		for i < len(some)-1 && below+some[i].count < wanted {
			below += some[i].count
			i++
		}
		b := some[i]
		t := min(1, max(0, (wanted-below)/b.count))
		switch { // where an edge is infinite, the other has its value
		case t == 0 || b.left == b.right:
			h.Quantiles[k] = b.left
		case t == 1:
			h.Quantiles[k] = b.right
		default:
			h.Quantiles[k] = (1-t)*b.left + t*b.right
		}
	}
	return true
}
