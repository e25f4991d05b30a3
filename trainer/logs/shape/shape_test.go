package shape

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"newtop/trainer/logs"
)

// recorder writes down what a parser gives.
type recorder struct {
	warning string
	rows    []string
	lines   []string
	infos   []logs.Info
}

func (r *recorder) Row(row *logs.Row) {
	var b strings.Builder
	for _, c := range []struct {
		name string
		v    float64
	}{{"s", row.Step}, {"e", row.Epoch}} {
		if !math.IsNaN(c.v) {
			fmt.Fprintf(&b, "%s%v ", c.name, c.v)
		}
	}
	for i, v := range row.Values {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s=%v", v.Key, v.V)
	}
	r.rows = append(r.rows, b.String())
}

func (r *recorder) Info(i logs.Info)       { r.infos = append(r.infos, i) }
func (r *recorder) Line(text []byte)       { r.lines = append(r.lines, string(text)) }
func (r *recorder) End(logs.State, string) {}

func read(t testing.TB, s string) *recorder {
	t.Helper()
	p, r := New(), &recorder{}
	for _, line := range strings.Split(s, "\n") {
		if err := p.Line([]byte(line), r); err != nil {
			t.Error(err)
		}
	}
	p.Flush(r)
	r.warning = p.Warning()
	return r
}

