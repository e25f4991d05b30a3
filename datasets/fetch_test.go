package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// content is what the test servers have: 300 kB that differ everywhere.
var content = func() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 300_000; i++ {
		fmt.Fprintf(&b, "line %d of a file\n", i)
	}
	return b.Bytes()
}()

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// testSource is a set of one file on the given mirrors.
func testSource(mirrors ...string) *source {
	return &source{name: "test", mirrors: mirrors, files: []remoteFile{{"file.gz", sumOf(content)}}}
}

// serve starts a server and counts its requests.
func serve(t *testing.T, handler http.HandlerFunc) (url string, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func whole(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "file.gz", time.Time{}, bytes.NewReader(content))
}

func withoutRanges(w http.ResponseWriter, _ *http.Request) { w.Write(content) }

func truncated(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content[:n])
	}
}

// state returns the lengths of the file and of its part in the set's directory, −1 where there is none. A
// file under its final name must be right.
func state(t *testing.T, dir string) (file, part int64) {
	t.Helper()
	length := func(name string) int64 {
		info, err := os.Stat(filepath.Join(dir, "test", name))
		if err != nil {
			return -1
		}
		return info.Size()
	}
	file, part = length("file.gz"), length("file.gz.part")
	if file >= 0 {
		if b, err := os.ReadFile(filepath.Join(dir, "test", "file.gz")); err != nil || !bytes.Equal(b, content) {
			t.Errorf("the file is not what it should be (%v)", err)
		}
	}
	return file, part
}

func TestFetch(t *testing.T) {
	size := int64(len(content))
	for _, tc := range []struct {
		name     string
		handler  http.HandlerFunc
		part     int // bytes that an earlier run left
		resumed  int64
		requests int32
	}{
		{"whole", whole, 0, 0, 1},
		{"resumed", whole, 100_000, 100_000, 1},
		{"resumed without ranges", withoutRanges, 100_000, 0, 1},
		{"part is whole already", whole, len(content), 0, 1},
		{"without a length", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			withoutRanges(w, r)
		}, 0, 0, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			url, requests := serve(t, tc.handler)
			dir := t.TempDir()
			if tc.part > 0 {
				write(t, dir, "test/file.gz.part", content[:tc.part])
			}
			var last Progress
			err := testSource(url).fetch(t.Context(), FetchOptions{Dir: dir, Progress: func(p Progress) {
				if p.Bytes < last.Bytes || p.File != "file.gz" || p.Files != 1 {
					t.Errorf("progress %+v after %+v", p, last)
				}
				last = p
			}})
			if err != nil {
				t.Fatal(err)
			}
			if file, part := state(t, dir); file != size || part != -1 {
				t.Errorf("file of %d bytes, part of %d", file, part)
			}
			if tc.part < len(content) && (last.Bytes != size || last.ResumedFrom != tc.resumed) {
				t.Errorf("last progress %+v", last)
			}
			if requests.Load() != tc.requests {
				t.Errorf("%d requests", requests.Load())
			}
			// What is there is not fetched again.
			if err := testSource(url).fetch(t.Context(), FetchOptions{Dir: dir}); err != nil || requests.Load() != tc.requests {
				t.Errorf("%v, %d requests", err, requests.Load())
			}
		})
	}
}

func TestFetchRepairs(t *testing.T) {
	url, _ := serve(t, whole)
	dir := t.TempDir()
	write(t, dir, "test/file.gz", []byte("something else"))
	if err := testSource(url).fetch(t.Context(), FetchOptions{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	state(t, dir)
}

func TestFetchFailures(t *testing.T) {
	gone, _ := serve(t, http.NotFound)
	right, _ := serve(t, whole)
	invalid, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "not the file") })
	empty, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
	torn, _ := serve(t, truncated(70_000))
	otherRange, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Range", "bytes 5-9/10")
		w.WriteHeader(http.StatusPartialContent)
		io.WriteString(w, "56789")
	})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, tc := range []struct {
		name    string
		mirrors []string
		before  int    // bytes that an earlier run left
		want    string // in the error; empty: none
		part    int64
	}{
		{"404, next mirror", []string{gone, right}, 0, "", -1},
		{"no server, next mirror", []string{closed.URL, right}, 0, "", -1},
		{"wrong sum, next mirror", []string{invalid, right}, 0, "", -1},
		{"torn, next mirror resumes", []string{torn, right}, 0, "", -1},
		{"404", []string{gone}, 0, "answered 404 Not Found", -1},
		{"no network", []string{closed.URL}, 0, "no connection", -1},
		{"no network keeps the part", []string{closed.URL}, 1000, "1000 bytes are kept", 1000},
		{"wrong sum", []string{invalid}, 0, "wrong checksum and was removed", -1},
		{"wrong part", []string{right}, -5000, "wrong checksum and was removed", -1},
		{"empty", []string{empty}, 0, "empty file", -1},
		{"torn", []string{torn}, 0, "70000 bytes are kept", 70_000},
		{"another range", []string{otherRange}, 1000, "another range", 1000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			if tc.before > 0 {
				write(t, dir, "test/file.gz.part", content[:tc.before])
			} else if tc.before < 0 {
				write(t, dir, "test/file.gz.part", make([]byte, -tc.before))
			}
			err := testSource(tc.mirrors...).fetch(t.Context(), FetchOptions{Dir: dir})
			file, part := state(t, dir)
			if part != tc.part {
				t.Errorf("part of %d bytes, want %d", part, tc.part)
			}
			if tc.want == "" {
				if err != nil || file < 0 {
					t.Errorf("%v, file of %d bytes", err, file)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, tc.want)
			}
			if file >= 0 {
				t.Errorf("a file of %d bytes", file)
			}
			if network, ok := errors.AsType[*NetworkError](err); ok && (!strings.Contains(err.Error(), "Data letters") ||
				!strings.Contains(err.Error(), network.Dir) || !strings.Contains(err.Error(), tc.mirrors[0]+"/file.gz")) {
				t.Errorf("%v does not say what to do", err)
			}
		})
	}
}

