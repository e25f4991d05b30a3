package wandb

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

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
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(object), []byte("{"))
	for ok {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		n := valueLength(rest)
		var key string
		if n == 0 || json.Unmarshal(rest[:n], &key) != nil {
			return
		}
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest[n:], " \t\r\n"), []byte(":"))
		if !ok {
			return
		}
		rest = bytes.TrimLeft(rest, " \t\r\n")
		n = valueLength(rest)
		if n == 0 {
			return
		}
		f(key, rest[:n])
		rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest[n:], " \t\r\n"), []byte(","))
	}
}

// valueLength returns how long the JSON value is with which the text begins, 0 if there is none.
func valueLength(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case quoted && c == '"':
			quoted = false
			if depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '"':
			quoted = true
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':' || c <= ' '):
			return i
		}
	}
	if depth > 0 || quoted {
		return 0
	}
	return len(b)
}
