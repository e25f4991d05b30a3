package remote

import (
	"crypto/rand"
	"errors"
	"io"

	gossh "golang.org/x/crypto/ssh"
)

// A key exchange takes the server longer than the client, who may ask for one after another. The library answers them
// by itself, and each takes one signature of the host key: so they are counted where it signs. It passes a connection's
// source of random numbers to the signer, and that leads to the client.

// exchanges is the source of random numbers of a client's connection.
type exchanges struct{ client *client }

func (exchanges) Read(p []byte) (int, error) { return rand.Read(p) }

// clientKey is a connection's client in its context.
type clientKey struct{}

// countedSigner is a host key that signs no more key exchanges than a client may have.
type countedSigner struct{ gossh.Signer }

// Sign fails for a client who has had enough exchanges, which ends the connection.
func (s countedSigner) Sign(r io.Reader, data []byte) (*gossh.Signature, error) {
	if e, ok := r.(exchanges); ok && !e.client.exchange() {
		return nil, errors.New("newtop: too many key exchanges")
	}
	return s.Signer.Sign(r, data)
}

// exchange counts a key exchange, and says whether it continues: the first, before the client has logged in, and later
// ones at exchangeRate. OpenSSH asks for one after a gigabyte.
func (c *client) exchange() bool {
	c.mu.Lock()
	first, early := !c.exchanged, c.stage < admitted
	c.exchanged = true
	c.mu.Unlock()
	switch {
	case first:
		return true
	case early:
		c.end("asked for a second key exchange before it logged in")
	case !c.exchanges.Allow():
		c.end("asked for too many key exchanges")
	default:
		return true
	}
	return false
}
