package render

import (
	"sync"
	"sync/atomic"

	"github.com/charmbracelet/colorprofile"
)

// Shared is a frame that several viewers are shown, with the bytes that turn the shared frames before it into it: they
// are computed for the first viewer who comes from there. Renderers may use it from any goroutine.
type Shared struct {
	frame  Frame
	number uint64 // of all shared frames; 0 is none

	mu      sync.Mutex
	patches map[patchKey][]byte
}

// patchKey tells on what a patch depends besides the frame that it leads to.
type patchKey struct {
	from    uint64 // the number of the frame before, 0 for a terminal that shows nothing
	profile colorprofile.Profile
	plain   bool
}

var sharedFrames atomic.Uint64

// Share returns a frame to be shown to several viewers.
func Share(f Frame) *Shared {
	return &Shared{frame: f, number: sharedFrames.Add(1), patches: map[patchKey][]byte{}}
}

// Frame is the frame on a terminal; another number says that nobody knows what that shows.
func (s *Shared) Frame(again int) Frame {
	f := s.frame
	f.Redraws, f.shared = again, s
	return f
}

// patch returns the bytes of a patch, and has make compute them if nobody has yet.
func (s *Shared) patch(k patchKey, make func() []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.patches[k]
	if !ok {
		p = append([]byte(nil), make()...)
		s.patches[k] = p
	}
	return p
}
