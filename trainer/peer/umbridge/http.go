package umbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"newtop/internal/fields"
	"newtop/internal/format"
	"newtop/trainer/peer"
)

// configFields are those of a trainer.Config that errors name.
var configFields = fields.Names{"ModelTimeout": true}

// How long answers may be, in bytes: one about the server, and one number of a vector, as some write it.
const (
	maxInfo   = 1 << 20
	maxNumber = 64
)

// answerError is what a server says, or that it says something else than the protocol.
type answerError struct {
	path string
	kind string // of the protocol, or empty
	text string
}

func (e *answerError) Error() string {
	text := e.text
	if e.kind != "" {
		text = e.kind + ": " + text
	}
	return "umbridge: " + e.path + ": " + text
}

func (e *answerError) Unwrap() error {
	if e.kind == "UnsupportedFeature" {
		return peer.ErrUnsupported
	}
	return nil
}

// call sends a request, or asks for a page where there is no body, and reads the answer of at most so many bytes.
func (c *Client) call(path string, body []byte, answer any, most int) error {
	ctx, cancel := c.ctx, context.CancelFunc(func() {})
	if c.timeout > 0 {
		ctx, cancel = context.WithTimeout(c.ctx, c.timeout)
	}
	defer cancel()
	status, text, err := c.exchange(ctx, path, body, most)
	switch {
	case c.ctx.Err() != nil:
		return fmt.Errorf("umbridge: %s: %w", path, c.ctx.Err())
	case ctx.Err() != nil && err != nil:
		return configFields.Errorf("umbridge: no answer to %s from %s for %v ({ModelTimeout})", path, c.host, c.timeout)
	case err != nil:
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return fmt.Errorf("umbridge: %s: no answer from %s: %w", path, c.host, err)
	case len(text) > most:
		return &answerError{path, "", fmt.Sprintf("expected an answer of at most %d bytes", most)}
	}
	return read(path, status, text, answer)
}

// exchange returns the answer, with one byte more than it may have if it is too long.
func (c *Client) exchange(ctx context.Context, path string, body []byte, most int) (status int, text []byte,
	err error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	// Not sent, but net/http asks again where the server closes an idle connection at that moment: requests change
	// nothing.
	request.Header["Idempotency-Key"] = nil
	reply, err := c.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer reply.Body.Close()
	text, err = io.ReadAll(io.LimitReader(reply.Body, int64(most)+1))
	return reply.StatusCode, text, err
}

// read understands an answer, whatever type it says it is of: Python's server sends text/plain.
func read(path string, status int, text []byte, answer any) error {
	strict := toJSON(text)
	var failure struct {
		Error *struct{ Type, Message string }
	}
	if bytes.Contains(strict, []byte(`"error"`)) && json.Unmarshal(strict, &failure) == nil && failure.Error != nil {
		return &answerError{path, clip(failure.Error.Type), clip(failure.Error.Message)}
	}
	if status != http.StatusOK {
		code := fmt.Sprint(status)
		return &answerError{path, "", "HTTP " + code + ": " + strings.TrimPrefix(clip(string(text)), code+" ")}
	}
	if err := json.Unmarshal(strict, answer); err != nil {
		return &answerError{path, "", fmt.Sprintf("expected an answer of UM-Bridge 1.0, found %s", clip(string(text)))}
	}
	return nil
}

// clip is the first line of a stranger's text, cut where it is long.
func clip(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return "nothing"
	}
	if runes := []rune(line[:min(len(line), 1000)]); len(runes) > 200 {
		line = string(runes[:200]) + "…"
	}
	return format.Shortened(format.Printable(strings.TrimSpace(line)))
}
