package text

import (
	"slices"
	"strings"

	"newtop/trainer/logs"
)

// class is what a number with some name is.
type class uint8

const (
	ignored class = iota // no metric: a time, a size, a word of prose
	other                // may be a metric: it is one on a line that counts something, or that comes again
	metric               // a word that the field knows
	epochs
	steps
	batches // updates within an epoch
	partial // train, val: says of which rows the numbers are
)

// name is what is known of the words before a number.
type name struct {
	class  class
	key    string
	part   string // train, val, test, eval, if one of the words is it
	share  bool   // accuracies and errors: 93% is 0.93
	rate   bool   // a throughput: a unit does not make it void
	fixed  bool   // the line's part says nothing of it: lr, val_loss
	phrase bool   // prose stands around the key
	id     uint64
	prefix [len(partNames)]string // key with a part before it
}

var partNames = [...]string{"train", "val", "test", "eval"}

var (
	parts = map[string]string{
		"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "validate": "val", "validating": "val", "dev": "val",
		"test": "test", "testing": "test", "eval": "eval", "evaluation": "eval", "evaluate": "eval", "evaluating": "eval",
	}
	strong = set(`loss losses logloss acc accuracy error err merror auc prauc roc f1 mse rmse mae mape ppl perplexity lr reward rewards rew return score
		bleu rouge iou miou map map50 ap precision recall nll elbo kl entropy dice r2 wer cer bpc bpb fid psnr ssim bce ce mlogloss rmsle ndcg mfu tps grad_norm gradnorm
		top1 top5 acc1 acc5 l1 l2 trl tel objective likelihood`)
	shares = set("acc accuracy acc1 acc5 top1 top5 error err precision recall f1 map iou miou")
	rates  = set("tps tok_s mfu tokens_per_second tokens_per_second_per_gpu steps_per_sec steps_per_second samples_per_second examples_per_second throughput tflops")
	hard   = set(`time dur took elapsed eta remaining best sec secs second seconds ms duration runtime timestamp date wall pid port version line exit code errno
		memory mem max_mem gpu_mem ram vram cpu cuda gpu gpus device devices rank node host localhost seed v_num total_flos flos speed checkpoint ckpt
		data_time batch_time iter_time dataloader worker workers improved improvement decreased increased reducing http status python torch numpy patience`)
	soft = set(`data group total size number instances num count examples samples images instances parameters params files file rows depth tree trees leaves bytes
		it was will be took than over under after before until saved saving loading loaded using epochs steps iterations iters batches
		width height channels classes shape dim layers length max min limit page chapter year day hour minute minutes hours days`)
	links = set("with is of the at a an has to and by for on in now current got final was are from running this than over")
	idle  = set("average avg mean set results result metrics metric")
	// llm.c's short names
	renamed = map[string]string{"trl": "train loss", "tel": "test loss"}
)

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// mostNames bounds what is remembered of names. A log of numbers has some hundred; random text has no end of them.
const mostNames = 4096

// names remembers what the words before numbers say, and gives each key as the same string.
type names struct{ known map[string]*name }

var unheard = &name{}

func (n *names) of(raw []byte) *name {
	if k, ok := n.known[string(raw)]; ok {
		return k
	}
	if len(raw) > 80 || len(n.known) >= mostNames {
		return unheard
	}
	if n.known == nil {
		n.known = make(map[string]*name)
	}
	k := newName(string(raw))
	k.id = uint64(len(n.known)) + 1
	n.known[string(raw)] = k
	return k
}

