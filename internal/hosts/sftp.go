package hosts

import (
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/pkg/sftp"

	"newtop/internal/routine"
)

// overSFTP is a line to the sftp subsystem of a host.
type overSFTP struct {
	*process
	client *sftp.Client
}

func openSFTP(p *process) (line, error) {
	defer p.await()()
	client, err := sftp.NewClientPipe(p.out, p.in)
	if err != nil {
		return nil, err
	}
	return &overSFTP{p, client}, nil
}

func (l *overSFTP) stat(name string, of handle) (a attr, is verdict, err error) {
	defer l.await()()
	f, ok := of.(*sftpHandle)
	if !ok {
		info, err := l.client.Stat(name)
		return attrOf(info), unsure, err
	}
	// Version 3 of the protocol has no numbers of files. What stands at a name is the open file if both look alike; if
	// not, that may be because it was written in between: then it lies between what the file was before and after.
	var own fs.FileInfo
	var beside sync.WaitGroup
	beside.Go(routine.Guard(func() { own, _ = f.File.Stat() }))
	info, err := l.client.Stat(name)
	beside.Wait()
	before := attrOf(own)
	if a = attrOf(info); err != nil || a.size == before.size && a.mode == before.mode && a.mtime.Equal(before.mtime) {
		return a, same, err
	}
	if info, err = l.client.Stat(name); err != nil {
		return a, unsure, err
	}
	a = attrOf(info)
	info, err = f.File.Stat()
	after := attrOf(info)
	if err == nil && before.size <= a.size && a.size <= after.size && !a.mtime.Before(before.mtime) &&
		!after.mtime.Before(a.mtime) {
		return a, same, nil
	}
	return a, other, err
}

func (l *overSFTP) open(name string) (handle, attr, error) {
	defer l.await()()
	var (
		info   fs.FileInfo
		wrong  error
		beside sync.WaitGroup // Open, for File.Stat behind it is a round trip more
	)
	beside.Go(routine.Guard(func() { info, wrong = l.client.Stat(name) }))
	f, err := l.client.Open(name)
	if beside.Wait(); err == nil && wrong != nil {
		err = errors.Join(wrong, f.Close())
	}
	return &sftpHandle{f, l}, attrOf(info), err
}

func (l *overSFTP) list(name string, most int) (list []attr, err error) {
	defer l.await()()
	entries, err := l.client.ReadDir(name)
	for _, e := range entries {
		if len(list) != most {
			list = append(list, attrOf(e))
		}
	}
	return list, err
}

func (l *overSFTP) close() {
	l.process.close()
	_ = l.client.Close()
}

// answered reports whether an error is the host's answer.
func (l *overSFTP) answered(err error) bool {
	status, ok := errors.AsType[*sftp.StatusError](err)
	if ok {
		const noConnection, connectionLost = 6, 7
		return status.Code != noConnection && status.Code != connectionLost
	}
	return err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

type sftpHandle struct {
	*sftp.File
	l *overSFTP
}

func (h *sftpHandle) ReadAt(b []byte, at int64) (int, error) {
	defer h.l.await()()
	return h.File.ReadAt(b, at)
}

func attrOf(info fs.FileInfo) (a attr) {
	if info != nil {
		a = attr{name: info.Name(), size: info.Size(), mode: info.Mode(), mtime: info.ModTime()}
	}
	return a
}
