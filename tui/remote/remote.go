// Package remote serves the terminal UI over SSH: one run, many viewers.
//
//	ssh client ──► handshake ──► session ──► tui program ◄── trainer.Feed ◄── run
//	              public keys    pty, or      one a viewer       │
//	              only, limits   "status"     own size, theme    └─ commands of those who control, logged
//
// Nothing but that is served: no password, no shell, no command but status, no subsystem, no forwarding.
package remote

import (
	"time"

	"charm.land/log/v2"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/screen"
)

// Run is what is served; *trainer.Session is one.
type Run interface {
	Feed() feed.Feed
	SetAudience(*event.Audience)
}

// Options say who is served, and how much. The zero value of a limit is its default.
type Options struct {
	Address string // host:port to listen on; empty: 127.0.0.1:2222
	// file of the private key, made if there is none; empty: host_ed25519 in the configuration directory
	HostKey        string
	AuthorizedKeys string // file of the keys that may look; empty: ~/.ssh/authorized_keys, on loopback addresses only
	Control        string // file of further keys that may look and steer; empty: none
	Saves          string // directory that models are saved in; empty: none are
	UI             screen.Options
	Limits         Limits
	Log            *log.Logger // joins, leaves, refusals, actions; nil: nowhere
}

// Limits bound what clients can ask for. Zero is the default, in brackets.
type Limits struct {
	Sessions       int     // at once [128]
	SessionsPerKey int     // at once [32]
	Memory         int     // bytes that all sessions may take [256 MB]
	Handshakes     float64 // new connections a second, in all, with bursts [20]
	// from connection to session; a fingerprint is compared and a passphrase typed in it [1 min]
	Login time.Duration
	Idle  time.Duration // without a key from a viewer [none]
	Stall time.Duration // that a client may take no output [30 s]
	Size  screen.Size   // the largest terminal; what is asked beyond is cut [500×200]
}
