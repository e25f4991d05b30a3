package shape

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// axis is what a number counts, if it counts. Of two on a line the greater one is the step.
type axis uint8

const (
	noAxis axis = iota
	total       // how many there will be: never a place where there is another
	plural      // steps: how many there will be, or how many there were
	batch       // updates within an epoch
	step
	global // updates since the run began
	epoch
)

// class is what a number with some name is.
type class uint8

const (
	ignored class = iota // no metric: a time, a size, a word of prose
	other                // may be a metric: it is one on a line that counts something, or with a mark before its number
	metric               // a word that the field knows
	counter
	partial // train, val: says of which rows the numbers are
)

// name is what is known of the words before a number.
type name struct {
	class  class
	axis   axis // of a counter
	key    string
	part   string // train, val or test, if one of the words is it
	share  bool   // accuracies and errors: 93% is 0.93
	rate   bool   // a throughput: a unit does not make it void
	fixed  bool   // the line's part says nothing of it: lr, val_loss
	prose  bool   // other words stand around the key
	lr     bool   // a rate of learning, which is a setting before the first step
	rest   string // the key without words for parts and means
	keys   map[string]string
	marker bool  // mode, split: what follows is a part
	label  bool  // tag, name: what follows is the name of the next value
	about  *name // of a counter: "loss at step" is about the loss, whose number comes later
}

// parts are the words for which rows the numbers are of.
var parts = map[string]string{
	"train": "train", "training": "train", "learn": "train", "val": "val", "valid": "val", "validation": "val",
	"validate": "val", "validating": "val", "dev": "val", "eval": "val", "evaluation": "val", "evaluate": "val",
	"evaluating": "val", "test": "test", "testing": "test", "训练": "train", "验证": "val", "测试": "test",
}

var (
	// known are words of metrics.
	known = set(`loss losses logloss acc accuracy error err merror auc prauc roc f1 mse rmse mae mape ppl perplexity lr
		reward rewards rew return score bleu rouge iou miou map map50 ap precision recall nll elbo kl entropy dice r2
		wer cer bpc bpb fid psnr ssim bce ce mlogloss rmsle ndcg mfu tps gradnorm top1 top5 acc1 acc5 l1 l2 trl tel
		objective likelihood cost f fx fval fun gnorm deviance obj acc@1 acc@5 损失 准确率 训练损失 验证损失
		测试损失`)
	// shares are those whose per cents are hundredths.
	shares = set("acc accuracy acc1 acc5 top1 top5 acc@1 acc@5 error err precision recall f1 map iou miou")
	// rates are words of throughputs, which have units.
	rates = set(`tps tok_s mfu throughput tflops fps wps`)
	// hard are words that make any name one of a time, a place or a machine.
	hard = set(`time dur took elapsed eta remaining sec secs second seconds ms duration runtime timestamp date
		wall pid port version line exit code errno memory mem max_mem gpu_mem ram vram cpu cuda gpu gpus device
		devices rank node host localhost seed v_num total_flos flos speed checkpoint ckpt data_time batch_time
		iter_time batch_cost data_cost reader_cost dataloader worker workers improved improvement decreased
		increased reducing http status python torch numpy patience stalled keyerror valueerror runtimeerror oserror
		indexerror systemexit num_proc`)
	// soft are words of sizes, which name no metric unless one of a metric stands beside them.
	soft = set(`data group total size number instances num count examples samples images parameters params files file
		rows depth tree trees leaves bytes it was will be than under before until saved saving loading loaded using
		epochs steps iterations iters batches width height channels classes shape dim layers max min limit page
		chapter summary year day hour minute minutes hours days bins batch variables best labels img_size`)
	timed = set("time runtime mem memory ms sec eta id ids")
	// links are words that bind a name to what stands before or after it.
	links = set(`with is of the at a an has to and by for on in now current got final was are from running this than
		over after until net output finished`)
	// binds are links between what is measured and the counter of when.
	binds = set("at after of in for")
	// moments are what may be told of a metric, and is another one: std of reward.
	moments = set("std stdev variance min max median")
	idle    = set("average avg mean set results result metrics metric total")
	// settings are names of groups that hold no metrics.
	settings = set("parameters params config settings args hparams hyperparameters")
	markers  = set("mode split phase stage collection subset")
	labels   = set("tag name metric")
	// unitWords are units of times, sizes and speeds.
	unitWords = set(`ms s sec secs second seconds min mins minute minutes h hour hours us ns kb mb gb tb kib mib gib
		bytes w mhz b`)
	units = set("K M G T")
	// renamed are short names, as those of llm.c.
	renamed = map[string]string{"trl": "train loss", "tel": "test loss"}
)

