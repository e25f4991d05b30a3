package remote

import (
	"runtime/debug"
)

// guard is deferred in every goroutine that does what one client asks: what breaks in it ends their connection, and
// neither the run nor the other screens.
func (s *Server) guard(c *client) {
	if v := recover(); v != nil {
		s.log.Error("a session broke", "remote", c.addr, "why", v, "stack", string(debug.Stack()))
		c.end("the session broke")
	}
}