// A cancelled download leaves a part, from which the next one goes on.
func TestFetchCancelled(t *testing.T) {
	started := make(chan struct{})
	slow, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.Write(content[:50_000])
		w.(http.Flusher).Flush()
		close(started)
		<-r.Context().Done()
	})
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-started
		for {
			if info, err := os.Stat(filepath.Join(dir, "test", "file.gz.part")); err == nil && info.Size() == 50_000 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	err := testSource(slow).fetch(ctx, FetchOptions{Dir: dir})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if file, part := state(t, dir); file != -1 || part != 50_000 {
		t.Errorf("file of %d bytes, part of %d", file, part)
	}
	right, _ := serve(t, whole)
	var first Progress
	err = testSource(right).fetch(t.Context(), FetchOptions{Dir: dir, Progress: func(p Progress) {
		if first.File == "" {
			first = p
		}
	}})
	if err != nil || first.ResumedFrom != 50_000 {
		t.Errorf("%v, %+v", err, first)
	}
	state(t, dir)
}

// While one download is under way, another into the same place is refused, and a server that says
// nothing is given up.
func TestFetchBusyAndSilent(t *testing.T) {
	dir := t.TempDir()
	var busy error
	slow, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		busy = testSource("http://127.0.0.1:1").fetch(r.Context(), FetchOptions{Dir: dir})
		w.Write(content[:10_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	f := &fetcher{set: "test", mirrors: []string{slow}, dir: filepath.Join(dir, "test"), client: http.DefaultClient,
		patience: 50 * time.Millisecond}
	err := f.all(t.Context(), testSource().files)
	if network, ok := errors.AsType[*NetworkError](err); !ok || !errors.Is(err, errSilent) || network.Received != 10_000 {
		t.Errorf("%v", err)
	}
	if runtime.GOOS != "windows" && !errors.Is(busy, ErrBusy) {
		t.Errorf("the second download: %v", busy)
	}
}

func TestFetchSeveralFiles(t *testing.T) {
	url, requests := serve(t, whole)
	src := testSource(url)
	src.files = append(src.files, remoteFile{"other.gz", sumOf(content)})
	dir := t.TempDir()
	seen := make(map[string]int)
	if err := src.fetch(t.Context(), FetchOptions{Dir: dir, Progress: func(p Progress) {
		if p.Files != 2 {
			t.Errorf("%+v", p)
		}
		seen[p.File] = p.Index
	}}); err != nil {
		t.Fatal(err)
	}
	if seen["file.gz"] != 0 || seen["other.gz"] != 1 || requests.Load() != 2 {
		t.Errorf("%v, %d requests", seen, requests.Load())
	}
}

func TestFetchNames(t *testing.T) {
	for name, want := range map[string]error{"letters": ErrGenerated, "sine": ErrGenerated} {
		if err := Fetch(t.Context(), name, FetchOptions{Dir: t.TempDir()}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Verify(name, t.TempDir()); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := errors.AsType[*UnknownError](Fetch(t.Context(), "nothing", FetchOptions{})); !ok {
		t.Error("an unknown name was fetched")
	}
	if _, err := Verify("nothing", ""); err == nil {
		t.Error("an unknown name was verified")
	}
}

func TestFetchUnwritable(t *testing.T) {
	dir := write(t, t.TempDir(), "file", nil)
	_, ok := errors.AsType[*os.PathError](Fetch(t.Context(), "letter", FetchOptions{Dir: dir}))
	if !ok {
		t.Error("a directory was made below a file")
	}
}

// The real files, from a server of our own: fetched, verified, loaded.
func TestFetchReal(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(sharedData(t))))
	defer server.Close()
	dir := t.TempDir()
	check := func(name string, want ...FileState) {
		t.Helper()
		all, err := Verify(name, dir)
		if err != nil || len(all) != len(want) {
			t.Fatalf("%v, %v", all, err)
		}
		for i, status := range all {
			if status.State != want[i] {
				t.Errorf("%s is %s, want %s", status.Path, status.State, want[i])
			}
		}
	}
	check("letter", FileMissing)
	write(t, dir, "letter/letter-recognition.data.part", []byte("T,2,8,3"))
	check("letter", FileUnderWay)
	if err := Fetch(t.Context(), "letter", FetchOptions{Dir: dir, Mirrors: []string{server.URL}}); err != nil {
		t.Fatal(err)
	}
	check("letter", FileGood)
	mustLoad(t, "letter", Options{Dir: dir})
	write(t, dir, "letter/letter-recognition.data", []byte("T,2,8,3"))
	check("letter", FileCorrupt)

	// Only the second half of MNIST is there to be fetched.
	err := Fetch(t.Context(), "mnist", FetchOptions{Dir: dir, Mirrors: []string{server.URL}})
	if network, ok := errors.AsType[*NetworkError](err); !ok || network.File != "train-images-idx3-ubyte.gz" || len(network.URLs) != 4 {
		t.Errorf("%v", err)
	}
	all, err := Verify("mnist", sharedData(t))
	if err != nil || all[0].State != FileMissing || all[2].State != FileGood || all[3].State != FileGood {
		t.Errorf("%v, %v", all, err)
	}
	write(t, dir, "mnist/t10k-labels-idx1-ubyte", []byte{0})
	check("mnist", FileMissing, FileMissing, FileMissing, FileUnpacked)
}
