package shape

import (
	"math"
	"strings"
	"testing"

	"newtop/internal/alloctest"
	"newtop/trainer/logs"
)

// kinds are logs as programs of each kind write them, with what is to be read.
var kinds = []struct{ name, in, want string }{
	{"what and then when", "Cost after iteration 0: 0.71\nCost after iteration 50: 0.44",
		"s0 Cost=0.71\ns50 Cost=0.44"},
	{"what at when", "Loss at step 000: 3.1\nLoss at step 020: 2.9", "s0 Loss=3.1\ns20 Loss=2.9"},
	{"what of when is", "The validation loss of epoch 4 is 1.5\nThe validation loss of epoch 5 is 1.25",
		"e4 val loss=1.5\ne5 val loss=1.25"},
	{"when, then other names", " validation loss at iteration 70 | lm loss value: 7.5E+00 | lm loss PPL: 1.8E+03 |",
		"s70 val lm loss value=7.5, val lm loss ppl=1800"},
	{"a bar without a per cent before it", "\rfit |⚠︎    | 0/9 [0%] in 0s (0.0/s) loss: 4.5 \n" +
		"\rfit |⚠︎    | 0/9 [0%] in 0s (0.0/s) loss: 4.5 \n\rfit |█▍   | 1/9 [11%] in 0s (4.0/s) loss: 3.5 \n" +
		"train ━━━━━━ 2/9 0:00:01 loss 2.5", "s0 loss=4.5\ns1 loss=3.5\ns2 train loss=2.5"},
	{"a mean of steps before",
		"\r 23%|##| 234/999 [00:34<03:02, 9.6it/s, avg. loss [101-200]: 4.5]\r 35%|##| 354/999 [00:35<01:12, 9.6it/s, " +
			"avg. loss [201-300]: 3.5]\r 45%|##| 454/999 [00:36<01:12, 9.6it/s, avg. loss [401-450]: 2.5]",
		"s200 avg loss=4.5\ns300 avg loss=3.5\ns450 avg loss=2.5"},
	{"a bar beside lines that count",
		"\rloss 4.5:  15%|█▌        | 3/20 [00:00<00:02,  8.2it/s]\r      \riter 4: val loss 4.25\n" +
			"\rloss 4.5:  15%|█▌        | 3/20 [00:00<00:02,  8.2it/s]\rloss 3.5:  35%|███▌      | 7/20 [00:00<00:01,  8.2it/s]" +
			"\r      \riter 8: val loss 3.25", "s3 loss=4.5\ns4 val loss=4.25\ns7 loss=3.5\ns8 val loss=3.25"},
	{"a frame", "   loss  val_loss\n0   4.5      4.25\n1   3.5      3.25", "s0 loss=4.5, val_loss=4.25\ns1 loss=3.5, val_loss=3.25"},
	{"a frame with its own counter", "    step  loss\n9     10   4.5\n10    20   3.5", "s10 loss=4.5\ns20 loss=3.5"},
	{"a frame by a name", "       loss  val_loss\nepoch                \n1       4.5      4.25", "e1 loss=4.5, val_loss=4.25"},
	{"values before names, and prose", "-4.5 per-word bound, 22.5 perplexity estimate based on a corpus of 400 texts\n" +
		"-3.5 per-word bound, 11.5 perplexity estimate based on a corpus of 400 texts\n" +
		"-2.5 per-word bound, 5.75 perplexity estimate based on a corpus of 400 texts",
		"per-word bound=-4.5, perplexity=22.5\nper-word bound=-3.5, perplexity=11.5\nper-word bound=-2.5, perplexity=5.75"},
	{"ranks in turns", "[Rank 1] step 5 loss 9\n[Rank 0] step 5 loss 4\n[Rank 0] step 6 loss 3\n[Rank 1] step 6 loss 8",
		"s5 loss=4\ns6 loss=3"},
	{"ranks of mpirun", "[1,1]<stdout>:step 1 loss 9\n[1,0]<stdout>:step 1 loss 4", "s1 loss=4"},
	{"ranks of how many", "INFO (1/2) Epoch 3, batch 50, loss 9\nINFO (0/2) Epoch 3, batch 50, loss 4\n" +
		"INFO (1/2) Epoch 3, batch 60, loss 9\nINFO (0/2) Epoch 3, batch 60, loss 3", "s50 e3 loss=4\ns60 e3 loss=3"},
	{"progress of how many", "(1/9) loss 4\n(2/9) loss 3", "s1 loss=4\ns2 loss=3"},
	{"processes", "(Worker pid=71) step 1 loss 4\n(Worker pid=72) step 1 loss 9\n(Worker pid=71) step 2 loss 3",
		"s1 loss=4\ns2 loss=3"},
	{"decimal commas", "step=1; loss=0,9500; val=1,0250\nstep=2; loss=0,8500; val=0,9750",
		"s1 loss=0.95, val=1.025\ns2 loss=0.85, val=0.975"},
	{"thousands", "step 1,000 loss 2.5 tps: 12,345\nstep 2,000 loss 2.25 tps: 12,346",
		"s1000 loss=2.5, tps=12345\ns2000 loss=2.25, tps=12346"},
	{"thousands by a letter", "step: 500, loss: 2.5\nstep: 1.5k, loss: 2.25", "s500 loss=2.5\ns1500 loss=2.25"},
	{"Fortran", "At iterate    0    f=  1.25D+03    |proj g|=  2.5D+01", "s0 f=1250, |proj g|=25"},
	{"names in bars",
		"iter  1 act 2.5e+02 f 6.5e+02 |g| 1.5e+03 CG   3\niter  2 act 2.5e+01 f 6.0e+02 |g| 1.0e+03 CG   4",
		"s1 act=250, f=650, |g|=1500, CG=3\ns2 act=25, f=600, |g|=1000, CG=4"},
	{"not finite", "step 1 loss 1.#QNAN\nstep 2 loss -nan(ind)\nstep 3 loss 1e999",
		"s1 loss=NaN\ns2 loss=NaN\ns3 loss=+Inf"},
	{"names behind", " 12: 0.601, 0.690 avg, 0.002 rate, 3.9 seconds, 64 images",
		"s12 avg=0.69, rate=0.002, seconds=3.9, images=64"},
	{"names in another script", "第1轮 训练损失：0.75 验证损失：0.875", "e1 训练损失=0.75, 验证损失=0.875"},
	{"a box", "----------------\n| rollout/    |     |\n|    ep_rew   | 1.5 |\n| time/       |     |\n" +
		"|    iterations | 3 |\n|    total_timesteps | 600 |\n----------------", "s600 rollout/ep_rew=1.5"},
	{"a record under a heading", "=== epoch 3 ===\nfoo: 0.5\nbar: 7\n=== epoch 4 ===\nfoo: 0.25\nbar: 6",
		"e3 foo=0.5, bar=7\ne4 foo=0.25, bar=6"},
	{"a table", "iter    objective   inf_pr  ls\n   0  1.5e+01 1.25e+01   0\n   1r 1.0e+01 8.50e+00f  1",
		"s0 objective=15, inf_pr=12.5, ls=0\ns1 objective=10, inf_pr=8.5, ls=1"},
	{"a table with rules and lists",
		"Step      Train loss            Test metric\n----\n0         [1.5e+00, 2.0e-01]    [1.25e+00]",
		"s0 train loss=1.5, train loss/2=0.2, test metric=1.25"},
	{"a header of two lines", "average  since         example  current\nloss     last          counter    label\n" +
		"0.750000 0.750000            1   1.0000\n0.500000 0.250000            2   0.0000",
		"s1 average loss=0.75, since last=0.75, label=1\ns2 average loss=0.5, since last=0.25, label=0"},
	{"blank cells",
		"|  Epoch  |  Iteration  |  Loss  |  Validation Loss  |\n|=====|\n|  1  |  1  |  2.5  |  2.25  |\n|  1  |  9  |  1.5  |    |",
		"s1 e1 Loss=2.5, validation loss=2.25\ns9 e1 Loss=1.5"},
	{"a bar and a line",
		"Epoch 1: 100%|##| 10/10 [00:10<00:00, 1.00it/s]\nepoch: 1, train loss: 2.5 - valid loss: 2.25",
		"e1 train loss=2.5, val loss=2.25"},
	{"another program's bar", "Map: 100%|####| 5000/5000 [00:01<00:00, 9.9 examples/s]\n{'loss': 2.5, 'epoch': 0.1}",
		"e0.1 loss=2.5"},
	{"groups", "Epoch 3, batch 50, loss[loss=0.25, simple=0.5, over 493.00 frames. ], tot_loss[loss=0.75, simple=0.5]",
		"s50 e3 loss=0.25, loss/simple=0.5, tot_loss/loss=0.75, tot_loss/simple=0.5"},
	{"a deviation", "[0]\ttrain-rmse:0.5+0.125\n[1]\ttrain-rmse:0.25+0.0625",
		"s0 train-rmse=0.5, train-rmse std=0.125\ns1 train-rmse=0.25, train-rmse std=0.0625"},
	{"a trial", "[I 2026-01-02 17:33:18,588] Trial 4 finished with value: 0.5 and parameters: {'x': 0.25, 'n': 4}. " +
		"Best is trial 2 with value: 0.25.", "s4 value=0.5"},
	{"the best once more",
		"[5]\tvalid's l2: 0.5\n[10]\tvalid's l2: 0.25\nEarly stopping, best iteration is:\n[7]\tvalid's l2: 0.375",
		"s5 val l2=0.5\ns10 val l2=0.25"},
	{"places in programs", "[a.py:12] [Rank 0] step=1, loss=0.5\n[b.py:183:scale] OVERFLOW at 65536", "s1 loss=0.5"},
	{"settings, then a loop", "learning rate = 0.5\nnum sources = 0\nstep 0 loss 2.5\nstep 1 loss 2.25",
		"s0 loss=2.5\ns1 loss=2.25"},
	{"the loss before the loop", "val loss 10.5\nstep 1/9 | loss 9.5\nstep 2/9 | loss 8.5",
		"s0 val loss=10.5\ns1 loss=9.5\ns2 loss=8.5"},
	{"several lines an epoch",
		"{'loss': 4, 'epoch': 0.01}\n{'loss': 3, 'epoch': 0.01}\n{'loss': 2, 'epoch': 0.01}\n{'loss': 1, 'epoch': 0.02}",
		"s1 e0.01 loss=4\ns2 e0.01 loss=3\ns3 e0.01 loss=2\ns4 e0.02 loss=1"},
	{"a summary at the end", "step 1 loss 0.5\nstep 2 loss 0.25\nloss: 0.75", "s1 loss=0.5\ns2 loss=0.25"},
	{"the part counts epochs",
		"Train: 0 [ 50/1251 ( 4%)]  Loss: 6.5 (6.75)  Time: 0.1s,  960.1/s\nTrain: 1 [ 0/1251 ( 0%)]  Loss: 6.25 (6.5)",
		"s50 e0 train loss=6.5\ns1251 e1 train loss=6.25"},
	{"numbers in names", "step 9 loss 1.5\n Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all ] = 0.25\n" +
		" Average Precision  (AP) @[ IoU=0.50      | area=   all ] = 0.5",
		"s9 loss=1.5\ns9 Average Precision (AP) @[ IoU=0.50:0.95 | area= all ]=0.25, Average Precision (AP) @[ IoU=0.50 | area= all ]=0.5"},
	{"counters with their numbers behind them", "[E1] step 0 loss 2.5\n[E1] step 10 loss 2.25\n[E2] step 0 loss 1.5\n[E2] step 10 loss 1.25",
		"s0 e1 loss=2.5\ns10 e1 loss=2.25\ns20 e2 loss=1.5\ns30 e2 loss=1.25"},
	{"totals", "Epoch 0/9, Batch 1/20 [Losses: x 0.25, total 8.5, recall: 0.5]\nEpoch 0/9, Batch 2/20 [Losses: x 0.5, total 7.5, recall: 0.25]\nfiles total 12",
		"s1 e0 x=0.25, total=8.5, recall=0.5\ns2 e0 x=0.5, total=7.5, recall=0.25"},
	{"totals of a table", "Epoch  box  total  n\n0  0.5  9.5  77\n1  0.25  8.25  80", "e0 box=0.5, total=9.5, n=77\ne1 box=0.25, total=8.25, n=80"},
	{"names that begin with digits", "step 1 | NT[DA=0.75 5HT=0.5] | 3d_iou: 0.25\nstep 2 | NT[DA=0.5 5HT=0.25] | 3d_iou: 0.5",
		"s1 NT/DA=0.75, NT/5HT=0.5, 3d_iou=0.25\ns2 NT/DA=0.5, NT/5HT=0.25, 3d_iou=0.5"},
	{"runs of a search", "lr,num_epochs,acc\n0.1,15,0.5\n0.2,30,0.25\n0.1,15,0.75", "lr=0.1, num_epochs=15, acc=0.5\nlr=0.2, num_epochs=30, acc=0.25\nlr=0.1, num_epochs=15, acc=0.75"},
	{"settings with their numbers", "epoch 1 batch32 loss 0.5\nepoch 2 batch32 loss 0.25\nepoch 3 batch32 loss 0.125", "e1 batch32 loss=0.5\ne2 batch32 loss=0.25\ne3 batch32 loss=0.125"},
	{"and of parts", "step1 loss: 0.5, step2 loss: 0.25\nstep1 loss: 0.25, step2 loss: 0.125", "step1 loss=0.5, step2 loss=0.25\nstep1 loss=0.25, step2 loss=0.125"},
	{"and of runs", "loss 0.5 e2 acc 0.75\nloss 0.25 e2 acc 0.5\nloss 0.125 e2 acc 0.25", "loss=0.5, e2 acc=0.75\nloss=0.25, e2 acc=0.5\nloss=0.125, e2 acc=0.25"},
	{"and in words", "epoch1 iter10/20 loss 2.5\nepoch1 iter20/20 loss 2.25\nepoch2 iter10/20 loss 1.5", "s10 e1 loss=2.5\ns20 e1 loss=2.25\ns30 e2 loss=1.5"},
	{"dicts behind bars of evaluations", "100% 31/31 [00:08<00:00,  3.90it/s]{'mr': 1460.9}\n100% 31/31 [00:08<00:00,  3.76it/s]\nUsing 8-bit optimizers.\n" +
		"{'loss': 2.5, 'epoch': 0.25}\n{'loss': 2.25, 'epoch': 0.5}\n100% 31/31 [00:08<00:00,  3.90it/s]{'mr': 1431.5}\n{'loss': 2.125, 'epoch': 0.75}",
		"s31 mr=1460.9\ne0.25 loss=2.5\ne0.5 loss=2.25\ne0.5 mr=1431.5\ne0.75 loss=2.125"},
	{"folds", "Fold 1\nepoch 1 loss 0.5\nFold 2\nepoch 1 loss 0.25", "e1 loss=0.5\ne1 loss=0.25"},
	{"rows written over", "iter  f  t\n1 2.5 0:01 -\r2 1.5 0:02 \\\r3 1.25 0:03", "s1 f=2.5\ns2 f=1.5\ns3 f=1.25"},
	{"a container's streams", "2026-11-27T10:00:00.123456789Z stdout F step 10 loss 2.5\n" +
		"2026-11-27T10:00:01.123456789Z stderr F step 20 loss 2.25", "s10 loss=2.5\ns20 loss=2.25"},
	{"a module's line", "2026-11-27 10:00:00,1 (trainer:762) INFO: 1epoch:train:1-100batch: loss_att=2.5\n" +
		"2026-11-27 10:00:09,1 (trainer:762) INFO: 1epoch:train:101-200batch: loss_att=2.25",
		"s100 e1 train loss_att=2.5\ns200 e1 train loss_att=2.25"},
	{"Julia", "[ Info: Epoch 1\nloss(X, Y) = 2.5f0\n[ Info: Epoch 2\nloss(X, Y) = 2.25f-1",
		"e1 loss(x, y)=2.5\ne2 loss(x, y)=0.225"},
	{"a unit ends a sentence", "Step: 10. Time Elapsed: 2.5 s. Mean Reward: 1.5. Std of Reward: 0.5.\n" +
		"Step: 20. Time Elapsed: 4.5 s. Mean Reward: 2.5. Std of Reward: 0.25.",
		"s10 mean reward=1.5, std of reward=0.5\ns20 mean reward=2.5, std of reward=0.25"},
	{"a counter beside a name", "Validation loss 0: 40.5\nValidation loss 2: 20.5\nValidation loss 4: 10.5",
		"s0 val loss=40.5\ns2 val loss=20.5\ns4 val loss=10.5"},
	{"an epoch's mean among steps", "epoch 1 - iter 10/20 - loss 2.5\nepoch 1 - iter 20/20 - loss 2.25\n" +
		"EPOCH 1 done: loss 2.375", "s10 e1 loss=2.5\ns20 e1 loss=2.25"},
	{"# before a header", "#  step  rmse  lr\n  0  2.5  0.01\n  100  2.25  0.01",
		"s0 rmse=2.5, lr=0.01\ns100 rmse=2.25, lr=0.01"},
	{"a remark behind a row", "iter  ELBO  notes\n  100  -8.5\n  200  -4.5  MAY BE DIVERGING\n",
		"s100 ELBO=-8.5\ns200 ELBO=-4.5"},
	{"before a loop from 0", "Initial: loss=9.5\nEpoch 0: loss=2.5\nEpoch 1: loss=1.5", "e0 loss=2.5\ne1 loss=1.5"},
	{"# of an epoch", "Epoch #1: test_reward: 2.5\nEpoch #2: test_reward: 3.5", "e1 test_reward=2.5\ne2 test_reward=3.5"},
	{"tables of two parts", "training\n# Epoch batch loss\n 0 1 2.5\n 0 2 2.25\nvalidation\n# Epoch batch loss\n 0 1 1.5",
		"s1 e0 train loss=2.5\ns2 e0 train loss=2.25\ns1 e0 val loss=1.5"},
	{"brackets of a name", "DEV : loss 1.25 - f1-score (micro avg)  0.5", "val loss=1.25, val f1-score (micro avg)=0.5"},
	{"fits in a loop", "19/19 - 2s - 92ms/step - loss: 0.5\n19/19 - 0s - 8ms/step - loss: 0.25",
		"e1 loss=0.5\ne2 loss=0.25"},
	{"classes, and parts of names that the field does not know",
		"evaluate:dev\nCAT: precision: 50.00%; FB1: 25.00\nDOG: precision: 40.00%; FB1: 20.00\n" +
			"evaluate:test\nCAT: precision: 30.00%; FB1: 15.00\nDOG: precision: 20.00%; FB1: 10.00",
		"CAT/val precision=0.5, CAT/val/FB1=25\nDOG/val precision=0.4, DOG/val/FB1=20\n" +
			"CAT/test precision=0.3, CAT/test/FB1=15\nDOG/test precision=0.2, DOG/test/FB1=10"},
	{"top N", "Epoch: 0/9, Iteration step: 100, loss: 5\nEpoch: 0/9,top 1 acc: 0.25\nEpoch: 0/9,top 5 acc: 0.5\n" +
		"Epoch: 1/9, Iteration step: 200, loss: 4\nEpoch: 1/9,top 1 acc: 0.5\nEpoch: 1/9,top 5 acc: 0.75",
		"s100 e0 loss=5\ns100 e0 top 1 acc=0.25\ns100 e0 top 5 acc=0.5\ns200 e1 loss=4\ns200 e1 top 1 acc=0.5\n" +
			"s200 e1 top 5 acc=0.75"},
	{"a host and a module before the level", "2025-12-27 22:12:56.867\tgpu-03:0\tlab.train:990\tINFO\t[step=10/90,epoch=0]\n" +
		"    train/CE=9.5\n    train/ppl=1,250\n2025-12-27 22:13:56.867\tgpu-03:0\tlab.train:990\tINFO\t[step=20/90,epoch=0]\n" +
		"    train/CE=8.5\n    train/ppl=250", "s10 e0 train/CE=9.5, train/ppl=1250\ns20 e0 train/CE=8.5, train/ppl=250"},
	{"batch_id and i", "epoch: 0, batch_id: 0, loss:4\nepoch: 0, batch_id: 500, loss:3\nepoch: 1, batch_id: 0, loss:2",
		"s0 e0 loss=4\ns500 e0 loss=3\ns1000 e1 loss=2"},
	{"i of n", "epoch=0 i=0/30 total loss=4\nepoch=0 i=1/30 total loss=3\nepoch=1 i=0/30 total loss=2",
		"s0 e0 total loss=4\ns1 e0 total loss=3\ns30 e1 total loss=2"},
	{"blanks wipe out the end of a bar", "\r100%|##| 2/2 [00:01<00:00, 12.0it/s, loss=4, val_mae=0.5]" +
		"\r  0%|  | 0/2 [00:00<?, ?it/s, loss=4, val_mae=0.5]          \n\r 50%|# | 1/2 [00:01<00:00, 5.0it/s, loss=3, val_mae=0.5]",
		"s2 loss=4, val_mae=0.5\ns3 loss=3"},
	{"a line behind its bar", "\r 50%|#5   | 5/10 [00:01<00:01, 5.0it/s]\r100%|#####| 10/10 [00:02<00:00, 5.0it/s]epoch   0 | loss: 4\n" +
		"\r100%|#####| 10/10 [00:02<00:00, 5.0it/s]epoch   1 | loss: 3", "e0 loss=4\ne1 loss=3"},
	{"bars of data, then dicts without a bar",
		"Map (num_proc=4): 100%|#####| 900/900 [00:01<00:00, 9.0 examples/s]\n{'loss': 4.0, 'epoch': 0.5}\n" +
			"{'loss': 3.0, 'epoch': 1.0}\n{'loss': 2.0, 'epoch': 1.5}", "e0.5 loss=4\ne1 loss=3\ne1.5 loss=2"},
	{"two counters of a box", "--------\n| return | 4 |\n| total/epochs | 1 |\n| total/steps | 2000 |\n| loss | 9 |\n--------\n" +
		"--------\n| return | 5 |\n| total/epochs | 2 |\n| total/steps | 4000 |\n| loss | 8 |\n--------",
		"s1 return=4, loss=9\ns2 return=5, loss=8"},
	{"files and their numbers", "For img/a_001.png Acc is 0.25  IOU is 0.5\nFor img/a_002.png Acc is 0.5  IOU is 0.75",
		"acc=0.25, iou=0.5\nacc=0.5, iou=0.75"},
	{"decibels", "<epoch: 10, PSNR : 18.5dB\n<epoch: 20, PSNR : 19.5dB", "e10 PSNR=18.5\ne20 PSNR=19.5"},
	{"an exception", "step 1 loss 4\nstep 2 loss 3\nKeyError: 8", "s1 loss=4\ns2 loss=3"},
	{"batch of epoch/step", "TRAIN Batch 0/0 loss 9\nTRAIN Batch 0/100 loss 5\nTRAIN Batch 1/0 loss 4\nTRAIN Batch 1/100 loss 3",
		"s0 e0 train loss=9\ns100 e0 train loss=5\ns200 e1 train loss=4\ns300 e1 train loss=3"},
	{"a heading of n/m, and other counters in its record",
		"[batch=1/9]:\n\t Train time/epoch: 0\n\t Train time/batch: 0\n\t Train time/sample: 0\n\t Train loss/total: 4\n" +
			"[batch=2/9]:\n\t Train time/epoch: 0\n\t Train time/batch: 1\n\t Train time/sample: 8\n\t Train loss/total: 3\n",
		"s1 e0 train loss/total=4\ns2 e0 train loss/total=3"},
	{"dicts between states of a bar", "\r  0%|   | 0/39 [00:00<?, ?it/s]\r       \r{'loss': '3.5', 'epoch': '0.3846'}\n" +
		"\r 13%|#  | 5/39 [00:00<00:00, 99.0it/s]\r    \r{'loss': '3.25', 'epoch': '0.7692'}\n" +
		"\r 26%|## | 10/39 [00:00<00:00, 99.0it/s]\n\r  0%|   | 0/3 [00:00<?, ?it/s]\x1b[A\r   \r\n\r    \r\x1b[A" +
		"{'eval_loss': '3.0', 'epoch': '0.7692'}\n\r100%|###| 3/3 [00:00<00:00, 99.0it/s]\x1b[A\n" +
		"\r 26%|## | 10/39 [00:00<00:00, 99.0it/s]\n\rWriting model shards: 100%|##| 1/1 [00:00<00:00, 9.0it/s]\n",
		"s5 e0.3846 loss=3.5\ns10 e0.7692 loss=3.25\ns10 e0.7692 eval_loss=3"},
	{"a line behind a bar",
		"\r  0%|   | 0/32 [00:00<?, ?it/s]11/28/2026 08:38:30 - INFO - __main__ - [RANK 0] epoch 0: loss: 2.5\n" +
			"11/28/2026 08:38:31 - INFO - __main__ - [RANK 0] epoch 1: loss: 2.25\n" +
			"\r100%|###| 32/32 [00:01<00:00, 21.2it/s]",
		"e0 loss=2.5\ne1 loss=2.25"},
	{"values of the last epoch on the next one's bar", "\rEpoch 0:  0%|  | 0/9 [00:00<?, ?it/s]" +
		"\rEpoch 1:  0%|  | 0/9 [00:00<?, ?it/s, loss=2.5]\rEpoch 2:  0%|  | 0/9 [00:00<?, ?it/s, loss=2.25]\n",
		"s9 e1 loss=2.5\ns18 e2 loss=2.25"},
	{"a line of settings",
		"engine/trainer: amp=False, angle=1.0, batch=8, box=7.5, cls=0.5, model=a.yaml, lr0=0.01, freeze=None\n" +
			"optimizer: AdamW(lr=0.002, momentum=0.9)\nstep 1 loss 2.5",
		"s1 loss=2.5"},
	{"a table of modules", "  0  -1  1  464  nn.modules.Conv  [3, 16, 3, 2]\n  1  -1  1  464  nn.modules.Conv  [16, 32, 3, 2]\n" +
		"  2  -1  1  928  nn.modules.Conv  [32, 64, 3, 2]", ""},
	{"two of a name",
		"[0/9][4/20] Loss_D: 1.5 D(G(z)): 0.5 / 0.25\n[0/9][5/20] Loss_D: 1.25 D(G(z)): 0.25 / 0.125",
		"s4 e0 Loss_D=1.5, D(G(z))=0.5, D(G(z))/2=0.25\ns5 e0 Loss_D=1.25, D(G(z))=0.25, D(G(z))/2=0.125"},
	{"a table whose rows are redrawn", "val: New cache created: /data/val.cache\n" +
		"optimizer: 'optimizer=auto' found, ignoring 'lr0=0.01' and determining best 'lr0'\n" +
		"  Epoch  GPU_mem  box_loss  cls_loss  Size\n\n\x1b[K  1/3  0G  1.5  1.25  64: 0% ────── 0/2  0.6s\r" +
		"\x1b[K  1/3  0G  0.75  0.5  64: 50% ━━━─── 1/2 1.4s/it 1.0s<1.4s\r" +
		"\x1b[K  1/3  0G  0.75  0.25  64: 100% ━━━━━━ 2/2 2.0it/s 1.0s\n\n" +
		"\x1b[K  Class  Images  Box(P  mAP50-95): 100% ━━━━━━ 1/1 4.0it/s 0.3s\n  all  8  0.5  0.125",
		"e1 box_loss=0.75, cls_loss=0.25\ne1 P=0.5, mAP50-95=0.125"},
	{"a heading of epoch and n/m, and another counter in its record",
		"[epoch=1][batch=1/9]:\n\t Train time/batch: 0\n\t Train loss/total: 4\n" +
			"[epoch=1][batch=2/9]:\n\t Train time/batch: 1\n\t Train loss/total: 3\n",
		"s1 e1 train loss/total=4\ns2 e1 train loss/total=3"},
}

