// Package score reports how well outputs fit targets: figures, which classes are taken for which, the worst rows, and
// what each input is worth.
package score

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/internal/format"
	"newtop/trainer/event"
)

// Kind is what rows of targets and outputs mean.
type Kind struct {
	// Classes are the names of what each output stands for; nil for regression. The class of a row is where its target
	// is largest.
	Classes []string
	// Positive is of two classes the rarer one of the training rows, of which F1 is; empty: the rarer scored one.
	Positive string
	// Probabilities says that the outputs of classes are what a softmax makes.
	Probabilities bool
	// Units are what one of each target is in the units of the data; nil: 1. Where they differ MAE and RMSE stay as the
	// targets are.
	Units []float64
}

// calibrationBins is M of [Guo et al. 2017, §2], which takes 15 in its tables.
const calibrationBins = 15

// epsilon is the least probability of a class in the log loss, 2⁻⁵², as scikit-learn has it.
const epsilon = 0x1p-52

// Scorer takes rows of targets and outputs one by one, in any number. What it returns depends on their order by
// rounding alone.
type Scorer struct {
	kind Kind
	rows int

	misclassified int
	log           float64
	have, hit     []int // of each class: rows of it, and those that are said to be of it
	said          []int
	bins          [calibrationBins]struct {
		rows, right int
		p           float64
	}
	ranked ranking

	absolute, squared float64 // Σ of all outputs
	targets           []moments
}

// moments are the mean of numbers and Σ(t − t̄)² by Welford's recurrence, with Σ(u − t)².
type moments struct{ mean, total, residual float64 }

// NewScorer returns one for rows of that many outputs.
func NewScorer(k Kind, outputs int) *Scorer {
	if k.Classes == nil {
		return &Scorer{kind: k, targets: make([]moments, outputs)}
	}
	return &Scorer{kind: k, have: make([]int, outputs), hit: make([]int, outputs), said: make([]int, outputs),
		ranked: newRanking(outputs)}
}

// Add takes the targets t and the outputs u of a row.
func (s *Scorer) Add(t, u []float64) {
	s.rows++
	if s.kind.Classes == nil {
		s.addValues(t, u)
		return
	}
	class := floats.MaxIdx(t)
	s.have[class]++
	s.ranked.add(class, u)
	if floats.HasNaN(u) {
		s.misclassified++
		s.log = math.NaN()
		return
	}
	best := floats.MaxIdx(u)
	s.said[best]++
	if best == class {
		s.hit[class]++
	} else {
		s.misclassified++
	}
	if !s.kind.Probabilities {
		return
	}
	s.log -= math.Log(min(max(u[class], epsilon), 1))
	// Bin m has the rows with the largest p in ((m−1)/M, m/M].
	b := &s.bins[min(max(int(math.Ceil(u[best]*calibrationBins))-1, 0), calibrationBins-1)]
	b.rows++
	b.p += u[best]
	if best == class {
		b.right++
	}
}

func (s *Scorer) addValues(t, u []float64) {
	for k := range t {
		r := u[k] - t[k]
		s.absolute += math.Abs(r)
		s.squared += r * r
		m := &s.targets[k]
		m.residual += r * r
		d := t[k] - m.mean
		m.mean += d / float64(s.rows)
		m.total += d * (t[k] - m.mean)
	}
}

// Scores returns how well the rows fit that came so far, of a split by its name.
func (s *Scorer) Scores(split string) event.Scores {
	e := event.UnknownScores()
	e.Split, e.Rows = split, s.rows
	if s.rows == 0 {
		return e
	}
	if s.kind.Classes == nil {
		s.values(&e)
		return e
	}
	e.Error = event.Float(float64(s.misclassified) / float64(s.rows))
	if s.kind.Probabilities {
		e.Log = event.ValueOf(s.log / float64(s.rows))
		e.Calibration = event.Float(s.calibration())
	}
	e.AUC = s.area()
	e.F1, e.Positive = s.f1()
	return e
}

// values fills in the scores of regression. R² of targets that are all equal has no value.
func (s *Scorer) values(e *event.Scores) {
	unit, count := 1.0, float64(s.rows*len(s.targets))
	if units := s.kind.Units; len(units) > 0 {
		e.Standardized = slices.ContainsFunc(units, func(v float64) bool { return v != units[0] })
		if !e.Standardized {
			unit = units[0]
		}
	}
	e.MAE = event.ValueOf(unit * s.absolute / count)
	e.RMSE = event.ValueOf(unit * math.Sqrt(s.squared/count))
	r2 := 0.0
	for _, m := range s.targets {
		if m.total == 0 {
			return
		}
		r2 += (1 - m.residual/m.total) / float64(len(s.targets))
	}
	e.R2 = event.ValueOf(r2)
}

// calibration returns ECE = Σ_m |B_m|/n·|acc(B_m) − conf(B_m)| [Guo et al. 2017, eq. 3].
func (s *Scorer) calibration() (sum float64) {
	for _, b := range s.bins {
		sum += math.Abs(float64(b.right)-b.p) / float64(s.rows)
	}
	return sum
}

// positive returns which of two classes the positive one is.
func (s *Scorer) positive() int {
	k := slices.Index(s.kind.Classes, s.kind.Positive)
	if k < 0 {
		k = 1 - min(1, max(0, s.have[1]-s.have[0]))
	}
	return k
}

// area returns AUC: of two classes that of the positive one, of more the mean over those with rows of them and of
// others. Both classes of two have the same where their outputs sum to 1. It is rounded to the digits that are known.
func (s *Scorer) area() event.Float {
	var sum, within float64
	n := 0
	for k, rows := range s.have {
		if rows > 0 && rows < s.rows && (len(s.have) != 2 || k == s.positive()) {
			area, of := s.ranked.area(k)
			sum, within, n = sum+area, within+of, n+1
		}
	}
	if n == 0 || math.IsNaN(sum) {
		return event.Absent
	}
	area, digits := sum/float64(n), -math.Log10(2*within/float64(n))
	switch {
	case math.IsInf(digits, 1):
	case digits < 1:
		return event.Absent
	default:
		area = format.Round(area, int(digits))
	}
	return event.Float(area)
}

// f1 returns F1 of the positive class of two and its name, or the mean over those of more classes that there are or
// that are said.
func (s *Scorer) f1() (event.Float, string) {
	of := func(k int) (float64, bool) {
		all := s.have[k] + s.said[k] // 2TP + FP + FN
		return 2 * float64(s.hit[k]) / float64(all), all > 0
	}
	if len(s.have) == 2 {
		k := s.positive()
		if v, ok := of(k); ok {
			return event.Float(v), s.kind.Classes[k]
		}
		return event.Absent, s.kind.Classes[k]
	}
	sum, n := 0.0, 0
	for k := range s.have {
		if v, ok := of(k); ok {
			sum += v
			n++
		}
	}
	if n == 0 {
		return event.Absent, ""
	}
	return event.Float(sum / float64(n)), ""
}
