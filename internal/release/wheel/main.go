// Command wheel packs a built newtop and newtop.py into a wheel, so that pip installs both the command and the module:
//
//	go run ./internal/release/wheel VERSION GOOS/GOARCH BINARY DIR
//
// It writes nothing for systems that Python's package index has no tag for. The same input makes the same bytes.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"newtop/internal/python"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("wheel: ")
	if len(os.Args) != 5 {
		log.Fatal("expected VERSION GOOS/GOARCH BINARY DIR")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		log.Fatal(err)
	}
}

// tags are the platforms as wheels name them. Programs of Go need neither glibc nor musl, and macOS 12 or later.
var tags = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
	"freebsd/amd64": "",
	"freebsd/arm64": "",
}

// run is called in the root of the module, where the licences are.
func run(version, platform, binary, dir string) error {
	tag, ok := tags[platform]
	if !ok {
		return fmt.Errorf("%s: expected a platform as linux/amd64", platform)
	}
	if tag == "" {
		return nil
	}
	version, err := pythonVersion(version)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	files := []file{{"newtop.py", []byte(python.Module()), 0o644}}
	command := "newtop"
	if strings.HasPrefix(platform, "windows/") {
		command += ".exe"
	}
	files = append(files, file{"newtop-" + version + ".data/scripts/" + command, program, 0o755})
	about := "newtop-" + version + ".dist-info/"
	for _, name := range []string{"LICENSE", "THIRD_PARTY.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files = append(files, file{about + "licenses/" + name, text, 0o644})
	}
	kinds := ""
	for t := range strings.SplitSeq(tag, ".") {
		kinds += "Tag: py3-none-" + t + "\n"
	}
	files = append(files,
		file{about + "METADATA", fmt.Appendf(nil, metadata, version), 0o644},
		file{about + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: newtop\nRoot-Is-Purelib: false\n" + kinds), 0o644})
	files = append(files, record(files, about+"RECORD"))
	var b bytes.Buffer
	if err := pack(&b, files); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "newtop-"+version+"-py3-none-"+tag+".whl"), b.Bytes(), 0o644)
}

const metadata = `Metadata-Version: 2.4
Name: newtop
Version: %s
Summary: A terminal lab for second-order training of feed-forward networks
License-Expression: MIT
License-File: LICENSE
License-File: THIRD_PARTY.md
Requires-Python: >=3.8
Description-Content-Type: text/markdown

The command ` + "`newtop`" + ` trains feed-forward networks with exact curvature, watches any training program in a
terminal, and finds the spectrum of PyTorch models. ` + "`import newtop`" + ` logs from a training loop and serves a model
to the command.
`

var versions = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(?:-(rc)\.?(\d+)|-dev)?$`)

// pythonVersion returns a version of a release as PEP 440 writes it: 1.2.3-rc.1 is 1.2.3rc1, and 1.2.3-dev is
// 1.2.3.dev0.
func pythonVersion(version string) (string, error) {
	m := versions.FindStringSubmatch(version)
	switch {
	case m == nil:
		return "", fmt.Errorf("%s: expected a version as 1.2.3, 1.2.3-rc.1 or 1.2.3-dev", version)
	case m[2] == "rc":
		return m[1] + "rc" + m[3], nil
	case strings.HasSuffix(version, "-dev"):
		return m[1] + ".dev0", nil
	}
	return m[1], nil
}

type file struct {
	name string
	text []byte
	mode os.FileMode
}

// record returns the list of all files with their sums, in which it stands itself without one.
func record(files []file, name string) file {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.text)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	fmt.Fprintf(&b, "%s,,\n", name)
	return file{name, b.Bytes(), 0o644}
}

func pack(w io.Writer, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode)
		part, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.text); err != nil {
			return err
		}
	}
	return z.Close()
}
