package models

import (
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// locate returns where in a valid document every key and array element stands, by a path like
// layer.2.from.0.
func locate(data []byte) map[string]unstable.Position {
	var p unstable.Parser
	p.Reset(data)
	places := map[string]unstable.Position{}
	tables := map[string]int{}
	prefix := ""
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.ArrayTable, unstable.Table:
			key, at := keyOf(&p, e)
			prefix = key
			if e.Kind == unstable.ArrayTable {
				prefix = key + "." + strconv.Itoa(tables[key])
				tables[key]++
			}
			places[prefix] = at
			prefix += "."
		case unstable.KeyValue:
			locateKey(places, &p, e, prefix)
		}
	}
	return places
}

func locateKey(places map[string]unstable.Position, p *unstable.Parser, e *unstable.Node, prefix string) {
	key, at := keyOf(p, e)
	places[prefix+key] = at
	locateValue(places, p, e.Value(), prefix+key)
}

func locateValue(places map[string]unstable.Position, p *unstable.Parser, v *unstable.Node, path string) {
	it := v.Children()
	for i := 0; it.Next(); i++ {
		child := it.Node()
		if child.Kind == unstable.KeyValue {
			locateKey(places, p, child, path+".")
			continue
		}
		element := path + "." + strconv.Itoa(i)
		if child.Raw.Length > 0 {
			places[element] = p.Shape(child.Raw).Start
		}
		locateValue(places, p, child, element)
	}
}

// keyOf returns the dotted key of a table or a key with value, and where it starts.
func keyOf(p *unstable.Parser, e *unstable.Node) (string, unstable.Position) {
	var parts []string
	var at unstable.Position
	for it := e.Key(); it.Next(); {
		if len(parts) == 0 {
			at = p.Shape(it.Node().Raw).Start
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), at
}