// axes are the names of counters, without parts.
var axes = map[string]axis{
	"global step": global, "num updates": global, "current steps": global, "update": global, "updates": global,
	"up": global, "completed step": global, "learning iteration": global, "total timesteps": global,
	"timesteps": global, "num timesteps": global, "timestep": global,
	"step": step, "steps": plural, "iter": step, "iters": plural, "iteration": step, "iterations": plural,
	"iterate": step, "iterat": step, "itr": step, "it": step, "niter": step, "n iter": step, "round": step,
	"tree": step, "trees": plural,
	"episode": step, "tick": step, "generation": step, "trial": step, "#": step, "example counter": step,
	"batch": batch, "minibatch": batch, "micro step": batch, "batches": plural,
	"epoch": epoch, "epochs": plural, "ep": epoch, "轮": epoch, "轮次": epoch, "第": epoch,
}

// stems are names of counters that may have their number behind them where they begin a line, and behind are those that
// may where they follow such a counter. Alone step1 and batch32 are parts and settings of runs.
var (
	stems  = set("epoch ep iter itr it iteration")
	behind = set("epoch ep iter itr it iteration step batch")
)

// letters are counters too where they begin the line.
var letters = map[string]axis{"s": step, "t": step, "i": step, "e": epoch}

// counterEnds are words behind a counter's name.
var counterEnds = set("id idx index no num number nr end")

// fillers are words before a counter that do not change what it counts.
var fillers = set("current the of at in end after for finished completed and starting begin start summary")

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// maxNames bounds what is remembered of names. A log of numbers has some hundred; random text has no end of them.
const maxNames = 4096

// names remembers what the words before numbers say, and gives each key as the same string.
type names map[string]*name

func (n names) of(raw []byte) *name {
	if k, ok := n[string(raw)]; ok {
		return k
	}
	if len(raw) > 120 || len(n) >= maxNames {
		return &name{}
	}
	k := newName(string(raw))
	n[string(raw)] = k
	return k
}

// newName says what the words before a number mean.
func newName(raw string) *name {
	printed := strings.Fields(raw)
	words := make([]string, len(printed))
	for i, w := range printed {
		printed[i] = strings.TrimSuffix(strings.TrimRight(strings.Trim(w, "'#"), "."), "'s")
		if printed[i] == "" { // # and such
			printed[i] = w
		}
		words[i] = strings.ToLower(printed[i])
	}
	k := &name{}
	if strings.Contains(raw, "@[") {
		k.key = strings.Join(strings.Fields(raw), " ")
		k.class, k.fixed = metric, true
		return k
	}
	for _, w := range words {
		if p := parts[w]; p != "" {
			k.part = p
		} else if len(w) > 6 && w[0] >= utf8.RuneSelf { // 训练损失: the part is its first two signs
			k.fixed = parts[w[:6]] != ""
		}
	}
	if len(words) == 1 && parts[words[0]] != "" {
		k.key, k.class = printed[0], partial
		return k
	}
	if k.count(words, printed) || len(words) == 1 && classPath(printed[0]) {
		return k
	}
	k.marker, k.label = len(words) == 1 && markers[words[0]], len(words) == 1 && labels[words[0]]
	main := subject(words)
	k.prose = len(main) < len(words)
	if wasBefore(words) {
		return k
	}
	if len(main) == 0 || len(main) > 4 {
		if k.part != "" && len(main) <= 4 {
			k.class = partial
		}
		return k
	}
	if k.prose && axisOf(main) != noAxis { // "best is trial" 3
		return k
	}
	if k.key = strings.Join(main, " "); len(words) == 1 {
		k.key = printed[0]
	}
	k.describe(main)
	return k
}

// classPath reports whether a word is the name of a class within modules, as torch.nn.modules.conv.Conv2d: what stands
// behind it are the arguments of a layer.
func classPath(w string) bool {
	class := w[strings.LastIndexByte(w, '.')+1:]
	return strings.Count(w, ".") > 1 && class != "" && class[0] >= 'A' && class[0] <= 'Z' &&
		!strings.ContainsAny(w, "/:=@ ()")
}

// count reports whether the words name a counter, and says what they are about: "cost after iteration" is the cost.
func (k *name) count(words, printed []string) bool {
	if k.axis = axisOf(words); k.axis != noAxis {
		k.class = counter
		return true
	}
	for i := 1; i < len(words)-1; i++ {
		if !binds[words[i]] {
			continue
		}
		if k.axis = axisOf(words[i+1:]); k.axis != noAxis {
			k.class, k.about = counter, newName(strings.Join(printed[:i], " "))
			return true
		}
	}
	return false
}

// blanks makes words of what stands between them in names.
var blanks = strings.NewReplacer("_", " ", "-", " ", ".", "")

