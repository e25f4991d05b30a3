package workplace

import (
	"newtop/models"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/objective"
)

// Team is several processes that train one run together, each with its share of the sums. The session runs in process 0
// alone; the others do what its Linearizations ask for. A team that breaks ends the process. One goroutine at a time
// calls its methods and those of its Linearizations.
type Team interface {
	// Size is how many processes there are, this one included.
	Size() int
	// Describe adds to a run's first event on how many hosts they are, and how they add up.
	Describe(e *event.RunEvent)
	// Prepare has every process prepare what c says, and returns this one's problem. It may settle what c leaves
	// open and no result depends on, as how many threads there are. An error is the first one's that has one. Run does
	// not return before Prepare does.
	Prepare(c *config.Config) (*objective.Problem, error)
	// Bind binds the problem's network to some of its rows in every process. o.Part is for Bind to set.
	Bind(rows objective.Rows, o models.Options) objective.Linearization
}
