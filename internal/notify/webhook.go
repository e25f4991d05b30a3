package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// webhook posts an object that programs read, and in which chats find their text: Slack and Mattermost in text, Discord
// in content.
type webhook struct {
	url   string
	host  string // which is reported; the rest of the address is mostly a secret
	pause time.Duration
}

// How long one try may take, and what is between the two that there are.
const (
	webhookLimit = 10 * time.Second
	webhookPause = time.Second
)

func newWebhook(address string) (*webhook, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("webhook: expected an address that begins with https:// or http://")
	}
	return &webhook{address, u.Host, webhookPause}, nil
}

func (w *webhook) String() string { return "webhook " + w.host }

// posted is the body. The text is a whole sentence for a chat, and alert is the same without the run's name.
type posted struct {
	Kind    string    `json:"kind"`
	Alert   string    `json:"alert"`
	Text    string    `json:"text"`
	Content string    `json:"content"`
	Epoch   int       `json:"epoch"`
	Run     string    `json:"run"`
	Host    string    `json:"host"`
	Time    time.Time `json:"time"`
}

func (w *webhook) bring(ctx context.Context, m *Message) error {
	line := m.Line()
	if m.Host != "" {
		line += " (" + m.Host + ")"
	}
	body, err := json.Marshal(posted{m.Kind.String(), m.Text, line, line, m.Epoch, m.Run, m.Host,
		m.Time.UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	again, err := w.post(ctx, body)
	if !again {
		return err
	}
	select {
	case <-time.After(w.pause):
	case <-ctx.Done():
		return err
	}
	_, err = w.post(ctx, body)
	return err
}

// poster follows no redirect: behind one a POST becomes a GET, whose answer says nothing of the alert.
var poster = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// post tries once, and says whether another try may help.
func (w *webhook) post(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, webhookLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("expected an address that begins with https:// or http://")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "newtop")
	answer, err := poster.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) { // whose text has the address
			err = wrapped.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", webhookLimit)
		}
		return true, err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection can be used again
	if answer.StatusCode < 300 {
		return false, nil
	}
	return answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests,
		fmt.Errorf("answered %s", answer.Status)
}
