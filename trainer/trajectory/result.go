package trajectory

import (
	"strconv"
	"strings"
	"time"

	"newtop/internal/version"
	"newtop/models/modelfile"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/workplace"
)

// Result is what a session keeps of its run for those who save it later.
type Result struct {
	Model *modelfile.Model
	Epoch int
}

// Write writes the weights to a file.
func (f *Result) Write(file string) (e event.SavedEvent, err error) {
	e = event.SavedEvent{Epoch: f.Epoch, File: file}
	if e.Format, err = modelfile.Format(file); err != nil {
		return e, err
	}
	err = checkpoint.GuardPanics(func() error {
		e.Bytes, err = modelfile.Write(file, f.Model)
		return err
	})
	return e, err
}

// WriteExternal writes the weights of a model that another program has, which does not need to be there.
func (f *Result) WriteExternal(c *config.Config, from *checkpoint.Checkpoint, run *event.RunEvent,
	file string) (event.SavedEvent, error) {
	if run == nil {
		return event.SavedEvent{}, &checkpoint.CheckpointError{
			Reason: "the names of its tensors are not known: expected the run's first event"}
	}
	weights, err := effectiveAt(from, run.Model.Parameters, c.Average)
	if err != nil {
		return event.SavedEvent{}, err
	}
	last, err := metricsOf(from, "last")
	if err != nil {
		return event.SavedEvent{}, err
	}
	meta, err := CheckpointProvenance(c, from, last, run)
	if err != nil {
		return event.SavedEvent{}, err
	}
	meta["data"], meta["version"] = run.Data.Name, version.Program()
	f.Model = &modelfile.Model{Weights: weights, Meta: meta}
	for _, b := range run.Model.Blocks {
		f.Model.Tensors = append(f.Model.Tensors, modelfile.Tensor(b))
	}
	return f.Write(file)
}

// CheckpointProvenance says of weights in a checkpoint, which have such metrics, where they come from; run may be nil.
func CheckpointProvenance(c *config.Config, from *checkpoint.Checkpoint, metrics *event.EpochEvent,
	run *event.RunEvent) (map[string]string,
	error) {
	optimizer, id := "", ""
	k := from.OpenArchive()
	k.Text("optimizer", &optimizer)
	if err := k.Err(); err != nil {
		return nil, &checkpoint.CheckpointError{Reason: err.Error()}
	}
	if run != nil {
		id = run.ID
	}
	return provenance(c, id, optimizer, metrics.Epoch, metrics), nil
}

// provenance says of weights where they come from, and how good they were.
func provenance(c *config.Config, run, optimizer string, epoch int, metrics *event.EpochEvent) map[string]string {
	meta := map[string]string{
		"optimizer": optimizer, "epoch": strconv.Itoa(epoch), "seed": strconv.FormatUint(c.Seed, 10),
		"time": time.Now().UTC().Format(time.RFC3339),
	}
	for key, text := range map[string]string{"run": run, "test": c.Test} {
		if text != "" {
			meta[key] = text
		}
	}
	quality, of := "test_error", metrics.TestError
	if !of.Finite() {
		quality, of = "test_rmse", metrics.TestRMSE
	}
	for key, v := range map[string]event.Float{"loss": metrics.Loss, quality: of} {
		if v.Finite() {
			meta[key] = strconv.FormatFloat(float64(v), 'g', -1, 64)
		}
	}
	return meta
}

// DescribeModel describes weights with what their users need to know of the data.
func DescribeModel(p *objective.Problem, weights [][]float64, meta map[string]string) *modelfile.Model {
	var residuals [][][]float64
	if j := p.Joint; j != nil {
		residuals = j.Residuals(weights)
		joint := make([][]float64, len(weights))
		for k, w := range weights {
			joint[k] = j.WeightsOf(k, w)
		}
		p, weights = j.Problem, joint
	}
	data := p.Data
	m := &modelfile.Model{Network: p.Network, Weights: weights, Classes: data.Classes, Residuals: residuals, Meta: meta}
	meta["data"], meta["version"] = data.Name, version.Program()
	if external, ok := p.External.(*workplace.ExternalModel); ok {
		for _, b := range external.About().Blocks {
			m.Tensors = append(m.Tensors, modelfile.Tensor(b))
		}
		return m
	}
	if positive := data.Positive(); positive != "" {
		meta["positive"] = positive
	}
	if t := data.Table; t != nil {
		meta["target"], meta["target_column"] = t.Target, strconv.Itoa(t.TargetColumn)
		for key, text := range map[string]string{"header": t.Header, "missing": t.Missing, "decimal": t.Decimal,
			"thousands": t.Thousands, "target_na": strings.Join(t.TargetNA, "|"),
			"target_numerals": t.TargetNumerals} {
			if text != "" {
				meta[key] = text
			}
		}
		if t.TargetNumbers {
			meta["target_numbers"] = "yes"
		}
		for _, f := range t.Fields {
			m.Table = append(m.Table, modelfile.Field(f))
		}
	}
	for j, name := range data.InputNames {
		m.Inputs = append(m.Inputs, modelfile.Column{Name: name, Offset: data.InputScaling.Offset[j],
			Scale: data.InputScaling.Scale[j]})
	}
	if p.Network.Columns() > p.Network.Inputs() {
		for _, f := range data.Features {
			m.Inputs = append(m.Inputs, modelfile.Column{Name: f.Name, Scale: 1})
		}
	}
	for j, name := range data.TargetNames {
		m.Outputs = append(m.Outputs, modelfile.Column{Name: name, Offset: data.TargetScaling.Offset[j],
			Scale: data.TargetScaling.Scale[j]})
	}
	return m
}
