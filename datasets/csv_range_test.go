package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
	"newtop/datasets/rowcache"
)

// rowsMagic and rowsTrailer are how many bytes a rows file has before the rows, and behind its description.
const rowsMagic, rowsTrailer = 16, 40

// tables are CSV texts of many kinds.
func tables() map[string]string {
	rng := rand.New(rand.NewPCG(3, 4))
	var mixed, classes, numbers, constant strings.Builder
	mixed.WriteString("\ufeffname;size;\"y; in \"\"m\"\"\";kind;x\r\n")
	numbers.WriteString("1,2,3,0.5,-0.0,1e300\n")
	for i := range 300 {
		fmt.Fprintf(&mixed, "w%d; %d ;%g;\"a\nb%c\";%v\r\n", rng.IntN(7), rng.IntN(256), rng.NormFloat64(), 'ä'+rune(rng.IntN(3)), float32(rng.NormFloat64()))
		fmt.Fprintf(&classes, "%d,%d,%g\n", rng.IntN(256), rng.IntN(3), rng.Float64())
		fmt.Fprintf(&numbers, "%d,%g,%g,%d,%s,%g\n", rng.IntN(300)-3, math.Ldexp(rng.Float64(), rng.IntN(2000)-1074),
			float32(rng.Float64()), rng.IntN(3)-1, []string{"-0", "0", "255", "255.5"}[rng.IntN(4)], 1e300*rng.NormFloat64()/9)
		fmt.Fprintf(&constant, "5\t%d\tsame\t%g\n", i%2, 0.1+0.5*float64(max(i-298, 0)))
	}
	return map[string]string{"mixed": mixed.String(), "classes": classes.String(), "numbers": numbers.String(), "constant": constant.String()}
}

// A CSV file read by range has the bits of the same file read whole: categories, quotes, a target in the
// middle, classes that are numbers, columns of every width.
func TestKeepOfCSV(t *testing.T) {
	for name, text := range tables() {
		for _, o := range []Options{{Seed: 1}, {Seed: 1, Target: "2"}, {Seed: 7, Target: "1", Test: "0.4"}, {Rows: 50, Target: "3", Test: "1"}} {
			if name == "constant" {
				o = Options{Seed: o.Seed + 1, Test: "0.5"} // the row with another target is tested on by some seeds
			}
			t.Run(fmt.Sprintf("%s/%d,%s,%s,%d", name, o.Seed, o.Target, o.Test, o.Rows), func(t *testing.T) {
				t.Setenv("NEWTOP_CACHE", t.TempDir())
				checkKeep(t, write(t, t.TempDir(), "t.csv", []byte(text)), o)
			})
		}
	}
}

// half keeps the second half of the rows to train on.
func half(s Sizes) Ranges {
	return Ranges{Train: {s[Train] / 2, s[Train]}, Validation: {0, s[Validation]}, Test: {0, s[Test]}}
}

// What is wrong with a file is told in the same words, and leaves nothing behind.
func TestKeepOfFaultyCSV(t *testing.T) {
	numbers := strings.Repeat("1,2,3\n1,2,4\n", 10)
	for _, text := range []string{
		"", "\n\n", "a,b\n", "1\n2\n", numbers + "1,x,3\n", numbers + "1,2\n", numbers + "1,\"2,3\n",
		numbers + "1,1e999,3\n", "a;b\n" + strings.Repeat("1;2\n", 10) + "1,5;3\n", "a,b,a\n1,2,3\n4,5,6\n", "\xff\xfe1\x00,\x002\x00",
		numbers + "1,\x00,3\n", "a,b\n1,gr\xfcn\n2,rot\n", "a,b\n1,gr\xfcn\n2,ro\x00t\n", "1,2\n2,2\n", "1,x\n2,x\n",
		numbers + strings.Repeat("1,2,5\n", 20000) + "1,ä,\xc3", strings.Repeat("1,ä\n", 13107) + "2,b\xa4\n",
	} {
		cache := t.TempDir()
		t.Setenv("NEWTOP_CACHE", cache)
		path := write(t, t.TempDir(), "t.csv", []byte(text))
		_, want := Load(path, Options{})
		_, err := Load(path, Options{Keep: half})
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%.40q: %v, without Keep %v", text, err, want)
		}
		left, _ := filepath.Glob(filepath.Join(cache, "rows", "*"))
		if len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
			t.Errorf("%.40q left %v", text, left)
		}
	}
	path := write(t, t.TempDir(), "t.csv", []byte(numbers))
	for _, o := range []Options{{Target: "x"}, {Test: "20"}} {
		_, want := Load(path, o)
		o.Keep = half
		if _, err := Load(path, o); err == nil || err.Error() != want.Error() {
			t.Errorf("%v, without Keep %v", err, want)
		}
	}
	long := write(t, t.TempDir(), "t.csv", []byte(numbers+"1,2,"+strings.Repeat("3", lex.MaxRow+1<<17)))
	_, err := Load(long, Options{Keep: half})
	if e, ok := errors.AsType[*fault.FormatError](err); !ok || e.Line != 21 || !strings.Contains(e.Found, "bytes in a row") {
		t.Errorf("%v", err)
	}
}