func TestKinds(t *testing.T) {
	for _, c := range kinds {
		if got := strings.Join(read(t, c.in).rows, "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestWarning: what was not read is said, and where all was read nothing is.
func TestWarning(t *testing.T) {
	for in, want := range map[string]string{
		"lr: 0.5\n[rank0]: step 1 loss 4\n[rank1]: step 1 loss 9\n[rank0]: step 2 loss 3": "",
		"step 8 val_loss 0.417\n│ val_loss │ 0.41696 │":                                   "",
		"lr: 0.5\nstep 1 loss 4\nstep 2 loss 3\nloss: 5":                                  "read 3 of 4 lines with numbers; 1 point fell on a taken x (--explain)",
		"page 3 of it\nwritten in 1987\nchapter 12\nstep 1 loss 4":                        "read 1 of 4 lines with numbers (--explain)",
	} {
		if got := read(t, in).warning; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestLongCount: the steps of a bar count on over the epochs.
func TestLongCount(t *testing.T) {
	p, last := newPlace(), math.Inf(-1)
	var f found
	for epoch := 3.0; epoch < 6; epoch++ {
		for n := 0.0; n < 100; n += 10 {
			f.clear()
			f.epoch, f.n, f.m = epoch, n, 100
			step, _ := p.move(&f)
			if step <= last || step != (epoch-3)*100+n {
				t.Fatalf("epoch %v, %v of 100 is step %v after %v", epoch, n, step, last)
			}
			last = step
		}
	}
}

// FuzzAfter: whatever follows a thousand lines of a log, its rows stay.
func FuzzAfter(f *testing.F) {
	f.Add([]byte("Epoch 1: 100%|##| 3/3\n[rank0]: step 4 loss 0,5\n"))
	f.Add([]byte("iter  loss\n 1  2\n{'a': [1\n| x | 1 |\n\x1b[2K\r\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, r := New(), &recorder{}
		for i := range 1000 {
			line := "step " + strings.Repeat("1", i%3) + "0 loss 0.5 val_loss 0.25"
			if err := p.Line([]byte(line), r); err != nil {
				t.Fatal(err)
			}
		}
		before := strings.Join(r.rows, "\n")
		for _, line := range strings.Split(string(data), "\n") {
			if err := p.Line([]byte(line), r); err != nil {
				t.Fatal(err)
			}
		}
		p.Flush(r)
		if !strings.HasPrefix(strings.Join(r.rows, "\n"), before) {
			t.Error("rows are gone")
		}
	})
}

// TestAllocations: a line of a known shape costs the string of the console alone.
func TestAllocations(t *testing.T) {
	p := New()
	line := []byte("2026-01-01 10:00:00,123 - INFO - step 7 | loss 0.5 | val_loss 0.25 | lr 3.00e-04")
	var n logs.Sink = logs.Nobody{}
	for range firstLines {
		p.Line(line, n)
	}
	if got := alloctest.PerRun(100, func() { p.Line(line, n) }); got > 1 {
		t.Errorf("%v allocations a line", got)
	}
}
