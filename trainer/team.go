package trainer

import (
	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// Team is several processes that train one run together, each on its own rows. The session runs in process 0 alone; the
// others do what its Linearizations ask for. A team that breaks ends the process. One goroutine at a time calls its methods
// and those of its Linearizations.
type Team interface {
	// Size is how many processes there are, this one included.
	Size() int
	// Describe adds to a run's first event on how many hosts they are, and how they add up.
	Describe(e *event.RunEvent)
	// Prepare has every process prepare its part of what c says, and returns this one's. It may settle what c leaves open and
	// no result depends on, as how many threads there are. An error is the first one's that has one. Run does not return before Prepare does.
	Prepare(c *Config) (*objective.Problem, error)
	// Bind binds the problem's network to some of its rows in every process. o.Part is for Bind to set.
	Bind(rows objective.Rows, o models.Options) objective.Linearization
	// Digests returns all processes' Digests of a split, in order.
	Digests(test bool) []byte
}

// With has the session train in a team. It is called before Run. A team of one is none.
//
// The figures, decisions and checkpoints of a run are then what they are in one process, to the bit if the team adds up
// in the order of reduce.Tree, and any number of processes can go on from a checkpoint. What was spent is too, as long as
// Config.Memory, which each process may use, is enough to keep all passes, or too little for any. Batches of some of the
// rows, methods that solve for layers, committees and mixtures are refused.
func (s *Session) With(t Team) {
	if t.Size() > 1 {
		s.team = t
	}
}