// converted returns the rows files in a directory.
func converted(t *testing.T, dir string) (files []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if !strings.HasSuffix(path, ".lock") {
			files = append(files, path)
		}
	}
	return files
}

// A rows file is made once, and anew when the CSV file was changed or the rows file is not sound.
func TestConversionIsKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("NEWTOP_CACHE", cache)
	text := []byte(tables()["mixed"])
	path := write(t, t.TempDir(), "t.csv", text)
	load := func() os.FileInfo {
		t.Helper()
		checkKeep(t, path, Options{})
		files := converted(t, filepath.Join(cache, "rows"))
		if len(files) != 1 {
			t.Fatalf("files %v", files)
		}
		info, err := os.Stat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	first := load()
	if again := load(); !os.SameFile(first, again) {
		t.Error("it was made twice")
	}
	file := converted(t, filepath.Join(cache, "rows"))[0]
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int) []byte {
		b := bytes.Clone(sound)
		b[(at+len(b))%len(b)] ^= 0x81
		return b
	}
	wrong := bytes.Clone(sound) // words that are not there, in every row
	for i := rowsMagic; i < len(sound)/2; i++ {
		wrong[i] = 0xff
	}
	for name, b := range map[string][]byte{"empty": nil, "torn": sound[:len(sound)-1], "longer": append(bytes.Clone(sound), 0), "magic": flipped(0),
		"checksum": flipped(-1), "length": flipped(-rowsTrailer), "description": flipped(-100), "rows": wrong} {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		load()
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, sound) {
			t.Errorf("%s: it was not made anew (%v)", name, err)
		}
	}
	// A copy has another time and the same text.
	first = load()
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if again := load(); !os.SameFile(first, again) {
		t.Error("it was made anew for a file with the same text")
	}
	// As long as before, and changed in the middle.
	at := bytes.IndexByte(text[len(text)/2:], 'w') + len(text)/2 + 1
	text[at] = '0' + (text[at]-'0'+1)%7
	write(t, filepath.Dir(path), "t.csv", text)
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	before := load()
	if os.SameFile(first, before) {
		t.Error("it was not made anew for a file that was changed in the middle")
	}
	text[len(text)-3] = '0' + (text[len(text)-3]-'0'+1)%9
	write(t, filepath.Dir(path), "t.csv", text)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if after := load(); os.SameFile(before, after) {
		t.Errorf("it was not made anew for a file of %v", info.ModTime())
	}
}

// Where the cache can't be written to, the rows go beside the CSV file; where nothing can, that is said.
func TestConversionElsewhere(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "t.csv", []byte(tables()["classes"]))
	// A file in the place of a directory stops every user.
	t.Setenv("NEWTOP_CACHE", write(t, t.TempDir(), "file", nil))
	checkKeep(t, path, Options{})
	if files := converted(t, filepath.Join(dir, ".newtop")); len(files) != 1 {
		t.Errorf("files %v", files)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".newtop")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, ".newtop", nil)
	_, err := Load(path, Options{Keep: half})
	if err == nil || !strings.Contains(err.Error(), "NEWTOP_CACHE") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

