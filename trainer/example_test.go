package trainer_test

import (
	"context"
	"fmt"

	"newtop/trainer"
	"newtop/trainer/event"
)

// memory keeps the events and the last checkpoint of a run.
type memory struct {
	events     []event.Event
	checkpoint *trainer.Checkpoint
}

func (m *memory) Record(e event.Event) error {
	m.events = append(m.events, e)
	return nil
}

func (m *memory) Flush() error                     { return nil }
func (m *memory) Due(end bool) bool                { return end }
func (m *memory) Keep(c *trainer.Checkpoint) error { m.checkpoint = c; return nil }
func (m *memory) done() (done event.DoneEvent) {
	for _, e := range m.events {
		if e, ok := e.(event.DoneEvent); ok {
			done = e
		}
	}
	return done
}

// A session trains what a Config says; a recorder hears of all that happens.
func ExampleNew() {
	record := new(memory)
	session, err := trainer.New(trainer.Config{Data: "parity", Hidden: []int{8}, Epochs: 40, Seed: 1}, record)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := session.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	done := record.done()
	fmt.Printf("%d epochs, most rows right: %t\n", done.Epochs, done.Error < 0.1)
	// Output: 40 epochs, most rows right: true
}

// A run goes on from a checkpoint to the same digits as one that was never stopped.
func ExampleResume() {
	config := trainer.Config{Data: "sine", Hidden: []int{5}, Epochs: 8, Seed: 1}
	run := func(s *trainer.Session, err error) {
		if err == nil {
			err = s.Run(context.Background())
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	whole, part, rest := new(memory), new(memory), new(memory)
	run(trainer.New(config, whole))
	config.Epochs = 3
	run(trainer.New(config, part))
	config.Epochs = 8
	run(trainer.Resume(config, part.checkpoint, part.events, rest))
	fmt.Println(rest.done().Epochs, rest.done().Loss == whole.done().Loss)
	// Output: 8 true
}

// A checkpoint is one piece of bytes.
func ExampleCheckpoint() {
	record := new(memory)
	session, err := trainer.New(trainer.Config{Data: "sine", Hidden: []int{5}, Epochs: 3, Seed: 1}, record)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := session.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	file, err := record.checkpoint.MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	var read trainer.Checkpoint
	err = read.UnmarshalBinary(file)
	fmt.Println(read.Epoch, err)
	// Output: 3 <nil>
}

// Prepare loads the data and builds the network of a Config, for what needs no session.
func ExamplePrepare() {
	config := trainer.Config{Data: "sine", Hidden: []int{5}}
	problem, err := trainer.Prepare(&config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(problem.Data.Train.Rows(), "rows,", problem.Network.Dim(), "weights")
	// Output: 400 rows, 16 weights
}

// Errors name fields; whoever calls them otherwise, as a command line does, has them renamed.
func ExampleErrorText() {
	err := (&trainer.Config{Data: "sine", Epochs: -1}).Check()
	fmt.Println(err)
	fmt.Println(trainer.ErrorText(err, func(field string) string { return "the option " + field }))
	// Output:
	// Epochs -1: expected a whole number ≥ 1, or 0 for no limit
	// the option Epochs -1: expected a whole number ≥ 1, or 0 for no limit
}

// A feed shows a run to somebody who watches, and takes commands.
func ExampleSession_Feed() {
	session, err := trainer.New(trainer.Config{Data: "sine", Hidden: []int{5}, Seed: 1}) // which goes on until it is stopped
	if err != nil {
		fmt.Println(err)
		return
	}
	feed := session.Feed()
	defer feed.Close()
	ended := make(chan error)
	go func() { ended <- session.Run(context.Background()) }()
	fmt.Println("stopped:", feed.Do(context.Background(), event.Stop{}))
	fmt.Println("ended:", <-ended)
	// Output:
	// stopped: <nil>
	// ended: <nil>
}
