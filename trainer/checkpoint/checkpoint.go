// Package checkpoint has what a run hands to its recorders: events, and checkpoints to resume from.
package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"newtop/internal/safetensors"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// Checkpoint is a run between two outer iterations, with all that decides how it continues: weights, the methods'
// memories and settings, random numbers, what has been spent, and what the metrics are held against. It shares
// nothing with the run.
type Checkpoint struct {
	Epoch int // finished outer iterations
	// Fingerprint tells the data and the network apart from others: a run continues with the same ones only.
	Fingerprint string
	// Behind is how many events a Keeper was handed since the run was so: 0, but for one that was kept when the run
	// ended within its next outer iteration.
	Behind int

	Vectors map[string][]float64
	Numbers map[string]float64
	Texts   map[string]string
}

// Keeper is a Recorder that keeps checkpoints too.
type Keeper interface {
	Recorder
	// Due reports whether it wants a checkpoint of the run as it is now. The session's goroutine asks after every
	// epoch, the starting weights being the first, and when the run ends, so that it must not wait for anything. What
	// it asks for is as large as the weights several times over and waits in memory until Keep has it. A run
	// that a switch, a setting, a rewind or a race has changed is kept before it continues, whatever Due says.
	Due(end bool) bool
	// Keep is called like Record, in the order of the events.
	Keep(*Checkpoint) error
}

// Reporter is a Recorder that says how it is doing. The session's goroutine asks, so that it must not wait.
type Reporter interface{ Recording() event.Recording }

// CheckpointError says why a checkpoint can't be resumed from.
type CheckpointError struct{ Reason string }

func (e *CheckpointError) Error() string { return "checkpoint: " + e.Reason }

// Damaged returns a *CheckpointError with a reason in the format of fmt.Printf.
func Damaged(format string, args ...any) error {
	return &CheckpointError{Reason: fmt.Sprintf(format, args...)}
}

// A checkpoint's file has one tensor for every array, but for those that equal another one, and one for all numbers,
// since JSON has no infinities. Its metadata are texts:
//
//	format, version        checkpointFormat and checkpointVersion
//	epoch, fingerprint     the fields
//	numbers                the names of the numbers in the tensor of that name, a JSON array
//	same                   arrays that equal a tensor, name → tensor, a JSON object
//	texts                  name → text, a JSON object
//	sum                    a checksum of all that and of the tensors, so that no damage goes unseen into the weights
const (
	checkpointFormat  = "newtop checkpoint"
	checkpointVersion = "1"
	numbersTensor     = "numbers"
	sumKey            = "sum"
)

// MarshalBinary returns the checkpoint as one piece, a safetensors file.
func (c *Checkpoint) MarshalBinary() ([]byte, error) {
	f := safetensors.File{Metadata: map[string]string{
		"format": checkpointFormat, "version": checkpointVersion,
		"epoch": strconv.Itoa(c.Epoch), "fingerprint": c.Fingerprint,
	}}
	same := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Vectors)) {
		v := c.Vectors[name]
		i := slices.IndexFunc(f.Tensors, func(t safetensors.Tensor) bool {
			return slices.EqualFunc(
				t.Data, v, identical)
		})
		if i >= 0 {
			same[name] = f.Tensors[i].Name
			continue
		}
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Shape: []int{len(v)}, Data: v})
	}
	names := slices.Sorted(maps.Keys(c.Numbers))
	numbers := make([]float64, len(names))
	for i, name := range names {
		numbers[i] = c.Numbers[name]
	}
	f.Tensors = append(f.Tensors, safetensors.Tensor{Name: numbersTensor, Shape: []int{len(numbers)}, Data: numbers})
	for name, v := range map[string]any{"numbers": names, "same": same, "texts": c.Texts} {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("trainer: encoding a checkpoint: %w", err)
		}
		f.Metadata[name] = string(text)
	}
	f.Metadata[sumKey] = checksum(&f)
	var out bytes.Buffer
	if err := safetensors.Encode(&out, &f); err != nil {
		return nil, fmt.Errorf("trainer: encoding a checkpoint: %w", err)
	}
	return out.Bytes(), nil
}

