package trainer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"newtop/models"

	"gonum.org/v1/gonum/mat"
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

// takeFingerprint begins to compute the fingerprint of what a run is trained on: a digest of the rows' bits, and one of
// the network but for its weights, sixteen bytes each.
func takeFingerprint(p *Problem) *fingerprint {
	ctx, stop := context.WithCancel(context.Background())
	f := &fingerprint{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(f.done)
		rows := sha256.New()
		for _, m := range []*mat.Dense{p.Train.Inputs, p.Train.Targets, p.Test.Inputs, p.Test.Targets} {
			if !hashMatrix(ctx, rows, m) {
				return
			}
		}
		network := sha256.New()
		describe(network, p.Network)
		f.text = digest(rows) + fingerprintGap + digest(network)
	}()
	return f
}

// fingerprintGap stands between the data and the network.
const fingerprintGap = "-"

func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }

// hashMatrix writes the size of m and a digest of its numbers, unless it is told to stop.
func hashMatrix(ctx context.Context, h hash.Hash, m *mat.Dense) bool {
	if m == nil {
		m = new(mat.Dense)
	}
	rows, columns := m.Dims()
	fmt.Fprintf(h, "%d × %d\n", rows, columns)
	var l lanes
	for i := range rows {
		l.add(m.RawRowView(i))
		if i%1024 == 0 && ctx.Err() != nil {
			return false
		}
	}
	fmt.Fprintf(h, "%x\n", l)
	return true
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