// axisOf says what the words before a number count.
func axisOf(words []string) axis {
	for len(words) > 1 && (fillers[words[0]] || parts[words[0]] != "") {
		words = words[1:]
	}
	text := strings.Join(words, " ")
	if len(text) > 40 {
		return noAxis
	}
	if a, ok := axes[text]; ok {
		return a
	}
	text = blanks.Replace(text[strings.LastIndexByte(text, '/')+1:])
	if a, ok := axes[text]; ok {
		return a
	}
	first, rest, ok := strings.Cut(text, " ")
	switch {
	case !ok:
	case parts[first] != "" && axes[rest] != noAxis:
		return axes[rest]
	case (first == "total" || first == "max" || first == "num") && axes[rest] != noAxis:
		return total
	case axes[first] != noAxis && counterEnds[rest]: // batch_idx
		return axes[first]
	case axes[first] != noAxis && axes[rest] == step: // iteration step
		return step
	}
	return noAxis
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
	if slices.ContainsFunc(words[:first], func(w string) bool { return known[w] }) {
		return words[:first]
	}
	if first > 0 && moments[words[first-1]] && words[first] == "of" {
		return words[first-1:]
	}
	last := first
	for i, w := range words {
		if links[w] {
			last = i
		}
	}
	return words[last+1:]
}

// wasBefore reports whether a number is what something was: "improved from None to", "Start training from score".
func wasBefore(words []string) bool {
	i, last := slices.Index(words, "from"), len(words)-1
	return i >= 0 && (i == last || words[last] == "to" || words[0] == "start")
}

// describe decides whether the words name a metric, and how it is called under a part. Any word of a time, a memory or
// such makes them name none; a word of a size does so unless one of a metric stands beside it.
func (k *name) describe(words []string) {
	k.class = other
	weak, none := false, false
	var rest []string
	for _, w := range words {
		k.rate = k.rate || rates[w] || strings.Contains(w, "per_sec") || strings.HasSuffix(w, "/s") ||
			strings.HasSuffix(w, "/sec")
		weak = weak || soft[w]
		none = none || hard[w]
		for _, piece := range append(pieces(w), w) {
			if known[piece] {
				k.class = metric
			}
			k.share, k.lr = k.share || shares[piece], k.lr || piece == "lr"
			none = none || timed[piece] && !k.rate && piece != w
		}
		if !idle[w] && parts[w] == "" {
			rest = append(rest, w)
		}
	}
	one := strings.ReplaceAll(strings.Join(words, "_"), "/", "_")
	k.lr = k.lr || strings.HasSuffix(one, "lr") || strings.Contains(one, "learning_rate")
	if k.lr || strings.HasSuffix(one, "grad_norm") || strings.HasSuffix(one, "gradient_norm") || k.rate {
		k.class = metric
	}
	switch {
	case none || weak && k.class == other || words[len(words)-1] == "best":
		k.class = ignored
	case len(rest) == 0:
		if k.class = ignored; k.part != "" {
			k.class = partial
		}
	}
	k.fixed = k.fixed || k.rate || k.lr || strings.Contains(one, "rate") || strings.Contains(one, "norm")
	for _, piece := range pieces(one) {
		k.fixed = k.fixed || parts[piece] != ""
	}
	k.rest = strings.Join(rest, " ")
	if r, ok := renamed[k.key]; ok {
		k.key = r
	}
}

// summed is the name of a metric where it is "total", which is a size else, and its number has a fraction, as a sum of
// losses has.
func (k *name) summed(whole bool) *name {
	if whole || k.class != ignored || !strings.EqualFold(k.key, "total") {
		return k
	}
	named := *k
	named.class = other
	return &named
}

// pieces cuts a word where metrics' names are joined.
func pieces(w string) []string {
	return strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("_-/.@0123456789|‖()", r) })
}

// under is the key of a number on a line that is about a part of the rows; the name's own words go before the line's.
func (k *name) under(part string) string {
	switch {
	case k.part != "":
		part = k.part
	case part == "" || k.class != metric || k.fixed:
		return k.key
	}
	key, ok := k.keys[part]
	if !ok && k.rest != "" {
		if k.keys == nil {
			k.keys = map[string]string{}
		}
		key = part + " " + k.rest
		k.keys[part] = key
	}
	if key == "" {
		return k.key
	}
	return key
}

// unitWord reports whether a word behind a number says that it measures time, memory or speed.
func unitWord(w string) bool {
	if unitWords[strings.ToLower(w)] || units[w] {
		return true
	}
	_, per, ok := strings.Cut(w, "/")
	switch per {
	case "s", "sec", "step", "it", "batch", "epoch":
		return ok
	}
	return false
}
