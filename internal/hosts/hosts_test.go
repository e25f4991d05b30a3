package hosts

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"newtop/trainer/logs/files"
	"newtop/trainer/logs/files/filestest"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ name, host, at string }{
		{"gpu1:train.log", "gpu1", "~/train.log"},
		{"user@gpu3.example.org:runs/", "user@gpu3.example.org", "~/runs"},
		{"gpu1:", "gpu1", "~"}, {"gpu1:~", "gpu1", "~"}, {"gpu1:~/x/../y", "gpu1", "~/y"},
		{"gpu1:/", "gpu1", ""}, {"gpu1:/var//log", "gpu1", "/var/log"}, {"gpu1:/..", "gpu1", ""},
		{"[fe80::1%eth0]:a", "[fe80::1%eth0]", "~/a"}, {"me@[::1]:a:b", "me@[::1]", "~/a:b"},
		{"gpu1:-x; rm *", "gpu1", "~/-x; rm *"},
	} {
		host, at, remote, err := Split(c.name)
		if host != c.host || at != c.at || !remote || err != nil {
			t.Errorf("%s: %q %q, %v, %v", c.name, host, at, remote, err)
		}
	}
	for _, name := range []string{"train.log", "runs/a:b", `C:\logs\a.csv`, "./a:b", "", `dir\a:b`} {
		if host, _, remote, err := Split(name); remote || err != nil {
			t.Errorf("%s: of the host %q, %v", name, host, err)
		}
	}
	for _, name := range []string{
		"-oProxyCommand=x:a", "-:a", ":a", "u@-h:a", "-u@h:a", "a b:c", "a;b:c", "$(x):a", "a\x1b[m:b", "@h:a", "u@:a", "a@b@c:d",
		"http://h/a", "[-x]:a", "[::1;x]:a", "h:~root/a", "h:../a", "h:a/../../b", "h:a\x00b", "h`x`:a", "ü:a",
	} {
		if host, at, remote, err := Split(name); remote || err == nil {
			t.Errorf("%q was taken for %q of %q", name, at, host)
		}
	}
}

// each runs a test over sftp and over a shell.
func each(t *testing.T, o Options, test func(t *testing.T, h *Host, d disk)) {
	t.Run("sftp", func(t *testing.T) {
		h, d := fake(t, o)
		test(t, h, d)
	})
	t.Run("shell", func(t *testing.T) {
		if _, err := exec.LookPath("sh"); err != nil {
			t.Skip("there is no POSIX shell")
		}
		h, d := fake(t, o, "nosftp")
		test(t, h, d)
	})
}

var asked = Options{Poll: -1}

func TestContract(t *testing.T) {
	each(t, asked, func(t *testing.T, h *Host, d disk) { filestest.Contract(t, h.Path("~/a dir"), under{d, "a dir"}) })
}

type under struct {
	disk
	dir string
}

func (u under) Write(name, text string)  { u.disk.Write(u.dir+"/"+name, text) }
func (u under) Append(name, text string) { u.disk.Append(u.dir+"/"+name, text) }
func (u under) Remove(name string)       { u.disk.Remove(u.dir + "/" + name) }

// TestNames: what a name has is never a shell's, and all that a directory has is found.
func TestNames(t *testing.T) {
	names := []string{"-n", "$(touch hacked)", "`touch hacked`", "a'b\"c", "a b", "*", "ü", ".hidden", "~", "#x", "\\n", "\x1b[31m"}
	each(t, asked, func(t *testing.T, h *Host, d disk) {
		for _, name := range names {
			d.Write("in/"+name, name)
		}
		dir := h.Path("~/in")
		for _, name := range names {
			if text, err := dir.Join(name).Read(files.All); string(text) != name || err != nil {
				t.Errorf("%q: %q, %v", name, text, err)
			}
		}
		entries, err := dir.List(-1)
		if len(entries) != len(names) || err != nil {
			t.Errorf("%d entries, %v: %v", len(entries), err, entries)
		}
		if _, err := os.Stat(filepath.Join(d.home, "in", "hacked")); err == nil {
			t.Error("a name was run")
		}
	})
}

