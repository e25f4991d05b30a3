package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"newtop/internal/filelock"
	"newtop/internal/routine"
)

// maxDownload bounds one file, so that a server that never ends does not fill the disk.
const maxDownload = 1 << 28

// Progress reports how far the download of one file has come.
type Progress struct {
	File        string // its name
	Index       int    // which of Files it is, from 0
	Files       int    // how many there are to download
	Bytes       int64  // bytes so far, those of an earlier run included
	Total       int64  // bytes of the whole file; −1 if the server did not say
	ResumedFrom int64  // bytes that were there already
}

// FetchOptions says how Fetch works. The zero value is the default.
type FetchOptions struct {
	// Dir is the directory under which the files go into a subdirectory with the set's name. Empty:
	// CacheDir.
	Dir string
	// Mirrors replaces the set's own addresses, each a directory. Empty: the set's own.
	Mirrors []string
	// Client is used for all requests. Nil: http.DefaultClient. A server that is silent for 30 s is
	// given up either way.
	Client *http.Client
	// Progress is called from Fetch's goroutine, about ten times a second and at the end of each answer.
	// Nil: nobody watches.
	Progress func(Progress)
}

// Fetch downloads the files of a real set that are not there yet and verifies them. A file appears under
// its name only when it is whole and its SHA-256 is right; until then its bytes are in NAME.part beside
// it, from which a later Fetch resumes. Mirrors are tried in order.
//
// It returns an *UnknownError or ErrGenerated (wrapped) for a name without files, the context's error
// when that ended, a *ChecksumError (the bytes are removed then) or a *NetworkError when no mirror had
// the file, ErrBusy (wrapped) while another Fetch writes to the same directory, and errors of the file
// system.
func Fetch(ctx context.Context, name string, o FetchOptions) error {
	src, err := findSource(name)
	if err != nil {
		return err
	}
	return src.fetch(ctx, o)
}

func (src *source) fetch(ctx context.Context, o FetchOptions) error {
	dirs, err := searchDirs(src.name, o.Dir)
	if err != nil {
		return err
	}
	f := &fetcher{set: src.name, mirrors: src.mirrors, dir: dirs[0], client: http.DefaultClient,
		patience: 30 * time.Second, progress: o.Progress}
	if len(o.Mirrors) > 0 {
		f.mirrors = o.Mirrors
	}
	if o.Client != nil {
		f.client = o.Client
	}
	return f.all(ctx, src.files)
}

// fetcher is one Fetch under way.
type fetcher struct {
	set      string
	mirrors  []string
	dir      string
	client   *http.Client
	patience time.Duration // how long a server may be silent
	progress func(Progress)
	report   Progress // of the file under way
}

// all gets the files that are not there, or not right.
func (f *fetcher) all(ctx context.Context, files []remoteFile) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	unlock, err := filelock.Lock(filepath.Join(f.dir, ".lock"))
	if errors.Is(err, filelock.ErrBusy) {
		return fmt.Errorf("%s: %w", f.dir, ErrBusy)
	}
	if err != nil {
		return err
	}
	defer unlock()
	var wanted []remoteFile
	for _, file := range files {
		sum, err := sumFile(filepath.Join(f.dir, file.name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if sum != file.sum {
			wanted = append(wanted, file)
		}
	}
	for i, file := range wanted {
		f.report = Progress{File: file.name, Index: i, Files: len(wanted)}
		if err := f.file(ctx, file, wanted[i:]); err != nil {
			return err
		}
	}
	return nil
}

// file gets one file from the first mirror that has it; left are the files still missing, this one first.
func (f *fetcher) file(ctx context.Context, file remoteFile, left []remoteFile) error {
	part := filepath.Join(f.dir, file.name+".part")
	var last error
	for _, mirror := range f.mirrors {
		url := strings.TrimSuffix(mirror, "/") + "/" + file.name
		last = f.download(ctx, url, part)
		if err := ctx.Err(); err != nil {
			return err
		}
		if last == nil {
			last = f.accept(part, file, url)
		}
		if last == nil {
			return nil
		}
		if pathError, ok := errors.AsType[*os.PathError](last); ok {
			return pathError
		}
	}
	if invalid, ok := errors.AsType[*ChecksumError](last); ok {
		return invalid
	}
	return f.failure(part, file, left, last)
}

// failure says in plain words why no mirror had the file.
func (f *fetcher) failure(part string, file remoteFile, left []remoteFile, err error) error {
	e := &NetworkError{Name: f.set, File: file.name, Dir: f.dir, Err: err}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		e.Err = fmt.Errorf("no connection (%w)", err)
	}
	for _, l := range left {
		e.URLs = append(e.URLs, strings.TrimSuffix(f.mirrors[0], "/")+"/"+l.name)
	}
	if info, err := os.Stat(part); err == nil {
		e.Received = info.Size()
	}
	return e
}

