package event

import "time"

// ResumeEvent says that a run continues after an epoch from its checkpoint, in another process.
type ResumeEvent struct {
	Epoch int       `json:"epoch"`
	Time  time.Time `json:"time"`
}

// SavedEvent says that the weights of an epoch were written to a file that other programs read.
type SavedEvent struct {
	Epoch  int    `json:"epoch"`
	File   string `json:"file"`
	Format string `json:"format"` // "safetensors" or "onnx"
	Bytes  int64  `json:"bytes"`
}

// EventType returns the name that the JSON form carries.
func (ResumeEvent) EventType() string { return "resume" }
func (SavedEvent) EventType() string  { return "saved" }
