package objective

import (
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/models/reduce"
)

// Problem is what is trained: data and a network that fits them. One of several processes has some of the rows; Select
// gets others.
type Problem struct {
	Data    *datasets.Dataset
	Train   Split // the rows as the network takes them: Data's, with what gates look at behind the inputs
	Network *models.Network
	Init    models.Init

	Validation, Test Split

	L2    float64 // λ of the penalty, see penalty.go; 0: none
	Noise float64 // standard deviation of what is added to the inputs of batches; 0: none

	// Elsewhere is the model that another program has; nil: this one has the network and the rows. With it Data and the
	// splits say how many rows there are, and Network is nil.
	Elsewhere Elsewhere

	// Room is how many bytes of rows are read again at once, where this process has fewer of its own; 0: 64 MiB, little
	// enough for any process to have beside its own rows.
	Room int

	load Loader // what rows are read again by
	rowRange
}

// Loader loads the data, or the rows of them that keep picks, the same ones each time.
type Loader func(keep datasets.Keep) (*datasets.Dataset, error)

// Share is the part of the rows that process Rank of Size has: those of its leaves (reduce.Tree).
type Share struct{ Rank, Size int }

// Keep picks the rows that a process needs of all of them and of each of so many parts of the training rows; nil for
// one that has them all. Of fewer rows than there are processes for it picks one, which nobody will look at.
func (s Share) Keep(parts int) datasets.Keep {
	if s.Size == 1 {
		return nil
	}
	return func(sizes datasets.Sizes) (r datasets.Ranges) {
		if reduce.NewTree(sizes[datasets.Train]).Leaves() < s.Size {
			r[datasets.Train] = datasets.Range{Last: 1}
			return r
		}
		for part, rows := range sizes {
			r[part] = s.reach(rows, 1)
		}
		r[datasets.Train] = s.reach(sizes[datasets.Train], parts)
		return r
	}
}

// reach returns the smallest range of rows with all that the process needs of them as a whole and of each of so many
// parts of them.
func (s Share) reach(rows, parts int) datasets.Range {
	if rows == 0 {
		return datasets.Range{}
	}
	var r datasets.Range
	r.First, r.Last = reduce.NewTree(rows).Rows(s.Rank, s.Size)
	if parts == 1 {
		return r
	}
	for i := range min(parts, rows) {
		part := Rows{}.part(i, parts)
		first, last := reduce.NewTree(part.Of(rows)).Rows(s.Rank, s.Size)
		if first < last {
			r = hull(r, datasets.Range{First: part.at(first, rows), Last: part.at(last-1, rows) + 1})
		}
	}
	return r
}

// NewProblem returns the problem of data that load has loaded, or of the part of them that a process keeps.
func NewProblem(data *datasets.Dataset, network *models.Network, start models.Init, share Share, load Loader) *Problem {
	p := &Problem{Data: data, Network: network, Init: start, load: load}
	for part := range datasets.Part(datasets.Parts) {
		s := *data.Split(part)
		if network.Columns() > network.Inputs() && s.Rows() > 0 {
			s.Inputs = beside(s.Inputs, s.Features)
		}
		*p.Split(part) = newSplit(s, network.Precision())
	}
	p.share = share
	if share.Size > 1 {
		p.rowRange = rowRange{share: share, around: [datasets.Parts]Split{p.Train, p.Validation, p.Test}}
		first, last := reduce.NewTree(p.Train.Total()).Rows(share.Rank, share.Size)
		p.Train = cut(&p.Train, first, last)
	}
	return p
}

// Split is a part of the data as the network takes it. X has its inputs and T its targets: Inputs and Targets
// themselves, or what they are in single precision, and then Inputs and Targets, Data's too, say how many there are and
// nothing else.
type Split struct {
	datasets.Split
	X, T models.Matrix
}

// Split returns a part of the rows.
func (p *Problem) Split(part datasets.Part) *Split {
	return [datasets.Parts]*Split{&p.Train, &p.Validation, &p.Test}[part]
}

// NewSplit returns a split in double precision.
func NewSplit(s datasets.Split) Split { return newSplit(s, models.Double) }

// newSplit returns a split in a precision. It rounds the numbers where they lie.
func newSplit(s datasets.Split, p models.Precision) Split {
	if s.Inputs == nil {
		return Split{Split: s} // a part that is not there
	}
	if p == models.Single {
		return Split{s, models.MakeSingle(s.Inputs), models.MakeSingle(s.Targets)}
	}
	return Split{s, s.Inputs, s.Targets}
}

// beside returns the columns of a and behind them those of b.
func beside(a, b *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Augment(a, b)
	return &out
}
