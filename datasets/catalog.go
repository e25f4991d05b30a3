package datasets

import (
	"errors"
	"slices"
	"strings"
)

// Kind says where the rows of a set come from.
type Kind string

// The kinds.
const (
	Generated Kind = "generated" // made here, no file needed
	File      Kind = "file"      // read from files in Options.Dir
)

// Task says what is learnt.
type Task string

// The tasks.
const (
	Classification Task = "classification"
	Regression     Task = "regression"
)

// Info describes a set that Load knows by name, as it is with the zero Options.
type Info struct {
	Name    string
	Title   string
	Kind    Kind
	Rows    int // training and test rows
	Inputs  int
	Outputs int
	Classes int // 0 for regression
	Task    Task
	Source  string // an address, or how it is made
}

// set is a named set: what List shows of it and how it is loaded.
type set struct {
	Info
	load func(Options) (*Dataset, error)
}

// sets returns the named sets in the order in which they are listed: the own ones, then those of Register.
func sets() []set {
	return append([]set{
		{Info{"letters", "rendered capital letters, 16 attributes of each", Generated, lettersRows, 16, 26, 26,
			Classification, "the Go fonts, distorted; attributes of Frey & Slate 1991"}, loadLetters},
		{Info{"digits", "rendered digits, 28×28 grey images", Generated, digitsRows, 784, 10, 10,
			Classification, "the Go fonts, distorted"}, loadDigits},
		{Info{"spirals", "two intertwined spirals in the plane", Generated, spiralsRows, 2, 2, 2,
			Classification, "after Lang & Witbrock 1988"}, loadSpirals},
		{Info{"parity", "parity of 8 bits", Generated, 2 << parityBits, parityBits, 2, 2,
			Classification, "every pattern of bits, and once more with noise for testing"}, loadParity},
		{Info{"sine", "two waves of a sine with noise", Generated, sineRows, 1, 1, 0,
			Regression, "sin 2πx with normal noise, σ = 0.1"}, loadSine},
		{Info{"recipes", "colour recipes, ten colorants from 16 reflectances", Generated, recipesRows, bands, 10, 0,
			Regression, "Kubelka–Munk mixtures, after Mizutani & Demmel 2003"}, loadRecipes},
		{Info{"recipes-near", "colour recipes of colorants near in hue", Generated, recipesRows, bands, 10, 0,
			Regression, "the same, as colourists mix"}, loadRecipesNear},
		{Info{"bpls-linear", "toy problem of the BPLS paper, two lines", Generated, 10, 1, 2, 0,
			Regression, "Tomic et al. 2024, §III-A"}, loadBPLSLinear},
		{Info{"bpls-sigmoid", "toy problem of the BPLS paper, two curves", Generated, 10, 1, 2, 0,
			Regression, "Tomic et al. 2024, §III-A"}, loadBPLSSigmoid},
		{Info{"letter", "UCI letter recognition, 16 attributes", File, 20000, 16, 26, 26,
			Classification, sourceOf("letter")}, loadUCILetter},
		{Info{"mnist", "MNIST, handwritten digits, 28×28 grey images", File, 70000, 784, 10, 10,
			Classification, sourceOf("mnist")}, func(o Options) (*Dataset, error) { return loadImages(mnist, o) }},
		{Info{"fashion", "Fashion-MNIST, articles of clothing, 28×28 grey images", File, 70000, 784, 10, 10,
			Classification, sourceOf("fashion")}, func(o Options) (*Dataset, error) { return loadImages(fashion, o) }},
	}, registered...)
}

// pathCharacters are those by which a name is taken for that of a file.
const pathCharacters = `/\.,*?[`

// List describes every set that Load knows by name, the default first.
func List() []Info {
	var list []Info
	for _, s := range sets() {
		list = append(list, s.Info)
	}
	return list
}

// Load returns the set of that name, or the table of the file at that path, in CSV or a format of package convert. It
// is also looked for in Options.Dir and may be packed by gzip. Several files are one table: all *.csv and *.csv.gz of a
// directory, those that a pattern matches (parts/*.csv), or names parted by commas; their rows follow one another in
// the order of the files' names. A listed name wins over a file; write ./letters to mean a file.
//
// It returns an *UnknownError for neither, a *NotFoundError when a set's files or a CSV file are not
// there, a *fault.FormatError when a file is not what it should be, and an *fault.OptionError when an option is not
// allowed or does not fit the set.
func Load(name string, o Options) (*Dataset, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	known := sets()
	if i := slices.IndexFunc(known, func(s set) bool { return s.Name == name }); i >= 0 {
		return known[i].load(o)
	}
	f, err := findCSV(name, o.Dir)
	if _, missing := errors.AsType[*NotFoundError](err); missing && !strings.ContainsAny(name, pathCharacters) {
		return nil, unknown(name)
	}
	if err != nil {
		return nil, err
	}
	if f, err = f.withTests(&o); err != nil {
		return nil, err
	}
	return loadCSV(f, o)
}

// IsTable reports whether Load takes a name for that of a table's file, and not of a set that it knows.
func IsTable(name string) bool {
	return !slices.ContainsFunc(sets(), func(s set) bool { return s.Name == name })
}

func unknown(name string) error {
	e := &UnknownError{Name: name}
	for _, s := range sets() {
		e.Known = append(e.Known, s.Name)
	}
	return e
}