// checksum returns that of a checkpoint's file.
func checksum(f *safetensors.File) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(f.Metadata)) {
		if key != sumKey {
			fmt.Fprintf(h, "%q %q\n", key, f.Metadata[key])
		}
	}
	for _, t := range safetensors.Sorted(f.Tensors) {
		var l objective.BitHash
		l.Add(t.Data)
		fmt.Fprintf(h, "%q %d %x\n", t.Name, len(t.Data), l)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// identical reports whether two numbers have the same bits.
func identical(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// UnmarshalBinary reads what MarshalBinary wrote. It returns a *CheckpointError for anything else, and allocates no
// more than a few times the text.
func (c *Checkpoint) UnmarshalBinary(text []byte) error {
	f, err := safetensors.Decode(text, "checkpoint")
	if format := new(safetensors.FormatError); errors.As(err, &format) {
		return Damaged("offset %d: found %s, expected %s", format.Offset, format.Found, format.Expected)
	}
	if err != nil {
		return &CheckpointError{Reason: err.Error()}
	}
	header := f.Metadata
	if header["format"] != checkpointFormat {
		return Damaged("a file of format %q: expected %q", header["format"], checkpointFormat)
	}
	if header["version"] != checkpointVersion {
		return Damaged("of version %q: expected %q", header["version"], checkpointVersion)
	}
	if sum := checksum(f); header[sumKey] != sum {
		return Damaged("damaged: found the checksum %s, expected %q", sum, header[sumKey])
	}
	epoch, err := strconv.Atoi(header["epoch"])
	if err != nil || epoch < 0 {
		return Damaged("epoch %q: expected a whole number ≥ 0", header["epoch"])
	}
	out := Checkpoint{Epoch: epoch, Fingerprint: header["fingerprint"], Vectors: map[string][]float64{},
		Numbers: map[string]float64{}}
	var names []string
	var same map[string]string
	for name, v := range map[string]any{"numbers": &names, "same": &same, "texts": &out.Texts} {
		if err := json.Unmarshal([]byte(header[name]), v); err != nil {
			return Damaged("its %s are no JSON: %v", name, err)
		}
	}
	for _, t := range f.Tensors {
		if t.Data == nil && len(t.Ints) > 0 {
			return Damaged("tensor %q has integers: expected floating-point numbers", t.Name)
		}
		out.Vectors[t.Name] = t.Data
	}
	numbers := out.Vectors[numbersTensor]
	delete(out.Vectors, numbersTensor)
	if len(numbers) != len(names) {
		return Damaged("%d numbers with %d names: expected as many", len(numbers), len(names))
	}
	for i, name := range names {
		out.Numbers[name] = numbers[i]
	}
	for name, of := range same {
		v, ok := out.Vectors[of]
		if !ok {
			return Damaged("%q is to equal %q, which is not there", name, of)
		}
		out.Vectors[name] = v
	}
	*c = out
	return nil
}

// Weights returns those of each net that is trained, which are not to be changed. It returns a *CheckpointError unless
// there are that many of each.
func (c *Checkpoint) Weights(dim int) ([][]float64, error) {
	nets := 0
	k := c.OpenArchive()
	k.Count("nets", &nets, MaxCommittee)
	var out [][]float64
	for i := 0; i < nets && k.Err() == nil; i++ {
		var w []float64
		k.In(NetKey(i)).Vector("weights", &w, dim)
		out = append(out, w)
	}
	if err := k.Err(); err != nil {
		return nil, &CheckpointError{Reason: err.Error()}
	}
	return out, nil
}

// spectrumOwed is the name of the number that a checkpoint has which was taken before the spectrum of its epoch.
const spectrumOwed = "spectrum owed"

// OweSpectrum notes that the spectrum of the epoch is still to be computed.
func (c *Checkpoint) OweSpectrum() { c.Numbers[spectrumOwed] = 1 }

// OwesSpectrum reports whether it is.
func (c *Checkpoint) OwesSpectrum() bool { return c.Numbers[spectrumOwed] == 1 }

// NetKey is the part of a checkpoint that is a net's own.
func NetKey(i int) string { return fmt.Sprint("net ", i) }

// OpenArchive returns what gives the checkpoint's content.
func (c *Checkpoint) OpenArchive() *optim.Archive {
	return optim.OpenArchive(c.Vectors, c.Numbers, c.Texts)
}

// MaxCommittee bounds the nets of a committee.
const MaxCommittee = 1000
