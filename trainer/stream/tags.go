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

	quantities = map[string]event.Quantity{
		"loss": event.Loss, "cost": event.Loss, "nll": event.Loss, "cross entropy": event.Loss, "crossentropy": event.Loss,

		"err": event.Error, "error": event.Error, "error rate": event.Error,

		"rmse": event.RMSE, "root mean squared error": event.RMSE,

		"lr": event.Rate, "learning rate": event.Rate, "learningrate": event.Rate,

		"grad norm": event.GradientNorm, "gradient norm": event.GradientNorm, "gradnorm": event.GradientNorm,
		"grad 2.0 norm": event.GradientNorm,
	}

	accuracies = map[string]bool{
		"acc": true, "accuracy": true, "acc1": true, "top1": true, "top 1": true, "top1 acc": true, "top1 accuracy": true,
		"categorical accuracy": true, "sparse categorical accuracy": true, "binary accuracy": true,
	}
)

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// place is where the values of a tag go: a quantity of an epoch, or, for the zero value, a figure.
type place struct {
	known    bool
	quantity event.Quantity
	accuracy bool // the values are what the quantity, an error, lacks of 1
}

// placeOf reads a tag, its directory before it, as train/epoch_loss, Loss/val, eval_accuracy or trainLoss.
func placeOf(tag string) place {
	for q := range event.QuantityCount { // newtop's own, whose words alone may say less
		if tag != "" && tag == q.Info().Tag {
			return place{known: true, quantity: q}
		}
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
	text := strings.Join(rest, " ")
	var p place
	if p.quantity, p.known = quantities[text]; accuracies[text] {
		p = place{known: true, quantity: event.Error, accuracy: true}
	}
	if test && p.known && p.quantity <= event.RMSE {
		p.quantity = event.Measure{Quantity: p.quantity}.Test()
	}
	return p
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

// field returns where a place is in an epoch, nil for a figure.
func (p place) field(e *event.EpochEvent) *event.Float {
	if !p.known {
		return nil
	}
	return p.quantity.Of(e)
}

// same makes places equal that share a field.
func (p place) same() place {
	p.accuracy = false
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
		switch {
		case c.place.accuracy:
			if v > 1 && v <= 100 {
				c.percent = true
			}
			if c.percent {
				v /= 100
			}
			v = max(0, 1-v)
		case c.place.quantity.Info().Share && (v < 0 || v > 1): // no share of the rows
			c.place = place{}
			c.put(e, v)
			return
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
