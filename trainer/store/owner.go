package store

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"time"
)

// beat is how often a recorder says that it lives, and patience how long it may be silent before it counts as gone,
// where its process can't be looked at.
const (
	beat     = 2 * time.Second
	patience = 10 * time.Second
)

// owner is the process that records a run.
type owner struct {
	token    string // of one recorder; empty: nobody
	host     string
	process  int
	identity string // of the process, apart from others of its number
	beaten   time.Time
}

// self returns this process as the owner of one more run.
func self() owner {
	var token [8]byte
	rand.Read(token[:])
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return owner{
		token: hex.EncodeToString(token[:]), host: host, process: os.Getpid(),
		identity: identity(os.Getpid()), beaten: time.Now(),
	}
}

func (o *owner) String() string {
	return fmt.Sprintf("process %d on %s", o.process, o.host)
}

// alive reports whether the owner still records. A process of this host is looked at; of others, and where that is
// not to be had, the heartbeat tells.
func (o *owner) alive(now time.Time) bool {
	if o.token == "" {
		return false
	}
	if sameMachine(o.identity) {
		return identity(o.process) == o.identity
	}
	return now.Sub(o.beaten) < patience
}
