package netfile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"newtop/models"
)

// maxDrawn bounds the nodes and the sources of a connection that a file describes by a density or a window
// (1 GiB of them), so that a slip of the hand ends in an error.
const maxDrawn = 1 << 26

// connections returns what layer i of the file takes from. All layers are known.
func (g *reader) connections(in *layerTable, i int) ([]models.Connection, error) {
	path := layerPath(i) + ".from"
	if in.From == nil {
		return []models.Connection{{To: i + 1, From: i}}, nil
	}
	sources, list := in.From.([]any)
	if !list {
		c, err := g.connection(in.From, path, models.Connection{To: i + 1})
		return []models.Connection{c}, err
	}
	var all []models.Connection
	for k, source := range sources {
		c, err := g.connection(source, path+"."+strconv.Itoa(k), models.Connection{To: i + 1})
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// connection returns c with what one element of a layer's from says, a name or a table.
func (g *reader) connection(source any, path string, c models.Connection) (models.Connection, error) {
	switch source := source.(type) {
	case string:
		return c, g.resolve(&c, source, path)
	case map[string]any:
		return c, g.table(&c, source, path)
	}
	return c, g.fault(path, "no source: expected a layer's name, or a table with one")
}

// resolve stores the layer of that name in c.From.
func (g *reader) resolve(c *models.Connection, name, path string) error {
	from, ok := g.known[name]
	switch {
	case !ok:
		return g.fault(path, "no layer %q: expected %q or the name of an earlier layer", name, inputsName)
	case from >= c.To:
		return g.fault(path, "layer %q does not come earlier: layers can't form a cycle", name)
	}
	c.From = from
	return nil
}

// sourceKeys are what a table in a layer's from may have.
var sourceKeys = []string{"layer", "nodes", "density", "seed", "window"}

// table stores in c what a table says.
func (g *reader) table(c *models.Connection, t map[string]any, path string) error {
	var forms []string
	for key := range t {
		if !slices.Contains(sourceKeys, key) {
			return g.fault(path+"."+key, "unknown key %q: expected %s", key, strings.Join(sourceKeys, ", "))
		}
		if key == "nodes" || key == "density" || key == "window" {
			forms = append(forms, key)
		}
	}
	if len(forms) > 1 {
		slices.Sort(forms)
		return g.fault(path+"."+forms[1], "both %s and %s: expected one of them", forms[0], forms[1])
	}
	name, ok := t["layer"].(string)
	if !ok {
		return g.fault(path+".layer", "a table of sources without the name of a layer: expected layer = %q or another",
			inputsName)
	}
	if err := g.resolve(c, name, path+".layer"); err != nil {
		return err
	}
	if _, ok := t["seed"]; ok && !slices.Contains(forms, "density") {
		return g.fault(path+".seed", "a seed without a density: expected both")
	}
	switch {
	case t["nodes"] != nil:
		return g.listed(c, t["nodes"], path+".nodes")
	case t["density"] != nil:
		return g.drawn(c, t, path)
	case t["window"] != nil:
		return g.windowed(c, t["window"], path+".window")
	}
	return nil
}

// listed stores sources given one by one.
func (g *reader) listed(c *models.Connection, value any, path string) error {
	const message = "no node numbers: expected a list of them for each node, as [[0, 1], [2]]"
	outer, ok := value.([]any)
	if !ok {
		return g.fault(path, message)
	}
	lists := make([][]int, len(outer))
	for i, value := range outer {
		inner, ok := value.([]any)
		if !ok {
			return g.fault(path+"."+strconv.Itoa(i), message)
		}
		for _, value := range inner {
			node, ok := value.(int64)
			if !ok {
				return g.fault(path+"."+strconv.Itoa(i), message)
			}
			lists[i] = append(lists[i], int(node))
		}
	}
	c.Sources = models.NewSources(lists)
	return nil
}

// drawn stores random sources.
func (g *reader) drawn(c *models.Connection, t map[string]any, path string) error {
	density, ok := t["density"].(float64)
	if whole, isWhole := t["density"].(int64); isWhole {
		density, ok = float64(whole), true
	}
	if !ok || !(density > 0 && density <= 1) {
		return g.fault(path+".density", "no density: expected a number above 0, and at most 1")
	}
	seed := int64(1)
	if value, given := t["seed"]; given {
		if seed, ok = value.(int64); !ok {
			return g.fault(path+".seed", "no seed: expected a whole number")
		}
	}
	nodes, from := g.nodes(c.To), g.nodes(c.From)
	count := max(1, int(math.Round(density*float64(from))))
	if err := g.checkDrawn(nodes, from, count, path+".density"); err != nil {
		return err
	}
	pair := uint64(c.To)<<32 | uint64(c.From) // the same seed gives other sources elsewhere
	c.Sources = models.RandomSources(nodes, from, count, rand.New(rand.NewPCG(uint64(seed), pair)))
	return nil
}

// windowed stores windows of neighbours.
func (g *reader) windowed(c *models.Connection, value any, path string) error {
	nodes, from := g.nodes(c.To), g.nodes(c.From)
	width, ok := value.(int64)
	if !ok || width < 1 || width > int64(max(1, from)) {
		return g.fault(path, "no window: expected a number of nodes from 1 to %d", from)
	}
	if err := g.checkDrawn(nodes, from, int(width), path); err != nil {
		return err
	}
	c.Sources = models.WindowSources(nodes, from, int(width))
	return nil
}

func (g *reader) checkDrawn(nodes, from, count int, path string) error {
	if nodes < 1 || from < 1 {
		return g.fault(path, "%d nodes that take from %d: expected at least 1", nodes, from)
	}
	if from > maxDrawn {
		return g.fault(path, "%d nodes to take from: expected at most %d", from, maxDrawn)
	}
	if size := float64(nodes) * float64(count+1); size > maxDrawn {
		return g.fault(path, "%.0f sources of %d nodes: expected at most %d", size, from, maxDrawn)
	}
	return nil
}
