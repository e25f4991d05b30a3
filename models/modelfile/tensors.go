package modelfile

import (
	"fmt"
	"maps"
	"slices"

	"newtop/internal/safetensors"
	"newtop/models"
)

// maxCommittee bounds the nets of a committee.
const maxCommittee = 100_000

// The names of tensors. Layers count from 1; from0 is the inputs. A dense weight is [to, from], as in PyTorch's
// Linear. A sparse one is in compressed rows: its values, and for all nets of a committee together the columns and
// where each row begins.
func weightName(b models.Block) string { return fmt.Sprintf("layer%d.from%d.weight", b.To, b.From) }
func biasName(b models.Bias) string    { return fmt.Sprintf("layer%d.bias", b.Layer) }

const gatesName = "gates"

func valuesName(to, from int) string  { return fmt.Sprintf("layer%d.from%d.weight.values", to, from) }
func columnsName(to, from int) string { return fmt.Sprintf("layer%d.from%d.columns", to, from) }
func rowsName(to, from int) string    { return fmt.Sprintf("layer%d.from%d.rows", to, from) }

// netName is what stands before the names of net i of nets.
func netName(i, nets int) string {
	if nets == 1 {
		return ""
	}
	return fmt.Sprintf("nets.%d.", i)
}

// piece is a part of the flat weight vector with the tensor that it becomes.
type piece struct {
	name   string
	shape  []int
	offset int
}

func (p *piece) size() int {
	size := 1
	for _, n := range p.shape {
		size *= n
	}
	return size
}

// pieces returns the parts of a network's weights, which together are all of them.
func pieces(n *models.Network) (list []piece) {
	for _, b := range n.Blocks() {
		if b.Sources != nil {
			list = append(list, piece{valuesName(b.To, b.From), []int{b.Size()}, b.Offset})
		} else {
			list = append(list, piece{weightName(b), []int{b.Rows, b.Cols}, b.Offset})
		}
	}
	for _, b := range n.Biases() {
		list = append(list, piece{biasName(b), []int{b.Nodes}, b.Offset})
	}
	if offset, count := n.Gates(); count > 0 {
		list = append(list, piece{gatesName, []int{count, 3}, offset})
	}
	return list
}

// modelTensors returns the weights of all nets, and the sources of sparse connections.
func modelTensors(m *Model) (list []safetensors.Tensor) {
	for _, b := range m.Network.Blocks() {
		if b.Sources != nil {
			list = append(list, compressed(b)...)
		}
	}
	parts := pieces(m.Network)
	for i, w := range m.Weights {
		for _, p := range parts {
			list = append(list, safetensors.Tensor{
				Name: netName(i, len(m.Weights)) + p.name, Shape: p.shape, Data: w[p.offset:][:p.size()],
			})
		}
	}
	return list
}

// compressed returns where the weights of a sparse block are.
func compressed(b models.Block) []safetensors.Tensor {
	rows, columns := make([]int64, 1, b.Rows+1), make([]int64, 0, b.Size())
	for i := range b.Rows {
		for _, j := range b.Sources.Of(i) {
			columns = append(columns, int64(j))
		}
		rows = append(rows, int64(len(columns)))
	}
	return []safetensors.Tensor{
		{Name: columnsName(b.To, b.From), Shape: []int{len(columns)}, Ints: columns},
		{Name: rowsName(b.To, b.From), Shape: []int{len(rows)}, Ints: rows},
	}
}

// claim returns a tensor of the file, which must have the shape; -1 in it stands for any length.
func (r *reader) claim(name string, shape ...int) (*safetensors.Tensor, error) {
	position := fmt.Sprintf("tensor %q", name)
	t := r.tensors[name]
	if t == nil {
		return nil, r.fault(position, "none", fmt.Sprintf("one with shape %v", shape))
	}
	delete(r.tensors, name)
	if !slices.EqualFunc(t.Shape, shape, func(have, want int) bool { return have == want || want == -1 }) {
		return nil, r.fault(position, fmt.Sprintf("shape %v", t.Shape), fmt.Sprintf("shape %v", shape))
	}
	return t, nil
}

// network makes the network with the sources that the tensors name.
func (r *reader) network(m *Model, n *network) error {
	a := n.architecture()
	for i, c := range n.Connections {
		if !c.Sparse {
			continue
		}
		if c.To < 1 || c.To > len(a.Layers) {
			return r.fault("", fmt.Sprintf("a connection to layer %d", c.To), fmt.Sprintf("1 to %d", len(a.Layers)))
		}
		var err error
		if a.Connections[i].Sources, err = r.sources(c, a.Layers[c.To-1].Nodes); err != nil {
			return err
		}
	}
	var err error
	if m.Network, err = models.NewNetwork(a); err != nil {
		return r.fault("", err.Error(), "a network")
	}
	if n.Precision != "" {
		in, err := models.ParsePrecision(n.Precision)
		if err != nil {
			return r.fault("", fmt.Sprintf("a precision %q", n.Precision), "float64 or float32")
		}
		m.Network = m.Network.In(in)
	}
	return nil
}

func (r *reader) sources(c connection, nodes int) (*models.Sources, error) {
	columns, err := r.claim(columnsName(c.To, c.From), -1)
	if err != nil {
		return nil, err
	}
	rows, err := r.claim(rowsName(c.To, c.From), -1)
	if err != nil {
		return nil, err
	}
	name := rowsName(c.To, c.From)
	if len(rows.Ints) == 0 || len(rows.Ints)-1 != nodes || rows.Ints[0] != 0 ||
		rows.Ints[nodes] != int64(len(columns.Ints)) || !slices.IsSorted(rows.Ints) {
		return nil, r.fault(fmt.Sprintf("tensor %q", name), "other beginnings of rows",
			fmt.Sprintf("%d ascending numbers from 0 to %d", nodes+1, len(columns.Ints)))
	}
	nodeOf := make([]int, len(columns.Ints))
	for k, j := range columns.Ints {
		nodeOf[k] = int(j)
	}
	lists := make([][]int, nodes)
	for i := range lists {
		list := nodeOf[rows.Ints[i]:rows.Ints[i+1]]
		if !slices.IsSorted(list) {
			return nil, r.fault(fmt.Sprintf("tensor %q", columns.Name), fmt.Sprintf("unsorted columns in row %d", i),
				"ascending ones")
		}
		lists[i] = list
	}
	return models.NewSources(lists), nil
}

// weights reads the flat vectors of all nets, and makes sure that nothing is left.
func (r *reader) weights(m *Model, nets int) error {
	parts := pieces(m.Network)
	if nets < 1 || nets > maxCommittee {
		return r.fault(fmt.Sprintf("metadata %q", keyCommittee), fmt.Sprint(nets), fmt.Sprintf("1 to %d", maxCommittee))
	}
	for i := range nets {
		taken := make([]*safetensors.Tensor, len(parts))
		for k := range parts {
			p := &parts[k]
			t, err := r.claim(netName(i, nets)+p.name, p.shape...)
			if err != nil {
				return err
			}
			if t.Ints != nil {
				return r.fault(fmt.Sprintf("tensor %q", t.Name), "whole numbers", "F64")
			}
			taken[k] = t
		}
		// All are there, so that the vector is as large as what was read.
		w := make([]float64, m.Network.Dim())
		for k := range parts {
			copy(w[parts[k].offset:], taken[k].Data)
		}
		m.Weights = append(m.Weights, w)
	}
	if len(r.tensors) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(r.tensors)))
		return r.fault(fmt.Sprintf("tensor %.40q", name), "one of no layer", "those of the network alone")
	}
	return nil
}