// download appends to the part what it lacks. Without an error the part ends where the server said that
// the file ends. A part that would be empty is removed.
func (f *fetcher) download(ctx context.Context, url, path string) error {
	part, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	err = f.receive(ctx, url, part)
	size, seekErr := part.Seek(0, io.SeekEnd)
	err = cmp.Or(err, seekErr, part.Sync(), part.Close())
	if seekErr == nil && size == 0 {
		return cmp.Or(err, os.Remove(path), errors.New("the server sent an empty file"))
	}
	return err
}

// receive asks for the bytes after those that part has, or for all when there are none.
func (f *fetcher) receive(ctx context.Context, url string, part *os.File) error {
	have, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(f.patience, routine.Guard(func() { cancel(errSilent) }))
	defer silence.Stop()
	response, err := f.request(ctx, url, have)
	if err != nil {
		return said(ctx, err)
	}
	defer response.Body.Close()
	host := response.Request.URL.Host
	switch response.StatusCode {
	case http.StatusOK:
		have = 0
	case http.StatusPartialContent:
		var from int64
		if _, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-", &from); err != nil || from != have {
			return fmt.Errorf("%s answered another range than requested", host)
		}
	case http.StatusRequestedRangeNotSatisfiable:
		// Nothing is left to get, or the part is too long; the checksum tells.
		return nil
	default:
		return fmt.Errorf("%s answered %s", host, response.Status)
	}
	if err := part.Truncate(have); err != nil {
		return err
	}
	if _, err := part.Seek(have, io.SeekStart); err != nil {
		return err
	}
	return said(ctx, f.copy(part, response, have, func() { silence.Reset(f.patience) }))
}

// errSilent is why a request was given up.
var errSilent = errors.New("the server stopped sending")

// said returns the reason for which a request was cancelled in place of the cancellation.
func said(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// request asks a mirror for a file from byte have on.
func (f *fetcher) request(ctx context.Context, url string, have int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	// Ranges are counted in the bytes of the file as it is; a transport that unpacks would miscount.
	request.Header.Set("Accept-Encoding", "identity")
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	return f.client.Do(request)
}

// copy writes the body to the part, reports progress and calls alive for every piece.
func (f *fetcher) copy(part *os.File, response *http.Response, have int64, alive func()) error {
	f.report.ResumedFrom, f.report.Bytes, f.report.Total = have, have, -1
	if response.ContentLength >= 0 {
		f.report.Total = have + response.ContentLength
	}
	const interval = 100 * time.Millisecond
	var next time.Time
	buf := make([]byte, 64<<10)
	for {
		n, err := response.Body.Read(buf)
		alive()
		if _, err := part.Write(buf[:n]); err != nil {
			return err
		}
		f.report.Bytes += int64(n)
		if now := time.Now(); f.progress != nil && (err != nil || now.After(next)) {
			f.progress(f.report)
			next = now.Add(interval)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case f.report.Bytes > maxDownload:
			return fmt.Errorf("%s sends more than %d bytes", response.Request.URL.Host, maxDownload)
		}
	}
}

// accept moves a whole part to its place if its checksum is right, and removes it otherwise. The sum is
// that of the bytes on the disk, those of an earlier run included.
func (f *fetcher) accept(part string, file remoteFile, url string) error {
	sum, err := sumFile(part)
	if err != nil {
		return err
	}
	if sum != file.sum {
		if err := os.Remove(part); err != nil {
			return err
		}
		return &ChecksumError{File: file.name, URL: url, Sum: sum, Wanted: file.sum}
	}
	return os.Rename(part, filepath.Join(f.dir, file.name))
}
