//go:build unix

package peer

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// echo is a peer whose Hessian is the identity, and which does nothing but move bytes.
func echo(conn net.Conn, n int, maps bool) {
	defer conn.Close()
	f := &fake{conn: conn, n: n, single: true, maps: maps}
	if !f.send("hello", f.hello(), "", nil) {
		return
	}
	q, _, err := f.read()
	if err != nil {
		return
	}
	bytes := 4 * n
	offset, described := 0, ""
	var memory []byte
	if q.Map != nil {
		file, err := os.OpenFile(q.Map.Path, os.O_RDWR, 0)
		if err != nil {
			return
		}
		defer file.Close()
		if memory, err = unix.Mmap(int(file.Fd()), 0, int(q.Map.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
			return
		}
		defer func() { _ = unix.Munmap(memory) }()
		offset, described = len(memory)/2, `"map":true,`
	}
	if f.send("welcome", map[string]any{"id": 0, "map": memory != nil}, "", nil); err != nil {
		return
	}
	begin, head, body := make([]byte, 16), make([]byte, 1<<12), make([]byte, bytes)
	for id := 1; ; id++ {
		if _, err := io.ReadFull(conn, begin); err != nil {
			return
		}
		if _, err := io.ReadFull(conn, head[:binary.LittleEndian.Uint32(begin[4:])]); err != nil {
			return
		}
		sent := body[:binary.LittleEndian.Uint64(begin[8:])]
		if _, err := io.ReadFull(conn, sent); err != nil {
			return
		}
		if memory != nil {
			copy(memory[offset:], memory[:bytes])
		}
		text := fmt.Sprintf(`{"id":%d,"vectors":{"hv":{"dtype":"F32","shape":[%d],%s"data_offsets":[%d,%d]}}}`, id, n, described, offset, offset+bytes)
		b := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(text)))
		b = append(binary.LittleEndian.AppendUint64(b, uint64(len(sent))), text...)
		if _, err := conn.Write(b); err != nil {
			return
		}
		if _, err := conn.Write(sent); err != nil {
			return
		}
	}
}

// BenchmarkRoundTrip is a product there and back, beside copying the floats twice.
func BenchmarkRoundTrip(b *testing.B) {
	for _, n := range []int{1e4, 1e6, 1e7} {
		for _, maps := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%.0e,map=%v", float64(n), maps), func(b *testing.B) {
				near, far := sockets(b)
				go echo(far, n, maps)
				c, err := New(b.Context(), near, Options{Map: 1})
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				x, raw, other := make([]float64, n), make([]byte, 4*n), make([]byte, 4*n)
				x[n-1] = 1
				var copying time.Duration
				b.ReportAllocs()
				for b.Loop() {
					if err := c.HessianTo(x, x); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					began := time.Now()
					copy(other, raw)
					copy(raw, other)
					copying += time.Since(began)
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed())/float64(copying), "×copy")
				if x[n-1] != 1 {
					b.Error("not what was sent")
				}
			})
		}
	}
}