var cases = []struct{ name, in, want string }{
	{"pairs", "step 12 loss 0.345 val_loss 0.4\nstep=13 loss=1e-3, acc=93%\nstep: 14 loss: nan lr: -inf n: '0.5'",
		"s12 loss=0.345, val_loss=0.4\ns13 loss=0.001, acc=0.93\ns14 loss=NaN, lr=-Inf, n=0.5"},
	{"PyTorch MNIST",
		"Train Epoch: 1 [0/60000 (0%)]\tLoss: 2.297087\nTrain Epoch: 1 [640/60000 (1%)]\tLoss: 2.29\n\nTest set: Average loss: 0.2449, Accuracy: 9312/10000 (93%)\n\nTrain Epoch: 2 [0/60000 (0%)]\tLoss: 0.3",
		"s0 e1 train loss=2.297087\ns640 e1 train loss=2.29\ns640 e1 test loss=0.2449, test accuracy=0.93\ns60000 e2 train loss=0.3"},
	{"ImageNet", "Epoch: [0][  10/1307]\tTime  0.779 ( 5.211)\tData  0.001 ( 4.1)\tLoss 2.3915e+01 (1.5221e+01)\tAcc@1   0.00 (  5.68)\nTest: [  0/196]\tTime  9.779 ( 9.779)\tLoss 1.5 (1.5)\tAcc@1 10.00 ( 10.00)\nTest: [ 190/196]\tTime  0.1 ( 0.2)\tLoss 1.5 (1.25)\tAcc@1 12.00 ( 11.00)\n *   Acc@1 0.522 Acc@5 60.122",
		"s10 e0 Loss=23.915, Acc@1=0\ns10 e0 test loss=1.25, test acc@1=11\ns10 e0 test acc@1=0.522, test acc@5=60.122"},
	{"word LM", "| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 12.34 | loss  7.63 | ppl  2061.6\n| epoch   2 |   200/ 2983 batches | lr 20.00 | ms/batch 12.34 | loss  6.63 | ppl  761.6\n| end of epoch   2 | time: 12.30s | valid loss  5.5 | valid ppl   244.7",
		"s200 e1 lr=20, loss=7.63, ppl=2061.6\ns3183 e2 lr=20, loss=6.63, ppl=761.6\ns3183 e2 val loss=5.5, val ppl=244.7"},
	{"LightGBM", "[10]\ttraining's l1: 0.457448\tvalid_1's l1: 0.456464\n[LightGBM] [Info] Iteration:11, valid_1 auc : 0.771835",
		"s10 train l1=0.457448, valid_1 l1=0.456464\ns11 valid_1 auc=0.771835"},
	{"CatBoost", "0:\tlearn: 0.6705108\ttotal: 54.7ms\tremaining: 54.7ms\n90: learn: 0.2956228 test: 0.3603579 best: 0.3603579 (90) total: 157ms remaining: 1.5s",
		"s0 learn=0.6705108\ns90 learn=0.2956228, test=0.3603579"},
	{"Keras 2", "Epoch 1/5\n 1/15 [>.............................] - ETA: 1s - accuracy: 0.1 - loss: 2.3\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\r15/15 [==============================] - 0s 8ms/step - accuracy: 0.9770 - loss: 0.0585\nEpoch 2/5\n15/15 [==============================] - 0s 8ms/step - accuracy: 0.98 - loss: 0.05",
		"e1 accuracy=0.977, loss=0.0585\ne2 accuracy=0.98, loss=0.05"},
	{"Keras 3", "Epoch 1/5\n\x1b[1m  1/422\x1b[0m \x1b[37m━━━━━━━━━━━━━━━━━━━━\x1b[0m \x1b[1m10:00\x1b[0m 1s/step - accuracy: 0.1 - loss: 2.3\b\b\b\b\b\b\b\b\b\b\b\b\b\r\x1b[1m422/422\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m47s\x1b[0m 108ms/step - accuracy: 0.8659 - loss: 0.4917 - val_accuracy: 0.9840 - val_loss: 0.0581\n\x1b[1m313/313\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m 1s 2ms/step - accuracy: 0.98 - loss: 0.06",
		"e1 accuracy=0.8659, loss=0.4917, val_accuracy=0.984, val_loss=0.0581\ne1 test accuracy=0.98, test loss=0.06"},
	{"Keras verbose=2",
		"Epoch 1/5\n422/422 - 47s - 108ms/step - accuracy: 0.8659 - loss: 0.4917\nEpoch 2/5\n422/422 - 47s - 108ms/step - accuracy: 0.9 - loss: 0.4\n422/422 - 1s - 2ms/step - accuracy: 0.8 - loss: 0.5",
		"e1 accuracy=0.8659, loss=0.4917\ne2 accuracy=0.9, loss=0.4\ne2 test accuracy=0.8, test loss=0.5"},
	{"fastai", "epoch     train_loss  valid_loss  accuracy  time    \n0         0.354821    0.375355    0.825871  00:02     \n1         0.25    0.27    0.9  00:02     ",
		"e0 train_loss=0.354821, valid_loss=0.375355, accuracy=0.825871\ne1 train_loss=0.25, valid_loss=0.27, accuracy=0.9"},
	{"skorch", "  epoch    train_loss    valid_acc    valid_loss     dur\n-------  ------------  -----------  ------------  ------\n      1        0.6868       0.5400        0.6859  0.0217",
		"e1 train_loss=0.6868, valid_acc=0.54, valid_loss=0.6859"},
	{"a name, a counter and a value", "mnist 1 0.91\nmnist 2 0.92\nmnist 3 0.925", "s1 mnist=0.91\ns2 mnist=0.92\ns3 mnist=0.925"},
	{"a name and two numbers", "step 1\nrecall 1 0.91\nrecall 5 0.92\nrecall 1 0.925", "s1 recall=1\ns1 recall=5\ns1 recall=1"},
	{"LightGBM's start", "[LightGBM] [Info] Start training from score 0.512\n[1]\ttraining's l2: 0.5", "s1 train l2=0.5"},
	{"Keras' checkpoint", "Epoch 1/2\n9/9 - 1s - 9ms/step - loss: 0.5\n\nEpoch 1: val_loss improved from None to 0.60000, saving model to best.keras", "e1 loss=0.5"},
	{"SLSQP", "  NIT    FC           OBJFUN\n    1     2     4.3E+01\n    2     6     2.5E+01\n    3    10     2.0E+00\nOptimization terminated successfully    (Exit mode 0)\n            Iterations: 3",
		"s1 FC=2, OBJFUN=43\ns2 FC=6, OBJFUN=25\ns3 FC=10, OBJFUN=2"},
	{"an axis of its own", "iter 10 loss 5\niter 20 loss 4\neval step 1 val_loss 3 epoch 1\niter 30 loss 3\neval step 2 val_loss 2 epoch 2\niter 40 loss 2",
		"s10 loss=5\ns20 loss=4\ns20 e1 val_loss=3\ns30 e1 loss=3\ns30 e2 val_loss=2\ns40 e2 loss=2"},
	{"bayes-opt",
		"|   iter    |  target   |    x      |\n-------------------------------------\n| 1         | -7.135    | 2.834     |",
		"s1 target=-7.135, x=2.834"},
	{"Lightning",
		"\rEpoch 0:   0%|          | 0/2 [00:00<?, ?it/s]\rEpoch 0:  50%|█████     | 1/2 [00:00<00:00,  1.65it/s, v_num=1, train_accuracy=0.7]\rEpoch 0: 100%|██████████| 2/2 [00:00<00:00,  1.65it/s, v_num=1, train_accuracy=0.829]\rEpoch 0: 100%|██████████| 2/2 [00:00<00:00,  1.65it/s, v_num=1, train_accuracy=0.829, val_loss=0.4]\rEpoch 1:  50%|█████     | 1/2 [00:00<00:00,  1.65it/s, v_num=1, train_accuracy=0.9, val_loss=0.4]",
		"s1 e0 train_accuracy=0.7\ns2 e0 train_accuracy=0.829, val_loss=0.4\ns3 e1 train_accuracy=0.9"},
	{"torchtune",
		"    1|3|Loss: 1.943998098373413:   0%|   | 3/1617 [00:21<3:04:47,  6.87s/it]\nStep 1 | loss:1.5 lr:2e-05 tokens_per_second_per_gpu:1234.5",
		"s3 e1 Loss=1.943998098373413\ns1 e1 loss=1.5, lr=2e-05, tokens_per_second_per_gpu=1234.5"},
	{"torchtitan",
		"[rank0]:[titan] 2025-10-30 14:32:58,897 - root - INFO - \x1b[31mstep:  1  \x1b[32mloss:  8.1661  \x1b[38;2;180;60;0mgrad_norm:  3.6855  memory:  2.47GiB(3.12%)  tps: 3,502  tflops: 1.90  mfu: 0.19%\x1b[39m\n[rank1]:[titan] 2025-10-30 14:32:58,897 - root - INFO - step:  1  loss:  9.1",
		"s1 loss=8.1661, grad_norm=3.6855, tps=3502, tflops=1.9, mfu=0.19"},
	{"nanoGPT", "number of parameters: 123.59M\ntokens per iteration will be: 491,520\nstep 0: train loss 10.9210, val loss 10.9209\niter 0: loss 10.9, time 48.67ms, mfu -100.00%\niter 40: loss 6.2081, time 48.67ms, mfu 10.07%",
		"s0 train loss=10.921, val loss=10.9209\ns0 loss=10.9\ns40 loss=6.2081, mfu=10.07"},
	{"llm.c", "step 0: train loss 5.356189 (took 1452.121000 ms)\nval loss 5.32\nstep    1/19560 | loss 10.951000 (+nanz)| norm 15.3000 (+0.52z)| lr 8.57e-07 | 3056.36 ms | 42.6% bf16 MFU | 171489 tok/s\ns:250 tel:4.5123\ns:251 trl:10.9 lr:0.001 norm:2.5",
		"s0 train loss=5.356189\ns0 val loss=5.32\ns1 loss=10.951, norm=15.3, lr=8.57e-07, ms=3056.36, bf16 mfu=42.6, tok/s=171489\ns250 test loss=4.5123\ns251 train loss=10.9, lr=0.001, norm=2.5"},
	{"Flax", "I1127 10:22:26.140852 139938806449728 logging_writer.py:48] [1] steps_per_sec=0.0106879\nI1127 10:22:26.140852 139938806449728 logging_writer.py:48] [2] collection=train accuracy=0.5, loss=2.5\nepoch:  1, train_loss: 0.2437, train_accuracy: 92.64, test_loss: 0.1",
		"s1 steps_per_sec=0.0106879\ns2 train accuracy=0.5, train loss=2.5\ns2 e1 train_loss=0.2437, train_accuracy=92.64, test_loss=0.1"},
	{"Ultralytics",
		"      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n       1/20      10.1G      1.777      2.573      1.302         79        640:  50%|███  | 149/298 [00:01<00:01]\r       1/20      10.1G      1.777      2.573      1.302         79        640: 100%|███| 298/298 [00:01<00:00]\n                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██| 4/4 [00:01<00:00]\n                   all        128        929      0.64      0.537      0.605      0.446",
		"e1 box_loss=1.777, cls_loss=2.573, dfl_loss=1.302\ne1 P=0.64, R=0.537, mAP50=0.605, mAP50-95=0.446"},
	{"Ultralytics, a run appended", "Validating runs/train/weights/best.pt...\nModel summary: 73 layers\n Class Images mAP50\n   all 128 0.6\n" +
		"Epoch GPU_mem box_loss Size\n  1/2 10.1G 1.5 640\n Class Images mAP50\n   all 128 0.5\nEpoch GPU_mem box_loss Size\n  2/2 10.1G 1.2 640",
		"e0 mAP50=0.6\ne1 box_loss=1.5\ne1 mAP50=0.5\ne2 box_loss=1.2"},
	{"a heading's table with its header again", "Validating best.pt...\n\nEpoch box loss\n1 0.5 3\n2 0.4 2\nEpoch box loss\n3 0.3 1",
		"e1 box=0.5, val loss=3\ne2 box=0.4, val loss=2\ne3 box=0.3, val loss=1"},
	{"HF 4", "{'loss': 21.4436, 'learning_rate': 4.9970059880239524e-05, 'epoch': 0.06}\n{'eval_loss': 1.5, 'eval_runtime': 3.5, 'epoch': 0.06}\n{'train_runtime': 9.5, 'train_loss': 3.2, 'epoch': 1.0}",
		"e0.06 loss=21.4436, learning_rate=4.9970059880239524e-05\ne0.06 eval_loss=1.5, eval_runtime=3.5"},
	{"HF 5", "\r 10%|█         | 10/100 [00:01<00:09, 10.0it/s]\r                                                 \r{'loss': '2.163', 'grad_norm': 'nan', 'learning_rate': '9.966e-05', 'epoch': '0.5'}\n\r 10%|█         | 10/100 [00:01<00:09, 10.0it/s]\r 20%|██        | 20/100 [00:02<00:08, 10.0it/s]{'loss': '2.0', 'epoch': '1'}\n{'eval_loss': '1.9', 'epoch': '1'}",
		"s10 e0.5 loss=2.163, grad_norm=NaN, learning_rate=9.966e-05\ns20 e1 loss=2\ns20 e1 eval_loss=1.9"},
	{"TRL, Axolotl",
		"{'loss': '0.611', 'rewards/chosen': '0.245', 'rewards/margins': '0.386', 'epoch': '0.032'}\n{'loss': 1.2, 'memory/max_mem_active(gib)': \n14.56, 'grad_norm': 0.5,\n'epoch': 0.1}\nval loss 0.3",
		"e0.032 loss=0.611, rewards/chosen=0.245, rewards/margins=0.386\ne0.1 loss=1.2, memory/max_mem_active(gib)=14.56, grad_norm=0.5\ne0.1 val loss=0.3"},
	{"Guild", "loss: 0.5 (step 3)\nfoo: 1\nfoo: 2", "s3 loss=0.5\ns3 foo=1\ns3 foo=2"},
	{"PyTorch quickstart",
		"Epoch 1\n-------------------------------\nloss: 2.303494  [   64/60000]\nTest Error: \n Accuracy: 39.5%, Avg loss: 2.158 \n",
		"s64 e1 loss=2.303494\ns64 e1 test accuracy=0.395, test loss=2.158"},
	{"CIFAR tutorial", "[1,  2000] loss: 2.172\n[1,  4000] loss: 1.872\n[2,  2000] loss: 1.5",
		"s2000 e1 loss=2.172\ns4000 e1 loss=1.872\ns6000 e2 loss=1.5"},
	{"transfer tutorial", "Epoch 0/24\n----------\ntrain Loss: 0.3 Acc: 0.8\nval Loss: 0.4 Acc: 0.7\n",
		"e0 train loss=0.3, train acc=0.8\ne0 val loss=0.4, val acc=0.7"},
	{"yunjey", "Epoch [1/5], Step [100/600], Loss: 0.3\nEpoch [2/5], Step [100/600], Loss: 0.2",
		"s100 e1 Loss=0.3\ns700 e2 Loss=0.2"},
	{"mmcv", "2024-01-01 10:00:00,000 - mmdet - INFO - Epoch [1][50/7330]\tlr: 1.978e-03, eta: 1 day, 0:00:00, time: 0.5, data_time: 0.05, memory: 3000, loss_rpn_cls: 0.6\n01/02 10:00:00 - mmengine - INFO - Epoch(train) [2][50/7330]  lr: 0.1  loss: 0.5",
		"s50 e1 lr=0.001978, loss_rpn_cls=0.6\ns7380 e2 lr=0.1, train loss=0.5"},
	{"Detectron2",
		"[11/27 10:00:00 d2.utils.events]:  eta: 0:10:00  iter: 19  total_loss: 3.1  loss_cls: 1.2  time: 0.3  data_time: 0.1  lr: 0.0002  max_mem: 3000M",
		"s19 total_loss=3.1, loss_cls=1.2, lr=0.0002"},
	{"Megatron", " iteration       10/  500000 | consumed samples:         2560 | elapsed time per iteration (ms): 5432.1 | learning rate: 1.5E-06 | global batch size:   256 | lm loss: 1.05E+01 | loss scale: 1.0 | grad norm: 2.3 | number of skipped iterations:   0 |",
		"s10 learning rate=1.5e-06, lm loss=10.5, loss scale=1, grad norm=2.3"},
	{"srun --label", "0: epoch 1 loss 0.5\n1: epoch 1 loss 0.7\n0: val loss 0.4", "e1 loss=0.5\ne1 val loss=0.4"},
	{"bars that begin anew",
		"\r 50%|█| 1/2 [00:00<00:00, 1it/s, loss=3]\r100%|█| 2/2 [00:00<00:00, 1it/s, loss=2]\n\r 50%|█| 1/2 [00:00<00:00, 1it/s, loss=1]", "s1 loss=3\ns2 loss=2\ns3 loss=1"},
	{"loguru", "2024-01-01 10:00:00.123 | INFO     | __main__:train:45 - epoch=1 loss=0.3\nINFO:root:epoch 2, loss 0.2",
		"e1 loss=0.3\ne2 loss=0.2"},
	{"fairseq", "2020-01-01 10:00:00 | INFO | train_inner | epoch 001:    100 / 1000 loss=5.2, ppl=36, num_updates=100",
		"s100 e1 loss=5.2, ppl=36"},
	{"srun --label with dicts", "0: {'loss': 0.5, 'epoch': 1}\n1: {'loss': 0.7, 'epoch': 1}", "e1 loss=0.5"},
	{"words before a dict", "val: {'loss': 0.5, 'acc': 0.4}\nStep 5 {\"loss\": NaN, \"acc\": 0.4}",
		"s0 val loss=0.5, val acc=0.4\ns5 loss=NaN, acc=0.4"},
	{"tensors", "epoch 1 loss tensor(0.3456, grad_fn=<NllLossBackward0>)", "e1 loss=0.3456"},
	{"bars with words",
		"\rTraining: 34%|███  | 34/100 [00:10<00:20, 3.4it/s, loss=0.5]\rTraining: 35%|███  | 35/100 [00:10<00:20, 3.4it/s, loss=0.4]\n\rValidation: 34%|███  | 3/10 [00:10<00:20, 3.4it/s, loss=0.6]\rValidation: 100%|███  | 10/10 [00:10<00:20, 3.4it/s, loss=0.7]",
		"s34 train loss=0.5\ns35 train loss=0.4\ns35 val loss=0.7"},
	{"tutorials' accuracy",
		"Accuracy of the network on the 10000 test images: 55 %\nTest Accuracy of the model on the 10000 test images: 97.5 %", "test accuracy=0.55\ntest accuracy=0.975"},
	{"parts as names", "epoch 1 train 0.5 val 0.4\nEpoch   2: train=0.5000, val=0.4000",
		"e1 train=0.5, val=0.4\ne2 train=0.5, val=0.4"},
	{"checkpoints",
		"Epoch 1: val_loss improved from inf to 0.25, saving model to best.h5\nEpoch 00004: reducing learning rate of group 0 to 1.0000e-03.", ""},
	{"episodes", "Episode 10\tAverage Score: 22.41", "s10 average score=22.41"},
	{"a terminal's lines", "step 1 loss 0.5\r\nval loss 0.4\r\n\x1b[1mval loss 0.3\x1b[0m\r",
		"s1 loss=0.5\ns1 val loss=0.4\ns1 val loss=0.3"},
	{"lines written over", "step 1 loss 0.5\rstep 1 loss 0.4\rstep 2 loss 0.3\rstep 3 loss 0.3",
		"s1 loss=0.4\ns2 loss=0.3"},
	{"losses of a sum", "step 3 data loss: 0.5, physics loss: 0.25, data 0.001, time 3",
		"s3 data loss=0.5, physics loss=0.25"},
	{"prose", "Epoch 3 finished, average loss: 0.5\nSaving model with loss 0.25", "e3 average loss=0.5\ne3 loss=0.25"},
}

func TestLines(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := read(t, c.in)
			if got := strings.Join(r.rows, "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if n := strings.Count(c.in, "\n") + 1; len(r.lines) != n {
				t.Errorf("%d lines for the console, want %d", len(r.lines), n)
			}
		})
	}
}
