package peer

// mapped is a file in the memory of both sides: newtop writes to its first half and the peer to the second. Each holds
// a vector of weights and has whole pages.
type mapped struct {
	memory []byte
	path   string // by which the peer opens it
	unlink func() // forgets the path, which the peer has opened or will not
	unmap  func()
}

// pageBytes is what halves are multiples of.
const pageBytes = 4096

func (m *mapped) half() int { return len(m.memory) / 2 }

func (m *mapped) ours() []byte { return m.memory[:m.half()] }

// mapSize is how long a file is for vectors of a number of bytes.
func mapSize(vector int64) int64 { return 2 * ((vector + pageBytes - 1) &^ (pageBytes - 1)) }

// read takes a vector from the peer's half.
func (m *mapped) read(dst []float64, name string, v *vectorOf, t dtype) error {
	if err := v.check(name, t, len(dst), int64(m.half()), int64(len(m.memory))); err != nil {
		return err
	}
	decode(dst, m.memory[v.Offsets[0]:v.Offsets[1]], t)
	return nil
}
