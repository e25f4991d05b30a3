package umbridge

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// toJSON makes JSON of what servers write: where a number can stand, nan, inf and Infinity become strings, and
// np.float64(0.5) and array([1., 2.]), which Python prints of NumPy's, become 0.5 and [1, 2]. All else stays, so that
// what is no JSON for other reasons is found by the decoder.
func toJSON(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for i := 0; i < len(text); {
		end := i + 1
		switch ch := text[i]; {
		case ch == '"':
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out = append(out, text[i:end]...)
		case ch == '(' || ch == ')':
		case inWord(ch):
			for end < len(text) && inWord(text[end]) {
				end++
			}
			if end == len(text) || text[end] != '(' {
				out = appendWord(out, string(text[i:end]))
			}
		default:
			out = append(out, ch)
		}
		i = end
	}
	return out
}

func inWord(ch byte) bool {
	return '0' <= ch && ch <= '9' || 'a' <= ch|0x20 && ch|0x20 <= 'z' || ch == '.' || ch == '+' || ch == '-' ||
		ch == '_'
}

// appendWord writes a number as JSON has it, or the word.
func appendWord(out []byte, word string) []byte {
	if json.Valid([]byte(word)) {
		return append(out, word...)
	}
	v, err := strconv.ParseFloat(word, 64)
	switch {
	case strings.EqualFold(word, "-nan"):
		return append(out, `"NaN"`...)
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return append(out, word...)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return strconv.AppendQuote(out, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strconv.AppendFloat(out, v, 'g', -1, 64)
}

// number reads what toJSON writes. What is not finite in C++ is null there.
type number float64

// UnmarshalJSON reads a number, a string that is one, or null.
func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = number(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return errors.New("expected a number")
	}
	*n = number(v)
	return nil
}

// version reads a protocol's, a number or a string.
type version string

// UnmarshalJSON takes both as they are written.
func (v *version) UnmarshalJSON(text []byte) error {
	*v = version(strings.Trim(string(text), `"`))
	return nil
}

// request is the body of one. It lies in the client's buffer until the next one.
type request struct{ c *Client }

// request begins one about the model.
func (c *Client) request() request {
	name, _ := json.Marshal(c.model) // strings always have JSON
	c.body = append(append(c.body[:0], `{"name":`...), name...)
	c.body = append(c.body, `,"config":{}`...)
	return request{c}
}

// input adds weights, as the vectors that the model takes.
func (r request) input(w []float64) request {
	r.c.body = append(r.c.body, `,"input":[`...)
	for i, n := range r.c.inputs {
		if i > 0 {
			r.c.body = append(r.c.body, ',')
		}
		r.c.body = appendVector(r.c.body, w[:n])
		w = w[n:]
	}
	r.c.body = append(r.c.body, ']')
	return r
}

func (r request) index(key string, i int) request {
	r.c.body = strconv.AppendInt(append(r.c.body, `,"`+key+`":`...), int64(i), 10)
	return r
}

func (r request) vector(key string, v []float64) request {
	r.c.body = appendVector(append(r.c.body, `,"`+key+`":`...), v)
	return r
}

func (r request) bytes() []byte {
	r.c.body = append(r.c.body, '}')
	return r.c.body
}

// appendVector writes finite numbers with a point or an exponent, so that no reader takes them for whole numbers.
func appendVector(b []byte, v []float64) []byte {
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		from := len(b)
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
		if !strings.ContainsAny(string(b[from:]), ".e") {
			b = append(b, ".0"...)
		}
	}
	return append(b, ']')
}