// Many at once: one converts, and the others wait and find the file made.
func TestConversionAtOnce(t *testing.T) {
	if path := os.Getenv("DATASETS_TEST_CSV"); path != "" {
		if _, err := Load(path, Options{Keep: half}); err != nil {
			t.Fatal(err)
		}
		return
	}
	cache := t.TempDir()
	t.Setenv("NEWTOP_CACHE", cache)
	path := write(t, t.TempDir(), "t.csv", []byte(tables()["mixed"]))
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConversionAtOnce$")
			c.Env = append(os.Environ(), "DATASETS_TEST_CSV="+path, "NEWTOP_CACHE="+cache)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("another process: %v\n%s", err, out)
			}
		})
	}
	for range 8 {
		all.Go(func() {
			if _, err := Load(path, Options{Keep: half}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	checkKeep(t, path, Options{})
	if files := converted(t, filepath.Join(cache, "rows")); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// Once converted, a range of a file costs the memory of what is kept.
func TestKeepOfLongCSV(t *testing.T) {
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	path := write(t, t.TempDir(), "t.csv", []byte(strings.Repeat("1.5,a,0.1\n2.5,b,0.2\n3.5,a,0.3\n", 20000)))
	keep := Options{Keep: func(s Sizes) Ranges { return Ranges{Train: {s[Train] - 10, s[Train]}} }}
	if _, err := Load(path, keep); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Load(path, keep)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err != nil || used > 1<<18 {
		t.Errorf("%d bytes allocated, %v", used, err)
	}
}

// FuzzConversion holds the rows of any text that is read by range to those of the text as a whole.
func FuzzConversion(f *testing.F) {
	for _, text := range tables() {
		f.Add([]byte(text), "2", 0, "|mean|||||0.2")
	}
	for _, s := range []string{"a,b\n1,2\n3,4\n", "1;x\n2;y\n", "1\t2\n3\t4\n", "\"a\"\"\",b\n1,2\n2,3\n", "1,2\r\n3,4\r\n", "x,y\n", "1,-0\n2,0\n3,7\n"} {
		f.Add([]byte(s), "", 2, "")
	}
	for _, options := range fuzzedOptions {
		f.Add([]byte(kinds(40)), "kind", 0, options)
		f.Add([]byte(kinds(60)), "price", 0, options)
	}
	f.Fuzz(func(t *testing.T, text []byte, target string, rows int, columns string) {
		path := write(t, t.TempDir(), "t.csv", text)
		t.Setenv("NEWTOP_CACHE", t.TempDir())
		o := optionsOf(columns, target, rows)
		whole, want := Load(path, o)
		var cut Ranges
		o.Keep = func(s Sizes) Ranges {
			cut = Ranges{Train: {s[Train] / 3, s[Train]/3 + 1}, Test: {s[Test] / 2, s[Test]}}
			return cut
		}
		part, err := Load(path, o)
		if fmt.Sprint(err) != fmt.Sprint(want) {
			t.Fatalf("%v, without Keep %v", err, want)
		}
		if err == nil {
			checkPart(t, part, whole, cut)
		}
	})
}

// FuzzRows looks for a rows file that panics, takes more memory than it has bytes, or gives what can't be.
func FuzzRows(f *testing.F) {
	dir := f.TempDir()
	f.Setenv("NEWTOP_CACHE", dir)
	if _, err := Load(write(f, f.TempDir(), "kinds", []byte(kinds(600))), Options{Keep: half}); err != nil {
		f.Fatal(err)
	}
	for name, text := range tables() {
		for _, target := range []string{"1", "2"} {
			if _, err := Load(write(f, f.TempDir(), name, []byte(text[:strings.IndexByte(text[1500:], '\n')+1501])), Options{Target: target, Keep: half}); err != nil {
				f.Log(name, err)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "rows", "*"))
	if err != nil || len(files) < 4 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, true)
	}
	f.Add(make([]byte, rowsMagic), false)
	f.Fuzz(func(t *testing.T, b []byte, signed bool) {
		if signed {
			b = signedRows(b)
		}
		rows, err := rowcache.Read("f", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			checkFormatError(t, err)
			return
		}
		d, err := trainOn("f.csv").rangeOf(rows, half)
		if err != nil {
			checkFormatError(t, err)
			return
		}
		for _, s := range []*Split{&d.Train, &d.Test} {
			for _, label := range s.Labels {
				if label < 0 || label >= len(d.Classes) {
					t.Fatalf("label %d of %d classes", label, len(d.Classes))
				}
			}
		}
		checkShape(t, d)
	})
}

// signedRows returns b with the checksum of what it says that its description is, so that fuzzing gets behind that.
func signedRows(b []byte) []byte {
	if len(b) < rowsMagic+rowsTrailer {
		return b
	}
	b = bytes.Clone(b)
	trailer := b[len(b)-rowsTrailer:]
	if n := binary.LittleEndian.Uint64(trailer); n <= uint64(len(b)-rowsMagic-rowsTrailer) {
		sum := sha256.Sum256(b[len(b)-rowsTrailer-int(n) : len(b)-rowsTrailer])
		copy(trailer[8:], sum[:])
	}
	return b
}
