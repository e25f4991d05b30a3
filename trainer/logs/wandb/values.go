package wandb

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/protobuf"
	"newtop/trainer/logs"
)

// since1970 returns the seconds of a protobuf Timestamp.
func since1970(data []byte) (seconds float64, err error) {
	err = protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		switch n {
		case 1:
			seconds += float64(int64(v))
		case 2:
			seconds += float64(int32(v)) / 1e9
		}
		return nil
	})
	return seconds, err
}

// number reads a JSON number, or what Python writes for one that is not finite; NaN: it is none. Strings are none.
func number(value []byte) (float64, bool) {
	if v, ok := logs.ParseNumber(value); ok {
		return v, true
	}
	return math.NaN(), false
}
