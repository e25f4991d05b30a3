package notify

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"newtop/trainer/alert"
)

var nan = alert.Alert{Kind: alert.NaN, Epoch: 7, Text: "the test loss is not a number"}

// failures collects the lines of what failed.
type failures struct {
	mu    sync.Mutex
	lines []string
}

func (f *failures) add(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, line)
}

// all waits for nothing: it is called after Close.
func (f *failures) all() string { return strings.Join(f.lines, "\n") }

func start(t *testing.T, o Options, specs ...string) (*Notifier, *failures) {
	t.Helper()
	f := new(failures)
	o.Failed = f.add
	n, err := New(specs, o)
	if err != nil {
		t.Fatal(err)
	}
	return n, f
}

func finish(t *testing.T, n *Notifier) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n.Close(ctx)
	if ctx.Err() != nil {
		t.Error("not all was brought")
	}
}

func needShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
}

func TestTerminal(t *testing.T) {
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{[]string{"TERM=xterm"}, "\a|\x1b]9;mnist 2: the test loss is not a number\a"},
		{[]string{"TMUX="}, "\a|\x1b]9;mnist 2: the test loss is not a number\a"},
		{[]string{"TMUX=/tmp/tmux-0/default,1,0"}, "\a|\x1bPtmux;\x1b\x1b]9;mnist 2: the test loss is not a number\a\x1b\\"},
	} {
		var rung []string
		n, f := start(t, Options{Environ: c.environ, Ring: func(s string) { rung = append(rung, s) }}, "bell", "osc9")
		n.Notify(nan, "mnist\x1b\n2")
		finish(t, n)
		if got := strings.Join(rung, "|"); got != c.want || f.lines != nil {
			t.Errorf("%q, failed %q", got, f.lines)
		}
	}
	if got := OSC9("4;1\u009b"+strings.Repeat("é", 300), nil); strings.Count(got, "é") != 196 || !strings.HasPrefix(got, "\x1b]9;newtop: 4;1 é") {
		t.Errorf("%q", got)
	}
	n, _ := start(t, Options{}, "bell") // nobody to ring
	n.Notify(nan, "")
	finish(t, n)
}

func TestCommand(t *testing.T) {
	needShell(t)
	out := filepath.Join(t.TempDir(), "it's here")
	script := filepath.Join(t.TempDir(), "call.sh")
	code := `printf '%s|%s|%s|%s|%s\n' "$NEWTOP_KIND" "$NEWTOP_ALERT" "$NEWTOP_EPOCH" "$NEWTOP_RUN" "$NEWTOP_TEST" >> "$1"; echo said; echo told >&2`
	if err := os.WriteFile(script, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	n, f := start(t, Options{Environ: append(os.Environ(), "NEWTOP_TEST=kept")}, `cmd=sh `+script+` "`+out+`"`)
	n.Notify(nan, "a run")
	n.Notify(alert.Alert{Kind: alert.End, Epoch: 9, Text: "over"}, "")
	finish(t, n)
	text, err := os.ReadFile(out)
	if want := "nan|the test loss is not a number|7|a run|kept\nend|over|9||kept\n"; string(text) != want || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if f.lines != nil {
		t.Error(f.all())
	}
}

func TestCommandsFail(t *testing.T) {
	needShell(t)
	n, f := start(t, Options{}, "cmd=exit 3")
	n.Notify(nan, "")
	finish(t, n)
	if want := `cmd=exit 3: ended with status 3: the alert "the test loss is not a number" is lost`; f.all() != want {
		t.Errorf("%s", f.all())
	}
	c := command{text: "sleep 120 & sleep 120", limit: 50 * time.Millisecond}
	began := time.Now()
	if err := c.bring(t.Context(), &Message{}); err == nil || err.Error() != "took longer than 50ms" || time.Since(began) > time.Minute {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// A command that hangs keeps nobody waiting: 16 wait, the rest is left out, and Close gives up when it is told to.
func TestQueueIsBounded(t *testing.T) {
	needShell(t)
	n, f := start(t, Options{}, "cmd=sleep 120")
	began := time.Now()
	for range 1 + queued + 5 {
		n.Notify(nan, "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n.Close(ctx)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if got := strings.Count(f.all(), "16 alerts wait already"); got < 5 || got > 6 {
		t.Errorf("%d were left out:\n%s", got, f.all())
	}
}

func TestWebhook(t *testing.T) {
	var mu sync.Mutex
	var bodies []map[string]any
	status := []int{500, 200, 404, 429, 503, 302}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		text, _ := io.ReadAll(r.Body)
		var body map[string]any
		if err := json.Unmarshal(text, &body); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", r.Method, text, err)
		}
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status[len(bodies)])
		bodies = append(bodies, body)
	}))
	defer server.Close()
	hook, err := newWebhook(server.URL + "/services/SECRET")
	if err != nil {
		t.Fatal(err)
	}
	hook.pause = time.Millisecond
	m := Message{nan, "mnist", "box", time.Date(2026, 11, 23, 12, 30, 0, 5, time.FixedZone("", 3600))}
	for _, want := range []string{"", "answered 404 Not Found", "answered 503 Service Unavailable", "answered 302 Found"} {
		got := ""
		if err := hook.bring(t.Context(), &m); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	line := "mnist: the test loss is not a number (box)"
	want := map[string]any{"kind": "nan", "alert": nan.Text, "text": line, "content": line, "epoch": 7.0, "run": "mnist", "host": "box", "time": "2026-11-23T11:30:00Z"}
	if len(bodies) != len(status) {
		t.Fatalf("%d posts", len(bodies))
	}
	for k, v := range want {
		if bodies[1][k] != v {
			t.Errorf("%s is %v, want %v", k, bodies[1][k], v)
		}
	}
	if len(bodies[1]) != len(want) {
		t.Errorf("posted %v", bodies[1])
	}
}

// A line about a webhook that can't be reached does not tell its secret.
func TestWebhookKeepsItsSecret(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL + "/services/SECRET"
	server.Close()
	hook, err := newWebhook(address)
	if err != nil {
		t.Fatal(err)
	}
	hook.pause = 0
	if err := hook.bring(t.Context(), &Message{}); err == nil || strings.Contains(err.Error()+hook.String(), "SECRET") {
		t.Error(err)
	}
}

func TestSpecsErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                 `"": expected bell, osc9, cmd=COMMAND or webhook=URL`,
		"siren":            `"siren": expected bell, osc9, cmd=COMMAND or webhook=URL`,
		"bell=1":           `"bell=1": expected bell, osc9, cmd=COMMAND or webhook=URL`,
		"cmd= ":            `"cmd= ": expected bell, osc9, cmd=COMMAND or webhook=URL`,
		"webhook=SECRET":   `webhook: expected an address that begins with https:// or http://`,
		"webhook=ftp://x/": `webhook: expected an address that begins with https:// or http://`,
	} {
		if _, err := New([]string{spec}, Options{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", spec, err)
		}
	}
}
