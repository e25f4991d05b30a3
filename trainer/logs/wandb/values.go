package wandb

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/jsonscan"
	"newtop/internal/protobuf"
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

// number reads a JSON number, or what Python writes for one that is not finite. Strings are no numbers.
func number(value []byte) (float64, bool) {
	if len(value) == 0 {
		return 0, false
	}
	switch c := value[0]; {
	case c >= '0' && c <= '9', c == '-', c == 'N', c == 'I':
		v, err := strconv.ParseFloat(string(value), 64)
		return v, err == nil || errors.Is(err, strconv.ErrRange)
	}
	return math.NaN(), false
}

// members calls f with every member of a JSON object, in order, in which numbers that are not finite may stand. It ends
// where the text is no object.
func members(object []byte, f func(key string, value []byte)) {
	s := jsonscan.Scanner{Text: object}
	for more := s.Next('{'); more; more = s.Next(',') {
		var key string
		if json.Unmarshal(s.Value(), &key) != nil || !s.Next(':') {
			return
		}
		value := s.Value()
		if value == nil {
			return
		}
		f(key, value)
	}
}