func open(t *testing.T, path files.Path) files.File {
	t.Helper()
	f, err := path.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestAnyOrder: what is read on and here and there of a file that grows is what it holds, over a line that breaks.
func TestAnyOrder(t *testing.T) {
	test := func(t *testing.T, h *Host, d disk) {
		random := rand.New(rand.NewPCG(1, 2))
		text := make([]byte, 5<<20)
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		size, at, other := len(text)/2, 0, 0
		d.Write("a", string(text[:size]))
		f := open(t, h.Path("~/a"))
		for i := range 60 {
			b := make([]byte, []int{1 + random.IntN(300<<10), minAhead}[random.IntN(2)])
			from, read := at, f.Read
			if i%8 == 5 {
				other = random.IntN(size) * random.IntN(2)
			}
			if i%8 >= 5 {
				from, read = other, func(b []byte) (int, error) { return f.ReadAt(b, int64(other)) }
			}
			n, err := read(b)
			if other = from + n; i%8 < 5 {
				at = other
			}
			if string(b[:n]) != string(text[from:from+n]) || n == 0 && err == nil {
				t.Fatalf("%d bytes at %d, or others: %v", n, from, err)
			}
			switch i % 20 {
			case 9:
				up(h).kill()
			case 19:
				d.Append("a", string(text[size:size+size/9]))
				size += size / 9
			}
		}
	}
	each(t, asked, test)
	each(t, Options{Poll: time.Hour}, test)
}

// TestBrokenLine: a line that breaks loses no byte and adds none, and a file that another one replaced meanwhile is
// another one.
func TestBrokenLine(t *testing.T) {
	each(t, asked, func(t *testing.T, h *Host, d disk) {
		cut := func() { up(h).kill() }
		d.Write("a.log", "one\n")
		path := h.Path("~/a.log")
		f := open(t, path)
		first, _ := f.Stat()
		read := func(want string) {
			t.Helper()
			if text, err := io.ReadAll(f); string(text) != want || err != nil {
				t.Errorf("%q, %v: expected %q", text, err, want)
			}
		}
		read("one\n")
		d.Append("a.log", "two\n")
		cut()
		read("two\n")
		d.breaks("down")
		cut()
		d.Append("a.log", "three\n")
		came := make(chan string)
		go func() {
			text, _ := io.ReadAll(f)
			came <- string(text)
		}()
		for h.Away() == "" || !strings.Contains(h.Away(), "refused") {
			<-h.Changed()
		}
		if text := h.Away(); !strings.HasPrefix(text, "me@gpu1 is away: ssh: connect to host me@gpu1 port 22: [31mConnection refused; next") {
			t.Errorf("%q", text)
		}
		d.mends("down")
		if text := <-came; text != "three\n" {
			t.Errorf("%q came when the host was back", text)
		}
		if now, err := path.Stat(); err != nil || !h.Same(now, first) || now.Size() != 14 {
			t.Errorf("another file, %v, %v", now, err)
		}
		d.Remove("a.log")
		d.Write("a.log", "other\n")
		cut()
		if now, err := path.Stat(); err != nil || h.Same(now, first) {
			t.Errorf("the same file, %v", err)
		}
		read("")
	})
}

// TestFewQuestions: what is known answers for a while, and a file that is read on is read ahead.
func TestFewQuestions(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 64<<10)
	each(t, Options{Poll: time.Hour}, func(t *testing.T, h *Host, d disk) {
		d.Write("a.log", text)
		path := h.Path("~/a.log")
		head, err := path.Read(minAhead)
		before := d.asked()
		again, err2 := path.Read(100)
		// The first one's close may come late.
		if now := d.asked(); string(head) != text[:minAhead] || string(again) != text[:100] || now-before > 20 {
			t.Errorf("%d and %d bytes, %v, %v; %d were sent for what is known", len(head), len(again), err, err2, now-before)
		}
		f := open(t, path)
		got := make([]byte, 0, len(text))
		questions := 0
		for {
			b := make([]byte, 1000)
			sent := d.asked()
			n, err := f.ReadAt(b, int64(len(got)))
			got = append(got, b[:n]...)
			if now := d.asked(); now != sent {
				questions++
			}
			if err != nil {
				break
			}
		}
		// Parts of 64 kB and more are asked for, while the reader goes on, in packets of 32 kB.
		if string(got) != text || questions > len(text)>>15 {
			t.Errorf("%d bytes by %d questions", len(got), questions)
		}
		sent := d.asked()
		d.Append("a.log", "more")
		for range 100 {
			info, err := path.Stat()
			own, err2 := f.Stat()
			n, err3 := f.ReadAt(make([]byte, 10), int64(len(text)))
			if err != nil || err2 != nil || err3 != io.EOF || n != 0 || !h.Same(info, own) || info.Size() != int64(len(text)) {
				t.Fatal(info, own, n, err, err2, err3)
			}
		}
		if now := d.asked(); now != sent {
			t.Errorf("%d bytes were sent for what is known", now-sent)
		}
		h.mu.Lock()
		f.(*file).n.asked = time.Time{}
		h.mu.Unlock()
		f.(*file).at = int64(len(text))
		if rest, err := io.ReadAll(f); string(rest) != "more" || err != nil {
			t.Errorf("%.9q, %v", rest, err)
		}
		if now := d.asked(); now-sent > 700 {
			t.Errorf("%d bytes were sent for what a log has more", now-sent)
		}
	})
}

// TestGrowsWhileKnown: what was read of a file is never more than it is said to have.
func TestGrowsWhileKnown(t *testing.T) {
	each(t, Options{Poll: time.Hour}, func(t *testing.T, h *Host, d disk) {
		d.Write("a.log", "one\n")
		f := open(t, h.Path("~/a.log"))
		d.Append("a.log", "two\n")
		n, _ := f.ReadAt(make([]byte, 100), 0)
		info, err := h.Path("~/a.log").Stat()
		if err != nil || info.Size() != int64(n) {
			t.Errorf("%d bytes were read, and it has %d, %v", n, info.Size(), err)
		}
	})
}

func TestConnectFails(t *testing.T) {
	h, _ := fake(t, Options{}, "down")
	if err := h.Connect(t.Context()); err == nil || !strings.Contains(err.Error(), "Connection refused") {
		t.Error(err)
	}
	h.net.Close()
	if _, err := h.Path("~/a").Stat(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}
