package store

import (
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"time"
)

// beat is how often a recorder says that it lives, and patience how long it may be silent before it counts as gone,
// where its process can't be looked at.
const (
	beat     = 4 * time.Second
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

// ownerColumns are those of an owner's, in the tables of runs and of searches.
const ownerColumns = "owner, host, process, identity, heartbeat"

// ownerRow is where ownerColumns are scanned to.
type ownerRow struct {
	token                     sql.NullString
	host, identity, heartbeat string
	process                   int
}

// dests returns where to scan, after the given ones.
func (r *ownerRow) dests(before ...any) []any {
	return append(before, &r.token, &r.host, &r.process, &r.identity, &r.heartbeat)
}

// owner returns the owner of the row. A heartbeat that is no time is one of long ago.
func (r *ownerRow) owner() owner {
	beaten, _ := parseTime(r.heartbeat)
	return owner{token: r.token.String, host: r.host, process: r.process, identity: r.identity, beaten: beaten}
}

// args appends the values of ownerColumns, of an owner that is alive now.
func (o *owner) args(args ...any) []any {
	return append(args, o.token, o.host, o.process, o.identity, formatTime(time.Now()))
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
