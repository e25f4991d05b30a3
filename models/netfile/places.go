package netfile

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// positions are the bytes of a document at which its keys and array elements stand, by paths like layer.2.from.0.
// Lines and columns are counted for a fault alone: to count them for every element of long lists of nodes would
// take as many passes over the document.
type positions map[string]int

// locate returns the places of a valid document.
func locate(data []byte) positions {
	var parser unstable.Parser
	parser.Reset(data)
	p := positions{}
	tables := map[string]int{}
	prefix := ""
	for parser.NextExpression() {
		switch e := parser.Expression(); e.Kind {
		case unstable.ArrayTable, unstable.Table:
			key, at := keyOf(e)
			prefix = key
			if e.Kind == unstable.ArrayTable {
				prefix = key + "." + strconv.Itoa(tables[key])
				tables[key]++
			}
			p[prefix] = at
			prefix += "."
		case unstable.KeyValue:
			p.addKey(e, prefix)
		}
	}
	return p
}

func (p positions) addKey(e *unstable.Node, prefix string) {
	key, at := keyOf(e)
	p[prefix+key] = at
	p.addValue(e.Value(), prefix+key)
}

func (p positions) addValue(v *unstable.Node, path string) {
	it := v.Children()
	for i := 0; it.Next(); i++ {
		child := it.Node()
		if child.Kind == unstable.KeyValue {
			p.addKey(child, path+".")
			continue
		}
		element := path + "." + strconv.Itoa(i)
		if child.Raw.Length > 0 {
			p[element] = int(child.Raw.Offset)
		}
		p.addValue(child, element)
	}
}

// keyOf returns the dotted key of a table or a key with value, and where it starts.
func keyOf(e *unstable.Node) (string, int) {
	var parts []string
	at := 0
	for it := e.Key(); it.Next(); {
		if len(parts) == 0 {
			at = int(it.Node().Raw.Offset)
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), at
}

// position returns the line and column of byte at of a document, both from 1.
func position(data []byte, at int) (line, column int) {
	before := data[:at]
	return bytes.Count(before, []byte{'\n'}) + 1, at - bytes.LastIndexByte(before, '\n')
}
