package stream

import (
	"math"
	"strings"

	"newtop/trainer/event"
)

// What the words of a tag say. Words that say nothing here are left out: epoch_loss is the loss, as is Loss/train.
var (
	trainWords = words("train training tr fit")
	testWords  = words("val valid validation test testing eval evaluation dev")
	idleWords  = words("epoch step mean avg average total metrics metric scalars running")

	measures = map[string]measure{
		"loss": lossMeasure, "cost": lossMeasure, "nll": lossMeasure, "cross entropy": lossMeasure,
		"crossentropy": lossMeasure,

		"acc": accuracyMeasure, "accuracy": accuracyMeasure, "acc1": accuracyMeasure, "top1": accuracyMeasure,
		"top 1": accuracyMeasure, "top1 acc": accuracyMeasure, "top1 accuracy": accuracyMeasure,
		"categorical accuracy": accuracyMeasure, "sparse categorical accuracy": accuracyMeasure,
		"binary accuracy": accuracyMeasure,

		"err": errorMeasure, "error": errorMeasure, "error rate": errorMeasure,

		"rmse": rmseMeasure, "root mean squared error": rmseMeasure,

		"lr": rateMeasure, "learning rate": rateMeasure, "learningrate": rateMeasure,

		"grad norm": gradientMeasure, "gradient norm": gradientMeasure, "gradnorm": gradientMeasure,
		"grad 2.0 norm": gradientMeasure,
	}
)

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// measure is what a tag measures.
type measure uint8

const (
	otherMeasure measure = iota
	lossMeasure
	accuracyMeasure
	errorMeasure
	rmseMeasure
	rateMeasure
	gradientMeasure
	stepMeasure
	radiusMeasure
	rhoMeasure
	equivalentsMeasure
	secondsMeasure
)

// exported are the tags that newtop writes itself and whose words alone say less.
var exported = map[string]measure{
	"step/step_norm": stepMeasure, "step/radius": radiusMeasure, "step/rho": rhoMeasure, "step/rate": rateMeasure,
	"work/gradient_equivalents": equivalentsMeasure, "work/seconds": secondsMeasure,
}

// place is where the values of a tag go: a measure over training rows or over test rows. The zero value is a figure.
type place struct {
	measure measure
	test    bool
}

// placeOf reads a tag, its directory before it, as train/epoch_loss, Loss/val, eval_accuracy or trainLoss.
func placeOf(tag string) place {
	if m, ok := exported[tag]; ok {
		return place{measure: m}
	}
	var rest []string
	test := false
	for _, w := range splitTag(tag) {
		switch {
		case testWords[w]:
			test = true
		case trainWords[w], idleWords[w]:
		default:
			rest = append(rest, w)
		}
	}
	m := measures[strings.Join(rest, " ")]
	switch m {
	case lossMeasure, accuracyMeasure, errorMeasure, rmseMeasure:
		return place{m, test}
	}
	return place{measure: m}
}

// splitTag cuts a tag into lower-case words, at what stands between them and where a small letter is followed by a capital.
func splitTag(tag string) []string {
	var b strings.Builder
	small := false
	for _, c := range tag {
		switch {
		case c == '/' || c == '_' || c == '-' || c == ' ' || c == ':' || c == '\\' || c == '@':
			b.WriteByte(' ')
			small = false
			continue
		case small && c >= 'A' && c <= 'Z':
			b.WriteByte(' ')
		}
		small = c >= 'a' && c <= 'z'
		b.WriteRune(c)
	}
	return strings.Fields(strings.ToLower(b.String()))
}

// field returns where a place is in an epoch.
func (p place) field(e *event.EpochEvent) *event.Float {
	pick := func(train, test *event.Float) *event.Float {
		if p.test {
			return test
		}
		return train
	}
	switch p.measure {
	case lossMeasure:
		return pick(&e.Loss, &e.TestLoss)
	case accuracyMeasure, errorMeasure:
		return pick(&e.Error, &e.TestError)
	case rmseMeasure:
		return pick(&e.RMSE, &e.TestRMSE)
	case rateMeasure:
		return &e.Rate
	case gradientMeasure:
		return &e.GradientNorm
	case stepMeasure:
		return &e.StepNorm
	case radiusMeasure:
		return &e.Radius
	case rhoMeasure:
		return &e.Rho
	case equivalentsMeasure:
		return &e.GradientEquivalents
	case secondsMeasure:
		return &e.Seconds
	}
	return nil
}

// same makes places equal that share a field.
func (p place) same() place {
	if p.measure == accuracyMeasure {
		p.measure = errorMeasure
	}
	return p
}

// curve is a tag with where its values go.
type curve struct {
	key     string
	place   place
	percent bool  // an accuracy from 0 to 100
	any     bool  // whether it has a value
	step    int   // of the newest
	raw     int64 // the same as it was written
	apart   bool  // whether that went to another step, as it counts them otherwise
}

// put sets the value in the epoch.
func (c *curve) put(e *event.EpochEvent, v float64) {
	if f := c.place.field(e); f != nil {
		switch c.place.measure {
		case accuracyMeasure:
			if v > 1 && v <= 100 {
				c.percent = true
			}
			if c.percent {
				v /= 100
			}
			v = max(0, 1-v)
		case errorMeasure:
			if v < 0 || v > 1 { // no share of the rows
				c.place = place{}
				c.put(e, v)
				return
			}
		}
		*f = event.Float(v)
		return
	}
	for i := range e.Figures {
		if e.Figures[i].Key == c.key {
			e.Figures[i].Value = event.Float(v)
			return
		}
	}
	e.Figures = append(e.Figures, event.Figure{Key: c.key, Value: event.Float(v)})
}

// has reports whether the epoch has a value of the curve.
func (c *curve) has(e *event.EpochEvent) bool {
	if f := c.place.field(e); f != nil {
		return !math.IsNaN(float64(*f))
	}
	for i := range e.Figures {
		if e.Figures[i].Key == c.key {
			return true
		}
	}
	return false
}
