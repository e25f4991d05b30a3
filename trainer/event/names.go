package event

import "strings"

// The one table of what other programs call the numbers of an epoch: tags of TensorBoard, keys of JSON, columns of CSV.
// Words that say nothing here are left out: epoch_loss is the loss, as is Loss/train.
var (
	trainNames      = setOf("train training tr fit learn")
	validationNames = setOf("val valid validation eval evaluation dev")
	testNames       = setOf("test testing")
	ignoredNames    = setOf("epoch step mean avg average total metrics metric scalars running set")

	namedQuantities = map[string]Quantity{
		"loss": Loss, "cost": Loss, "objective": Loss, "f": Loss, "fval": Loss, "fun": Loss,
		"fx": Loss, "损失": Loss,
		"lm loss": Loss, "obj": Loss, "obj func": Loss, "mini batch loss": Loss, "nll": Loss,
		"cross entropy": Loss, "crossentropy": Loss,
		"logloss": Loss, "mlogloss": Loss, "log loss": Loss, "softmax loss": Loss,
		"binary logloss": Loss, "multi logloss": Loss,

		"err": Error, "error": Error, "error rate": Error,

		"rmse": RMSE, "root mean squared error": RMSE,

		"lr": Rate, "learning rate": Rate, "learningrate": Rate, "base learning rate": Rate,

		"grad norm": GradientNorm, "gradient norm": GradientNorm, "gradnorm": GradientNorm,
		"grad 2.0 norm": GradientNorm,
		// In the norm that the program has: SciPy's |proj g| is the largest component.
		"gnorm": GradientNorm, "|g|": GradientNorm, "||g||": GradientNorm, "|grad|": GradientNorm,
		"||grad||": GradientNorm, "|gradient|": GradientNorm, "||gradient||": GradientNorm, "|proj g|": GradientNorm,
		"norm of gradient": GradientNorm, "‖g‖": GradientNorm, "‖∇f‖": GradientNorm,

		"|step|": StepNorm, "||step||": StepNorm, "||d||": StepNorm, "||dx||": StepNorm, "step norm": StepNorm,
		"norm of step": StepNorm,

		"tr radius": Radius, "trust radius": Radius, "trust region radius": Radius,

		"tr ratio": Rho, "gain ratio": Rho,
	}

	accuracies = map[string]bool{
		"acc": true, "accuracy": true, "acc1": true, "acc 1": true, "top1": true, "top 1": true, "top1 acc": true,
		"top1 accuracy": true, "mini batch accuracy": true,
		"categorical accuracy": true, "sparse categorical accuracy": true, "binary accuracy": true,
	}
)

func setOf(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// Tag is where the values of a tag go: a quantity of an epoch, or, for the zero value, a figure.
type Tag struct {
	Known    bool
	Quantity Quantity
	Accuracy bool // the values are what the quantity, an error, lacks of 1
}

// ParseTag reads a tag, its directory before it, as train/epoch_loss, Loss/val, eval_accuracy or trainLoss.
func ParseTag(tag string) Tag {
	for q := range QuantityCount { // newtop's own, whose words alone may say less
		if tag != "" && (tag == q.Info().Tag || tag == q.Info().Key && (q < Gradients || q > Elapsed)) {
			return Tag{Known: true, Quantity: q}
		}
	}
	var rest []string
	test, validation, part := false, false, false
	words := splitTag(tag)
	if q, known := namedQuantities[strings.Join(words, " ")]; known { // of which a word may be a part's
		return Tag{Known: true, Quantity: q}
	}
	for _, w := range words {
		numbered := part // as valid_1
		part = IsSplit(w)
		test, validation = test || testNames[w], validation || validationNames[w]
		switch {
		case numbered && len(w) == 1 && w[0] >= '0' && w[0] <= '9':
		case part, ignoredNames[w]:
		default:
			rest = append(rest, w)
		}
	}
	text := strings.Join(rest, " ")
	var p Tag
	if p.Quantity, p.Known = namedQuantities[text]; accuracies[text] {
		p = Tag{Known: true, Quantity: Error, Accuracy: true}
	}
	switch {
	case !p.Known:
	case test:
		p.Quantity = p.Quantity.Test()
	case validation:
		p.Quantity = p.Quantity.Validation()
	}
	return p
}

// splitTag cuts a tag into lower-case words, at what stands between them, an 's among it, and where a small letter is
// followed by a capital.
func splitTag(tag string) []string {
	tag = strings.ReplaceAll(tag, "'s ", " ")
	var b strings.Builder
	small := false
	for i, c := range tag {
		switch {
		case strings.ContainsRune("/_- :\\@", c), c == '.' && (i+1 == len(tag) || tag[i+1] > '9'):
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

// SaysLoss reports whether a name of a loss says that it is one, as nll and f do not.
func SaysLoss(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "loss") || strings.Contains(name, "损失")
}

// IsSplit reports whether a word says which rows a value is of: those that are trained on, or others.
func IsSplit(word string) bool {
	word = strings.ToLower(word)
	return trainNames[word] || validationNames[word] || testNames[word]
}
