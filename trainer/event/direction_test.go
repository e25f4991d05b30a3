package event

import (
	"strings"
	"testing"
)

// TestDirection has names that loggers really write.
func TestDirection(t *testing.T) {
	ultralytics := strings.Fields("P R mAP50 mAP50-95 box_om metrics/precision(B) val/p val/r")
	for want, names := range map[Direction]string{
		MoreBetter: `P R mAP50 mAP50-95 metrics/precision(B) metrics/recall(B) metrics/mAP50-95(B) metrics/mAP50(M) val_acc acc@1
			accuracy_top-1 top5 val/f1_score macro-F1 ROC-AUC val_auc mIoU mean_dice eval_bleu rouge1 rougeL rouge-2 SSIM
			psnr_y eval/reward rollout/ep_rew_mean episode_return r2 R2 train/loss_accuracy pass@1 success_rate`,
		LessBetter: `loss val_loss eval_loss valLoss box_loss train/box_om_loss reward_loss nll_loss perplexity val_ppl wer CER FID
			fid_50k test_rmse mae mape brier_score_loss error_rate logloss bce f l1_error cross_entropy objective`,
		Undirected: `lr learning_rate x/R grad_norm loss_scale reward_std epoch_time kl GPU_mem temperature
			Instances score_threshold seconds |`,
	} {
		for _, name := range strings.Fields(names) {
			if got := DirectionOf(name, ultralytics); got != want {
				t.Errorf("%s: %d, expected %d", name, got, want)
			}
		}
	}
	if got := DirectionOf("P", []string{"P", "R"}) + DirectionOf("a/P", []string{"a/P", "R", "mAP50"}); got != Undirected {
		t.Errorf("P without R and mAP: %d", got)
	}
}
