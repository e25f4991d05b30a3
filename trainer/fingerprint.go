package trainer

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

	"newtop/models"
)

// fingerprint is computed beside the run's beginning.
//
// Its goroutine stores text and closes done, with no text if it was told to stop before; stop may be called at any time
// and any number of times.
type fingerprint struct {
	done chan struct{}
	stop context.CancelFunc
	text string
}

// fingerprintGap stands between the data and the network, and leafwise before data whose digest is made of their leaves'.
// Older checkpoints have one over all rows at a stretch.
const fingerprintGap, leafwise = "-", "leaves."

// takeFingerprint begins to compute the fingerprint of what a run is trained on: a digest of the rows' bits, and one of
// the network but for its weights, sixteen bytes each. That of the rows is made of their leaves' (models.Tree), so
// that it is the same however many processes share them. What a team has to do for it is done at once.
func takeFingerprint(p *Problem, team Team) *fingerprint {
	ctx, stop := context.WithCancel(context.Background())
	f := &fingerprint{done: make(chan struct{}), stop: stop}
	leaves := func(test bool) []byte { return p.digests(ctx, test, 0, 1) }
	if team != nil {
		leaves = team.Digests
	}
	compute := func() {
		defer close(f.done)
		rows := sha256.New()
		for _, test := range []bool{false, true} {
			total := p.Of(Rows{Test: test})
			fmt.Fprintf(rows, "%d × %d, %d\n", total, p.Network.Columns(), p.Network.Outputs())
			if total > 0 {
				rows.Write(leaves(test))
			}
		}
		if ctx.Err() == nil {
			f.text = leafwise + digest(rows) + fingerprintGap + p.NetworkDigest()
		}
	}
	if team == nil {
		go compute()
	} else {
		compute()
	}
	return f
}

func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// NetworkDigest returns a digest of all that a network computes but for its weights.
func (p *Problem) NetworkDigest() string {
	network := sha256.New()
	describe(network, p.Network)
	return digest(network)
}

// Digests returns a digest of each leaf of a split whose rows are process rank's of size, one after another.
func (p *Problem) Digests(test bool, rank, size int) []byte {
	return p.digests(context.Background(), test, rank, size)
}

// digests gives up when ctx ends.
func (p *Problem) digests(ctx context.Context, test bool, rank, size int) []byte {
	s := &p.Train
	if test {
		s = &p.Test
	}
	tree := models.NewTree(s.Total())
	leaf, end := tree.Share(rank, size)
	var out []byte
	for ; leaf < end && ctx.Err() == nil; leaf++ {
		first, last := tree.Rows(leaf, tree.Leaves())
		for _, m := range []*mat.Dense{s.Inputs, s.Targets} {
			var l lanes
			for i := first - s.First; i < last-s.First; i++ {
				l.add(m.RawRowView(i))
			}
			for _, lane := range l {
				out = binary.BigEndian.AppendUint64(out, lane)
			}
		}
	}
	return out
}

// stretch returns the fingerprint as older checkpoints have it.
func (p *Problem) stretch(ctx context.Context) (string, error) {
	rows := sha256.New()
	for _, test := range []bool{false, true} {
		var inputs, targets lanes
		var columns, outputs int
		total := 0
		err := p.walk(test, 1024, func(first int, x, t *mat.Dense) error {
			n, _ := x.Dims()
			for i := range n {
				inputs.add(x.RawRowView(i))
				targets.add(t.RawRowView(i))
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
	return digest(rows) + fingerprintGap + p.NetworkDigest(), nil
}

// agree returns a *CheckpointError unless an expected fingerprint is that of the problem, which f is too.
func (p *Problem) agree(ctx context.Context, expected string, f *fingerprint) error {
	if strings.HasPrefix(expected, leafwise) {
		return compareFingerprints(expected, f.wait())
	}
	found, err := p.stretch(ctx)
	if err != nil {
		return err
	}
	return compareFingerprints(expected, found)
}

// lanes are a digest of the bits of numbers, each of which goes into one of the four, several times as fast as SHA-256.
// What becomes of a lane depends one to one on the number and on the lane before, so that no other number in one place
// leaves it as it was; others in several places do once in 2⁶⁴ times.
type lanes [4]uint64

func (l *lanes) add(v []float64) {
	a, b, c, d := l[0], l[1], l[2], l[3]
	for ; len(v) >= 4; v = v[4:] {
		a, b = mix(a, v[0]), mix(b, v[1])
		c, d = mix(c, v[2]), mix(d, v[3])
	}
	*l = lanes{a, b, c, d}
	for i, x := range v {
		l[i] = mix(l[i], x)
	}
}

func mix(lane uint64, x float64) uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2⁶⁴/φ, odd
	lane ^= math.Float64bits(x)
	return (lane<<29|lane>>35)*golden + 1
}

// describe writes what a network computes with weights that are given, names left out.
func describe(h hash.Hash, n *models.Network) {
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

// wait returns the fingerprint, empty if it was stopped.
func (f *fingerprint) wait() string {
	<-f.done
	return f.text
}
