package objective

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/internal/routine"
	"newtop/models"
	"newtop/models/reduce"
)

// Fingerprint is computed beside a run's beginning.
//
// Its goroutine stores text and closes done, with no text if it was told to stop before; Stop may be called at any time
// and any number of times.
type Fingerprint struct {
	Stop context.CancelFunc
	done chan struct{}
	text string
}

// fingerprintGap stands between the data and the network, and leafPrefix before data whose digest is made of their
// leaves'. Older checkpoints have one over all rows at a stretch.
const fingerprintGap, leafPrefix = "-", "leaves."

// externalPrefix stands before the digest of a model that another program has.
const externalPrefix = "elsewhere."

// StartFingerprint begins to compute the fingerprint of a problem: a digest of the rows' bits, and one of the network
// but for its weights, sixteen bytes each. That of the rows is made of their leaves' (reduce.Tree).
func StartFingerprint(p *Problem) *Fingerprint {
	ctx, stop := context.WithCancel(context.Background())
	f := &Fingerprint{done: make(chan struct{}), Stop: stop}
	if p.External != nil {
		f.text = externalPrefix + p.External.Digest()
		close(f.done)
		return f
	}
	routine.Go(func() {
		defer close(f.done)
		rows := sha256.New()
		for _, part := range []datasets.Part{datasets.Train, datasets.Test, datasets.Validation} {
			total := p.Of(Rows{Part: part})
			if total == 0 && part == datasets.Validation {
				continue // as it was when there were none
			}
			fmt.Fprintf(rows, "%d × %d, %d\n", total, p.Network.Columns(), p.Network.Outputs())
			if total > 0 {
				rows.Write(leafDigests(ctx, p.Split(part)))
			}
		}
		if ctx.Err() == nil {
			f.text = leafPrefix + digest(rows) + fingerprintGap + NetworkDigest(p.Network)
		}
	})
	return f
}

// Done is closed once the fingerprint is there, or was stopped.
func (f *Fingerprint) Done() <-chan struct{} { return f.done }

// Wait returns the fingerprint, empty if it was stopped.
func (f *Fingerprint) Wait() string {
	<-f.done
	return f.text
}

func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// NetworkDigest returns a digest of all that a network computes but for its weights.
func NetworkDigest(n *models.Network) string {
	network := sha256.New()
	describeNetwork(network, n)
	return digest(network)
}

// leafDigests returns a digest of each leaf of a split, one after another. It gives up when ctx ends.
func leafDigests(ctx context.Context, s *Split) []byte {
	tree := reduce.NewTree(s.Rows())
	var out []byte
	for leaf := 0; leaf < tree.Leaves() && ctx.Err() == nil; leaf++ {
		first, last := tree.Rows(leaf, tree.Leaves())
		for _, m := range []models.Matrix{s.X, s.T} {
			var l BitHash
			_, columns := m.Dims()
			row := make([]float64, columns)
			for i := first; i < last; i++ {
				models.RowTo(row, m, i)
				l.Add(row)
			}
			for _, lane := range l {
				out = binary.BigEndian.AppendUint64(out, lane)
			}
		}
	}
	return out
}

// olderFingerprint returns the fingerprint as older checkpoints have it.
func olderFingerprint(ctx context.Context, p *Problem) (string, error) {
	rows := sha256.New()
	for _, part := range []datasets.Part{datasets.Train, datasets.Test} {
		var inputs, targets BitHash
		var columns, outputs int
		total := 0
		err := p.Walk(part, 1024, func(first int, x, t *mat.Dense) error {
			n, _ := x.Dims()
			for i := range n {
				inputs.Add(x.RawRowView(i))
				targets.Add(t.RawRowView(i))
			}
			columns, outputs, total = p.Network.Columns(), p.Network.Outputs(), first+n
			return ctx.Err()
		})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(rows, "%d × %d\n%x\n", total, columns, inputs)
		fmt.Fprintf(rows, "%d × %d\n%x\n", total, outputs, targets)
	}
	return digest(rows) + fingerprintGap + NetworkDigest(p.Network), nil
}

// Differs says what of a problem, whose fingerprint is f, is not as it was when the expected one was taken; empty:
// nothing. The error is the context's.
func (f *Fingerprint) Differs(ctx context.Context, p *Problem, expected string) (what string, err error) {
	var found string
	if strings.HasPrefix(expected, leafPrefix) || p.External != nil {
		found = f.Wait()
	} else if found, err = olderFingerprint(ctx, p); err != nil {
		return "", err
	}
	if expected == found {
		return "", nil
	}
	if strings.HasPrefix(expected, externalPrefix) || p.External != nil {
		return fmt.Sprintf("the model or its data are not those of the run: found fingerprint %s, expected %s", found,
			expected), nil
	}
	rows, network, _ := strings.Cut(expected, fingerprintGap)
	rowsNow, networkNow, _ := strings.Cut(found, fingerprintGap)
	if rows != rowsNow {
		return fmt.Sprintf("the data are not those of the run: found fingerprint %s, expected %s", rowsNow, rows), nil
	}
	return fmt.Sprintf("the network is not that of the run: found fingerprint %s, expected %s", networkNow, network),
		nil
}

// BitHash are a digest of the bits of numbers, each of which goes into one of the four, several times as fast as
// SHA-256. What becomes of a lane depends one to one on the number and on the lane before, so that no other number in
// one place leaves it as it was; others in several places do once in 2⁶⁴ times.
type BitHash [4]uint64

// Add takes in more numbers.
func (l *BitHash) Add(v []float64) {
	a, b, c, d := l[0], l[1], l[2], l[3]
	for ; len(v) >= 4; v = v[4:] {
		a, b = mix(a, v[0]), mix(b, v[1])
		c, d = mix(c, v[2]), mix(d, v[3])
	}
	*l = BitHash{a, b, c, d}
	for i, x := range v {
		l[i] = mix(l[i], x)
	}
}

func mix(lane uint64, x float64) uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2⁶⁴/φ, odd
	lane ^= math.Float64bits(x)
	return (lane<<29|lane>>35)*golden + 1
}

// describeNetwork writes what a network computes with weights that are given, names left out.
func describeNetwork(h hash.Hash, n *models.Network) {
	a := n.Architecture()
	fmt.Fprintf(h, "inputs %d features %d loss %v weights %d\n", a.Inputs, a.Features, a.Loss, n.Dim())
	for _, l := range a.Layers {
		fmt.Fprintf(h, "layer %d %v\n", l.Nodes, l.Activation)
	}
	for _, c := range a.Connections {
		fmt.Fprintf(h, "connection %d %d gate %d\n", c.To, c.From, c.Gate)
	}
	for _, b := range n.Blocks() {
		fmt.Fprintf(h, "block %d %d at %d\n", b.To, b.From, b.Offset)
		if b.Sources == nil {
			continue
		}
		for i := range b.Sources.Nodes() {
			fmt.Fprintf(h, "%d\n", b.Sources.Of(i))
		}
	}
	if m := a.Mixture; m != nil {
		fmt.Fprintf(h, "mixture of %d feature %d period %v\n", len(m.Gates), m.Feature, m.Period)
	}
}
