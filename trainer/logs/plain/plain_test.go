package plain

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

func utf16Of(text string, order binary.AppendByteOrder) (b []byte) {
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

const text = "step 1 loss 0.5\n第1轮 损失 0.25 \U0001F600 ü\n"

// However a text is written and cut, it comes out the same.
func TestDecoder(t *testing.T) {
	for name, raw := range map[string][]byte{
		"UTF-8": []byte(text), "mark": []byte("\xef\xbb\xbf" + text),
		"little endian": utf16Of(text, binary.LittleEndian), "big endian": utf16Of(text, binary.BigEndian),
		"little endian, mark": utf16Of("\ufeff"+text, binary.LittleEndian), "big endian, mark": utf16Of("\ufeff"+text, binary.BigEndian),
	} {
		for cut := 1; cut <= len(raw); cut++ {
			var d Decoder
			var got []byte
			for at := 0; at < len(raw); at += cut {
				if cut == 1 && at == 0 && !strings.Contains(name, "mark") { // one byte says nothing of what follows
					got, at = d.Append(got, raw[:4]), 4
				}
				got = d.Append(got, raw[at:min(len(raw), at+cut)])
			}
			if got = d.End(got); string(got) != text {
				t.Fatalf("%s in pieces of %d: %q", name, cut, got)
			}
		}
		if got := Text(raw, 1<<20); string(got) != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	var d Decoder
	if got := d.End(d.Append(nil, []byte("\xff"))); string(got) != "\xff" {
		t.Errorf("%q", got)
	}
}

func TestLatin1(t *testing.T) {
	for line, want := range map[string]string{"loss 1": "loss 1", "f\xfcr 0.5": "für 0.5", "für \xe9t\xe9": "für été", "a\x9bb": "a\ufffdb"} {
		if got := string(Line([]byte(line))); got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestBinary(t *testing.T) {
	for head, want := range map[string]bool{"loss 1\x00\x00": false, "\x00\x00step": false, "PK\x03\x04\x00": true, "\x93NUMPY\x00 \x00\x00\x00\x00\x00": true, "\x1b[31mred\x00": false,
		"\x00größe": false, "\x00gr\xc3": false, "": false} {
		if got := Binary([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

func packed(t *testing.T, kind string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	var err error
	switch kind {
	case "zst":
		w, err = zstd.NewWriter(&b)
	case "xz":
		w, err = xz.NewWriter(&b)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReader(t *testing.T) {
	long := bytes.Repeat([]byte(text), 10_000)
	for _, kind := range []string{"gz", "zst", "xz"} {
		raw := packed(t, kind, long)
		raw = append(raw, packed(t, kind, []byte("more"))...) // as a log that is rotated into one file
		for name, r := range map[string]io.Reader{"at once": bytes.NewReader(raw), "byte by byte": iotest.OneByteReader(bytes.NewReader(raw)), "with its end": iotest.DataErrReader(bytes.NewReader(raw))} {
			got, err := io.ReadAll(Reader(r))
			if err != nil || string(got) != string(long)+"more" {
				t.Errorf("%s, %s: %d bytes, %v", kind, name, len(got), err)
			}
		}
		got, err := io.ReadAll(Reader(bytes.NewReader(raw[:len(raw)/2])))
		if !errors.Is(err, ErrDamaged) || !bytes.HasPrefix(append(long, "more"...), got) {
			t.Errorf("%s, half: %d bytes, %v", kind, len(got), err)
		}
		if got := Text(raw[:len(raw)/2], 100); kind == "gz" && !bytes.HasPrefix(long, got) {
			t.Errorf("%s: %q", kind, got)
		}
	}
	for _, plain := range []string{"", "B", "BZ", "loss", "\x1f", "\xfd7zX"} {
		got, err := io.ReadAll(Reader(iotest.OneByteReader(strings.NewReader(plain))))
		if err != nil || string(got) != plain {
			t.Errorf("%q: %q, %v", plain, got, err)
		}
	}
	if _, err := io.ReadAll(Reader(strings.NewReader("BZh91AY"))); err == nil || !strings.Contains(err.Error(), "bzip2 -dc | newtop watch -") {
		t.Error(err)
	}
	if err := Refused([]byte("BZh91AY"), "a.bz2"); err == nil || !strings.Contains(err.Error(), "bzip2 -dc 'a.bz2' | newtop watch -") {
		t.Error(err)
	}
}
