package modelfile

import (
	"encoding/json"
	"fmt"
	"strconv"

	"newtop/internal/safetensors"
	"newtop/models"
)

// The metadata's own keys. All others are Meta's.
const (
	keyVersion   = "newtop" // of the metadata and of the tensors' names
	keyNetwork   = "network"
	keyCommittee = "committee" // how many nets there are
	keyInputs    = "inputs"
	keyOutputs   = "outputs"
	keyClasses   = "classes"
	keyTable     = "table"
	keyResiduals = "residuals"
	keyWeights   = "weights" // an ONNX file only: the tensors as a safetensors file, in base64
)

const version = "1"

// maxText bounds one text of JSON in the metadata.
const maxText = 16 << 20

// network is an architecture in JSON. Layer 0 is the inputs. The sources of sparse connections are tensors. The gates
// of a mixture are those that training began with, which the weights are relative to.
type network struct {
	Inputs      int                 `json:"inputs"`
	Features    int                 `json:"features,omitempty"`
	Loss        models.LossFunction `json:"loss"`
	Layers      []models.Layer      `json:"layers"`
	Connections []connection        `json:"connections"`
	Mixture     *models.Mixture     `json:"mixture,omitempty"`
	Precision   string              `json:"precision,omitempty"` // of passes; empty: float64
}

type connection struct {
	To     int  `json:"to"`
	From   int  `json:"from"`
	Sparse bool `json:"sparse,omitempty"`
	Gate   int  `json:"gate,omitempty"` // from 1; 0: none
}

func describe(of *models.Network) network {
	a := of.Architecture()
	n := network{Inputs: a.Inputs, Features: a.Features, Loss: a.Loss, Layers: a.Layers, Mixture: a.Mixture}
	for _, c := range a.Connections {
		n.Connections = append(n.Connections, connection{To: c.To, From: c.From, Sparse: c.Sources != nil,
			Gate: c.Gate})
	}
	if of.Precision() == models.Single {
		n.Precision = models.Single.String()
	}
	return n
}

// architecture is describe's inverse, but for the sources.
func (n *network) architecture() models.Architecture {
	a := models.Architecture{Inputs: n.Inputs, Features: n.Features, Loss: n.Loss, Layers: n.Layers, Mixture: n.Mixture}
	for _, c := range n.Connections {
		a.Connections = append(a.Connections, models.Connection{To: c.To, From: c.From, Gate: c.Gate})
	}
	return a
}

// metadata returns all about m but the weights.
func (m *Model) metadata() (map[string]string, error) {
	own := map[string]any{
		keyNetwork: describe(m.Network),
		keyInputs:  m.Inputs,
		keyOutputs: m.Outputs,
	}
	if m.Classes != nil {
		own[keyClasses] = m.Classes
	}
	if m.Table != nil {
		own[keyTable] = m.Table
	}
	if m.Residuals != nil {
		own[keyResiduals] = m.Residuals
	}
	out := map[string]string{keyVersion: version, keyCommittee: strconv.Itoa(len(m.Weights)), keyChecksum: keyCRC}
	for key, value := range own {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if len(text) > maxText {
			return nil, fmt.Errorf("%d bytes about the model's %s: expected at most %d", len(text), key, maxText)
		}
		out[key] = string(text)
	}
	for key, value := range m.Meta {
		if _, taken := out[key]; taken || key == keyWeights || key == keyClasses || key == keyTable ||
			key == keyResiduals || key == keyCRC {
			return nil, fmt.Errorf("metadata %q: expected a name that the format does not use itself", key)
		}
		out[key] = value
	}
	return out, nil
}

// reader puts a model together from a file's metadata and tensors.
type reader struct {
	file     string
	metadata map[string]string
	tensors  map[string]*safetensors.Tensor // those that have not been taken
}

func (r *reader) fault(position, found, expected string) error {
	return &FormatError{File: r.file, Position: position, Found: found, Expected: expected}
}

// decode reads the JSON of a key, if it is there.
func (r *reader) decode(key string, into any) error {
	text, ok := r.metadata[key]
	if !ok {
		return nil
	}
	delete(r.metadata, key)
	position := fmt.Sprintf("metadata %q", key)
	if len(text) > maxText {
		return r.fault(position, fmt.Sprintf("%d bytes", len(text)), fmt.Sprintf("at most %d", maxText))
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return r.fault(position, err.Error(), "what newtop writes")
	}
	return nil
}

// fromTensors reads a model. It takes the file's metadata for its own.
func fromTensors(f *safetensors.File, name string) (*Model, error) {
	r := reader{file: name, metadata: f.Metadata, tensors: make(map[string]*safetensors.Tensor, len(f.Tensors))}
	switch v, ok := r.metadata[keyVersion]; {
	case !ok:
		return nil, r.fault("", "no metadata of newtop's", "a model that newtop saved")
	case v != version:
		return nil, r.fault("", fmt.Sprintf("version %.20q", v), "version "+version+": a newer newtop may read it")
	}
	if err := r.verify(f.Tensors); err != nil {
		return nil, err
	}
	for i := range f.Tensors {
		r.tensors[f.Tensors[i].Name] = &f.Tensors[i]
	}
	m := new(Model)
	var n network
	var nets int
	for _, part := range []struct {
		key  string
		into any
	}{{keyNetwork, &n}, {keyCommittee, &nets}, {keyInputs, &m.Inputs}, {keyOutputs, &m.Outputs}, {keyClasses,
		&m.Classes}, {keyTable, &m.Table}, {keyResiduals, &m.Residuals}} {
		if err := r.decode(part.key, part.into); err != nil {
			return nil, err
		}
	}
	if err := r.network(m, &n); err != nil {
		return nil, err
	}
	if err := r.weights(m, nets); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, r.fault("", err.Error(), "a model that newtop saved")
	}
	delete(r.metadata, keyVersion)
	m.Meta = r.metadata
	return m, nil
}
