package sqlfile

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
	Heartbeat = 4 * time.Second
	patience  = 10 * time.Second
)

// Owner is the process that records a run.
type Owner struct {
	Token     string // of one recorder; empty: nobody
	Host      string
	Process   int
	Identity  string // of the process, apart from others of its number
	heartbeat time.Time
}

// OwnerColumns are those of an owner's, in the tables of runs and of searches.
const OwnerColumns = "owner, host, process, identity, heartbeat"

// OwnerRow is where OwnerColumns are scanned to.
type OwnerRow struct {
	token                     sql.NullString
	Host, identity, heartbeat string
	Process                   int
}

// Dests returns where to scan, after the given ones.
func (r *OwnerRow) Dests(before ...any) []any {
	return append(before, &r.token, &r.Host, &r.Process, &r.identity, &r.heartbeat)
}

// Owner returns the owner of the row. A heartbeat that is no time is one of long ago.
func (r *OwnerRow) Owner() Owner {
	heartbeat, _ := ParseTime(r.heartbeat)
	return Owner{Token: r.token.String, Host: r.Host, Process: r.Process, Identity: r.identity, heartbeat: heartbeat}
}

// Args appends the values of OwnerColumns, of an owner that is alive now.
func (o *Owner) Args(args ...any) []any {
	return append(args, o.Token, o.Host, o.Process, o.Identity, FormatTime(time.Now()))
}

// Self returns this process as the owner of one more run.
func Self() Owner {
	var token [8]byte
	rand.Read(token[:])
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Owner{
		Token: hex.EncodeToString(token[:]), Host: host, Process: os.Getpid(),
		Identity: identity(os.Getpid()), heartbeat: time.Now(),
	}
}

func (o *Owner) String() string {
	return fmt.Sprintf("process %d on %s", o.Process, o.Host)
}

// Alive reports whether the owner still records. A process of this host is looked at; of others, and where that is
// not to be had, the heartbeat reports.
func (o *Owner) Alive(now time.Time) bool {
	if o.Token == "" {
		return false
	}
	if SameMachine(o.Identity) {
		return identity(o.Process) == o.Identity
	}
	return now.Sub(o.heartbeat) < patience
}
