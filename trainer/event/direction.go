package event

import (
	"slices"
	"strings"
	"unicode"
)

// Direction says which values of a quantity are the better ones.
type Direction uint8

// The directions. Where a name does not say its own, nobody guesses.
const (
	Undirected Direction = iota
	LessBetter
	MoreBetter
)

// The one table of directions, by the words of names without the digits behind them, as of rouge1 and map50.
var (
	moreBetter = setOf(`acc accuracy top f auc auroc auprc roc prauc ap map mar ndcg mrr hits pass precision recall
		sensitivity specificity dice iou miou jaccard kappa mcc r correlation pearson spearman bleu chrf rouge rougel
		rougelsum meteor psnr ssim elbo reward rewards rew return returns score scores success throughput mfu tps fps`)
	lessBetter = setOf(`loss losses logloss err error errors deviance nll perplexity ppl bpc bpb mse msle rmse rmsle
		mae mape brier ece calibration wer cer ter eer fid kid lpips regret hinge xent ce bce`)
	numbered = setOf("top f r") // words that say it only with a number: top5, f1
	// aside are words for what is no value of the quantity: the deviation of a reward, the scale of a loss.
	aside = setOf("std stdev deviation var variance scale weight weights coef coefficient threshold")
)

// DirectionOf is what the name of a metric says of its direction: the last of its words that says anything, as loss in
// reward_loss. P and R beside each other and mAP are precision and recall, as Ultralytics prints them.
func DirectionOf(name string, beside []string) Direction {
	switch tag := ParseTag(name); {
	case tag.Accuracy:
		return MoreBetter
	case tag.Known && slices.Contains(Judging, tag.Quantity):
		return LessBetter
	case tag.Known:
		return Undirected
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if slices.ContainsFunc(words, func(w string) bool { return aside[w] }) {
		return Undirected
	}
	for _, w := range slices.Backward(append(splitTag(name), words...)) {
		switch bare := strings.TrimRightFunc(w, unicode.IsDigit); {
		case bare == w && numbered[w]:
		case moreBetter[bare]:
			return MoreBetter
		case lessBetter[bare]:
			return LessBetter
		}
	}
	has := func(word string) bool { // beside P or R
		of := strings.TrimRight(name, "pPrR") + word
		return slices.ContainsFunc(beside, func(n string) bool {
			return strings.EqualFold(strings.TrimRightFunc(n, unicode.IsDigit), of)
		})
	}
	n := len(words) - 1
	if n >= 0 && (words[n] == "p" || words[n] == "r") && has("p") && has("r") && has("map") {
		return MoreBetter
	}
	return Undirected
}