// newName says what the words before a number mean.
func newName(raw string) *name {
	words := strings.Fields(raw)
	for i, w := range words {
		words[i] = strings.TrimSuffix(strings.Trim(w, ".'"), "'s")
	}
	k := &name{}
	if len(words) == 1 {
		k.key = words[0]
	}
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	if len(words) == 1 && parts[words[0]] != "" {
		k.part, k.class = parts[words[0]], partial
		return k
	}
	for _, w := range words {
		if p := parts[w]; p != "" {
			k.part = p
		}
	}
	words = subject(words)
	if len(words) == 0 || len(words) > 4 {
		if k.part != "" {
			k.class = partial
		}
		return k
	}
	if k.key == "" {
		k.phrase = len(strings.Fields(raw)) > len(words)
		k.key = strings.Join(words, " ")
	}
	k.classify(words)
	if r, ok := renamed[k.key]; ok {
		k.key = r
	}
	var rest []string
	for _, w := range words {
		if !idle[w] && parts[w] == "" {
			rest = append(rest, w)
		}
	}
	if len(rest) > 0 {
		for i, p := range partNames {
			k.prefix[i] = p + " " + strings.Join(rest, " ")
		}
	}
	if k.class >= epochs || len(rest) > 0 || k.class == ignored {
		return k
	}
	k.class = ignored
	if k.part != "" {
		k.class = partial
	}
	return k
}

// subject drops the prose before and after what a number is of: "Saving model with loss" is about the loss.
func subject(words []string) []string {
	for len(words) > 0 && links[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	first := slices.IndexFunc(words, func(w string) bool { return links[w] })
	if first < 0 {
		return words
	}
	if slices.ContainsFunc(words[:first], func(w string) bool { return strong[w] }) {
		return words[:first]
	}
	last := first
	for i, w := range words {
		if links[w] {
			last = i
		}
	}
	return words[last+1:]
}

// classify says what the words of the key count or measure.
func (k *name) classify(words []string) {
	var bare []string
	for _, w := range words {
		if parts[w] == "" {
			bare = append(bare, w)
		}
	}
	if len(bare) > 1 && (bare[0] == "end" || bare[0] == "starting" || bare[0] == "finished") {
		bare = bare[1:]
	}
	one := strings.Join(bare, "_")
	if one == "s" || one == "episode" || one == "timestep" { // s is llm.c's
		k.class = steps
		return
	}
	switch logs.AxisOf(one) {
	case logs.Epochs:
		if one != "epochs" {
			k.class = epochs
		}
	case logs.Steps:
		if one == "batch" {
			k.class = batches
		} else if !strings.HasSuffix(one, "s") {
			k.class = steps
		}
	case logs.Metric:
		k.measures(words, one)
	}
}

var timed = set("time runtime mem memory ms sec")

// measures decides whether the words name a metric. Any word of a time, a memory or such makes them name none; a word of
// a size does so unless one of a metric stands beside it.
func (k *name) measures(words []string, one string) {
	k.class = other
	weak := false
	for _, w := range words {
		k.rate = k.rate || rates[w] || strings.Contains(w, "per_sec")
		weak = weak || soft[w]
		none := hard[w]
		for _, piece := range append(pieces(w), w) {
			if strong[piece] {
				k.class = metric
			}
			k.share = k.share || shares[piece]
			none = none || timed[piece] && !rates[w]
		}
		if none {
			k.class = ignored
			return
		}
	}
	if one == "learning_rate" || one == "grad_norm" || one == "gradient_norm" || k.rate {
		k.class = metric
	}
	k.fixed = k.rate || one == "lr" || strings.Contains(one, "rate") || strings.Contains(one, "norm")
	for _, piece := range pieces(one) {
		k.fixed = k.fixed || parts[piece] != ""
	}
	if weak && k.class == other {
		k.class = ignored
	}
}

// pieces cuts a word where metrics' names are joined.
func pieces(w string) []string {
	return strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("_-/.@0123456789", r) })
}

// under is the key of a number on a line that is about a part of the rows; the name's own words go before the line's.
func (k *name) under(part string) string {
	switch {
	case k.part != "":
		part = k.part
	case part == "" || k.class != metric || k.fixed:
		return k.key
	}
	for i, p := range partNames {
		if p == part && k.prefix[i] != "" {
			return k.prefix[i]
		}
	}
	return k.key
}
