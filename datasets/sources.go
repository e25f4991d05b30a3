package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"newtop/datasets/fault"
)

// source says where the files of a real set can be downloaded and what they are.
type source struct {
	name    string
	mirrors []string // directories, with a slash at the end
	files   []remoteFile
}

type remoteFile struct {
	name string // as it is on the mirrors
	sum  string // SHA-256 in hexadecimal
}

var sources = []source{
	{"letter", []string{"https://archive.ics.uci.edu/ml/machine-learning-databases/letter-recognition/"}, []remoteFile{
		{letterFile, "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2"},
	}},
	{"mnist", []string{"https://storage.googleapis.com/cvdf-datasets/mnist/",
		"https://ossci-datasets.s3.amazonaws.com/mnist/"}, []remoteFile{
		{"train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
		{"train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
		{"t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
		{"t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
	}},
	// An S3 website has no TLS; the checksums stand in for it.
	{"fashion", []string{"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"}, []remoteFile{
		{"train-images-idx3-ubyte.gz", "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
		{"train-labels-idx1-ubyte.gz", "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
		{"t10k-images-idx3-ubyte.gz", "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
		{"t10k-labels-idx1-ubyte.gz", "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"},
	}},
}

// findSource returns the source of a set, ErrGenerated for a set without files, or an *UnknownError.
func findSource(name string) (*source, error) {
	if i := slices.IndexFunc(sources, func(s source) bool { return s.name == name }); i >= 0 {
		return &sources[i], nil
	}
	if slices.ContainsFunc(sets(), func(s set) bool { return s.Name == name }) {
		return nil, fmt.Errorf("%s: %w", name, ErrGenerated)
	}
	return nil, unknown(name)
}

func sourceOf(name string) string {
	s, err := findSource(name)
	if err != nil {
		panic("datasets: " + err.Error())
	}
	return s.mirrors[0]
}

// CacheDir returns the directory in which downloaded files are kept: $NEWTOP_CACHE, or newtop in the
// user's cache directory. It may not exist yet.
func CacheDir() (string, error) {
	if dir := os.Getenv("NEWTOP_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fault.Options.Errorf("no cache directory: %w; set NEWTOP_CACHE or use {DataDir} DIR", err)
	}
	return filepath.Join(dir, "newtop"), nil
}

// searchDirs returns the directories in which the files of a set are looked for, in order.
func searchDirs(name, dir string) ([]string, error) {
	if dir == "" {
		var err error
		if dir, err = CacheDir(); err != nil {
			return nil, err
		}
	}
	return []string{filepath.Join(dir, name), dir}, nil
}

// locate returns the path of the file in dir, packed or not, and whether it is there.
func locate(dir, file string) (string, bool) {
	plain := strings.TrimSuffix(file, ".gz")
	for _, name := range []string{plain, plain + ".gz"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}
