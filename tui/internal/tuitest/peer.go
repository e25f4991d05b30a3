package tuitest

import (
	"fmt"
	"math"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// ConvNet are the tensors of a small network of convolutions.
var ConvNet = []event.BlockInfo{
	{Name: "0.weight", Shape: []int{8, 1, 3, 3}}, {Name: "0.bias", Shape: []int{8}},
	{Name: "3.weight", Shape: []int{16, 8, 3, 3}},
	{Name: "3.bias", Shape: []int{16}}, {Name: "7.weight", Shape: []int{10, 784}}, {Name: "7.bias", Shape: []int{10}},
}

// Transformer has the tensors of that many layers, five each, between embeddings and a head.
func Transformer(layers int) []event.BlockInfo {
	all := []event.BlockInfo{{Name: "wte.weight", Shape: []int{512, 64}}, {Name: "wpe.weight", Shape: []int{128, 64}}}
	for i := range layers {
		for _, b := range []event.BlockInfo{
			{Name: "ln.weight", Shape: []int{64}}, {Name: "attn.qkv.weight", Shape: []int{192, 64}},
			{Name: "attn.proj.weight", Shape: []int{64, 64}},
			{Name: "mlp.up.weight", Shape: []int{256, 64}}, {Name: "mlp.down.weight", Shape: []int{64, 256}},
		} {
			b.Name = fmt.Sprintf("h.%d.%s", i, b.Name)
			all = append(all, b)
		}
	}
	return append(all, event.BlockInfo{Name: "head.weight", Shape: []int{512, 64}})
}

// PeerRun is a run of a model that another program has, of such tensors: it has losses and what methods tell, but
// neither errors nor root mean squares nor known rows.
func PeerRun(epochs int, blocks []event.BlockInfo) []feed.Delta {
	deltas := NewRun(Script{Epochs: epochs, Spectra: true})
	run := *deltas[0].Run
	run.Data = event.DataInfo{Name: "model.py"}
	run.Model = event.ModelInfo{Loss: "xent", Program: "PyTorch 2.4.0, CPU", Blocks: blocks,
		Missing: []string{"tr-gn", "tr-gn-jacobi", "adam", "bpls"}}
	for i := range blocks {
		run.Model.Parameters += blocks[i].Weights()
	}
	deltas[0].Run = &run
	for i := range deltas {
		for j := range deltas[i].Epochs {
			e := &deltas[i].Epochs[j]
			e.Error, e.TestError, e.RMSE, e.TestRMSE, e.TestLoss = NaN, NaN, NaN, NaN, NaN
			e.Blocks = peerNorms(e, blocks)
		}
	}
	return deltas
}

// peerNorms make the gradients of early tensors small and the steps of late ones large.
func peerNorms(e *event.EpochEvent, blocks []event.BlockInfo) (norms []event.BlockNorms) {
	for i := range blocks {
		size := math.Sqrt(float64(blocks[i].Weights()))
		part := float64(i+1) / float64(len(blocks))
		n := event.BlockNorms{To: i + 1, From: i, Weight: event.Float(0.1 * size),
			Gradient: event.Float(math.Pow(10, 3*part-4)),
			Step:     event.Float(size * math.Pow(10, 2*part-3.5) * (1 + 0.3*math.Sin(float64(7*i+e.Epoch))))}
		if e.Epoch == 0 {
			n.Step = NaN
		}
		norms = append(norms, n)
	}
	return norms
}
