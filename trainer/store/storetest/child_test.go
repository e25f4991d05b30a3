package storetest

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/sqlfile"
	"newtop/trainer/store/upkeep"
	"newtop/trainer/stream"
)

// childEnv names what a child process does instead of the tests; its value is a JSON child.
const childEnv = "NEWTOP_STORE_TEST_CHILD"

// child is a process that trains and records.
type child struct {
	Path   string
	Config trainer.Config
	New    bool   // begin a run where there are others, and print nothing of it
	Limit  uint64 // of a file's size until the first warning; 0: none
	Lock   bool   // lock Path for writing, print a line and wait
	From   string // merge this store into Path, and nothing else
}

func TestMain(m *testing.M) {
	text := os.Getenv(childEnv)
	if text == "" {
		goleak.VerifyTestMain(m)
		return
	}
	var c child
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		err = c.train()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// train begins a run in a store that has none, or goes on with the one that is there. It prints every epoch that the
// store has, after it can be read there, and at last the line end.
func (c *child) train() error {
	ctx := context.Background()
	lift, err := c.limit()
	if err != nil {
		return err
	}
	s, err := store.Open(c.Path, sqlfile.Options{})
	if err == nil && c.Lock {
		return s.Change(ctx, func(context.Context, *sql.Conn) error {
			fmt.Println("locked")
			time.Sleep(time.Minute)
			return nil
		})
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if c.From != "" {
		fmt.Println("merging")
		_, err := upkeep.Merge(ctx, s, c.From)
		return err
	}
	runs, err := s.Runs(ctx, store.Filter{})
	if err != nil {
		return err
	}
	var r *recorder.Recorder
	var session *trainer.Session
	if len(runs) == 0 || c.New {
		r = recorder.New(s, recorder.About{Config: c.Config})
		session, err = trainer.New(c.Config, r)
	} else {
		if r, err = recorder.Continue(ctx, s, runs[0].ID); err != nil {
			return err
		}
		rest, problem := recorder.Resumable(ctx, r)
		if problem != nil {
			return problem
		}
		session, err = trainer.Resume(rest.Config, rest.From, rest.History, r)
	}
	if err != nil {
		return err
	}
	r.OnWarning(func(text string) {
		fmt.Printf("warning %s\n", text)
		lift()
	})
	r.Mu.Lock()
	r.Checkpoint.Pause, r.Checkpoint.Share = 5*time.Millisecond, 1
	r.Mu.Unlock()
	reported := make(chan error, 1)
	go func() {
		var err error
		if !c.New {
			err = report(ctx, s.Path())
		}
		reported <- err
	}()
	if err := session.Run(ctx); err != nil {
		return err
	}
	if err := <-reported; err != nil {
		return err
	}
	fmt.Println("end")
	return nil
}

// report prints the epochs of the only run, of one that is resumed as soon as the rest is forgotten.
func report(ctx context.Context, path string) error {
	s, err := store.Open(path, sqlfile.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer s.Close()
	var id string
	for {
		var claimed bool
		err := s.DB.QueryRow("SELECT id, claimed FROM runs").Scan(&id, &claimed)
		if err == nil && !claimed {
			break
		}
		time.Sleep(time.Millisecond)
	}
	w, err := s.Source(ctx, id)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		e, err := w.Next(ctx)
		switch e := e.(type) {
		case event.EpochEvent:
			line, err := event.EncodeEvent(e)
			if err != nil {
				return err
			}
			fmt.Printf("%s\n", line)
		case event.DoneEvent:
			return nil
		}
		if errors.Is(err, stream.ErrNone) {
			err = w.Wait(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// process is a child that runs.
type process struct {
	command *exec.Cmd
	lines   chan string // closed at the end of its output
	errors  strings.Builder
}

func (c child) start(t *testing.T) *process {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{command: exec.Command(os.Args[0]), lines: make(chan string, 1<<16)}
	p.command.Env = append(os.Environ(), childEnv+"="+string(text))
	p.command.Stderr = &p.errors
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for scan := bufio.NewScanner(out); scan.Scan(); {
			p.lines <- scan.Text()
		}
	}()
	return p
}

// wait returns all lines that are left, after the end.
func (p *process) wait() (lines []string, err error) {
	for line := range p.lines {
		lines = append(lines, line)
	}
	return lines, p.command.Wait()
}
