package event

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DataInfo describes the data of a run.
type DataInfo struct {
	Name      string `json:"name"`
	TrainRows int    `json:"train_rows"`
	TestRows  int    `json:"test_rows"`
	// ValidationRows are those that decide; 0: there are none. None of them is among the others, but where each net of
	// a committee has a fold of its own.
	ValidationRows int `json:"validation_rows,omitempty"`
	Inputs         int `json:"inputs"`
	Outputs        int `json:"outputs"`
	Classes        int `json:"classes"` // 0 for regression
	// Standardized says that an RMSE is in standard deviations of the targets, which have different units; else it is
	// in those of the data.
	Standardized bool `json:"standardized,omitempty"`
	// Notes are what was decided about a table for the user, a line each.
	Notes []string `json:"notes,omitempty"`
}

// RMSE names the root mean square error, as it is in.
func (d *DataInfo) RMSE() string {
	if d.Standardized {
		return "standardized RMSE"
	}
	return "RMSE"
}

// ModelInfo describes the network of a run. Layers counts nodes, the inputs first; Connections are
// (to, from) pairs of layers with their number of weights, biases apart. Of a mixture Experts is how many
// equal nets stand side by side in Layers, before the layer that combines them.
type ModelInfo struct {
	Layers      []int            `json:"layers"`
	Activations []string         `json:"activations,omitempty"` // one for each layer after the inputs
	Loss        string           `json:"loss,omitempty"`
	Connections []ConnectionInfo `json:"connections,omitempty"`
	Parameters  int              `json:"parameters"`
	Experts     int              `json:"experts,omitempty"`
	// what has the model, where that is not newtop; its layers are not known
	Program string `json:"program,omitempty"`
	// its tensors; block i stands in events as leading from layer i to layer i + 1
	Blocks []BlockInfo `json:"blocks,omitempty"`
	// the optimizers that it can't be trained by, as another program does not give what they need
	Missing []string `json:"lacks,omitempty"`
}

// BlockInfo is a tensor of weights of a model that another program has.
type BlockInfo struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// Weights is how many weights the tensor has.
func (b *BlockInfo) Weights() int {
	n := 1
	for _, k := range b.Shape {
		n *= k
	}
	return n
}

// ShapeText writes the tensor's shape as 64×1×3×3, that of a scalar as 1.
func (b *BlockInfo) ShapeText() string {
	if len(b.Shape) == 0 {
		return "1"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(b.Shape), " ", "×"), "[]")
}

// Shape writes the layers as 16-70-50-26, those of a mixture as 5 × 16-16-10. Of a model that another program has it
// counts the tensors; it is empty where neither is known.
func (m *ModelInfo) Shape() string {
	switch n := len(m.Blocks); {
	case n == 0 || len(m.Layers) > 0:
	case n == 1:
		return "1 tensor"
	default:
		return fmt.Sprintf("%d tensors", n)
	}
	layers, prefix := m.Layers, ""
	if each := len(layers) - 2; m.Experts > 0 && each >= m.Experts {
		layers = layers[:1+each/m.Experts]
		prefix = fmt.Sprintf("%d × ", m.Experts)
	}
	return prefix + strings.Trim(strings.ReplaceAll(fmt.Sprint(layers), " ", "-"), "[]")
}

// ConnectionInfo is one block of weights.
type ConnectionInfo struct {
	To      int `json:"to"`
	From    int `json:"from"`
	Weights int `json:"weights"`
}

// Digits is raised when programs from then on compute other bits than those before, from the same seed by the same
// kernel. Since 2 batches are summed up in other parts.
const Digits = 2

// RunEvent opens a run.
type RunEvent struct {
	Version   int            `json:"version"`
	ID        string         `json:"id"`
	Time      time.Time      `json:"time"`
	Data      DataInfo       `json:"data"`
	Model     ModelInfo      `json:"model"`
	Optimizer string         `json:"optimizer"`
	Settings  map[string]any `json:"settings"`
	Seed      uint64         `json:"seed"`
	Committee int            `json:"committee,omitempty"` // nets, of this seed and the following; 0 for one
	Threads   int            `json:"threads,omitempty"`
	Ranks     int            `json:"ranks,omitempty"` // processes that train together; 0 for one
	Hosts     int            `json:"hosts,omitempty"` // on how many machines, where there are several ranks
	// Reduce says how sums over ranks are added up: "fast"; empty: in the fixed order of one process.
	Reduce    string `json:"reduce,omitempty"`
	Precision string `json:"precision,omitempty"` // of passes: "float32"; empty: float64
	// the machine code that computes; runs of one kernel have the same digits
	Kernel string `json:"kernel,omitempty"`
	Digits int    `json:"digits,omitempty"` // Digits of the program that began it; 0: 1
	Batch  int    `json:"batch,omitempty"`
	Epochs int    `json:"epochs,omitempty"` // the limit; 0 for none
	Unit   string `json:"unit,omitempty"`   // what another program counts where its epochs are none: "step"
	// Axes are what metrics of another program are counted by that are not counted as epochs are, by their keys.
	Axes map[string]string `json:"axes,omitempty"`
}

// Counted is what the run counts, "epoch" or "step".
func (r *RunEvent) Counted() string {
	if r != nil && r.Unit == "step" {
		return r.Unit
	}
	return "epoch"
}

// Seeds writes the seed, of a committee the first and the last.
func (e *RunEvent) Seeds() string {
	if e.Committee > 1 {
		return fmt.Sprintf("seeds %d to %d", e.Seed, e.Seed+uint64(e.Committee)-1)
	}
	return fmt.Sprintf("seed %d", e.Seed)
}

// SettingsText writes the hyperparameters that the run began with, in the order of their names.
func (r *RunEvent) SettingsText() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		text := fmt.Sprint(r.Settings[key])
		if v, ok := r.Settings[key].(float64); ok {
			text = strconv.FormatFloat(v, 'g', -1, 64)
		}
		parts = append(parts, key+"="+text)
	}
	return strings.Join(parts, " ")
}
