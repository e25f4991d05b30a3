package shape

import (
	"bytes"
	"fmt"
	"newtop/internal/alloctest"
	"strings"
	"testing"
)

// TestObjects reads lines of JSON.
func TestObjects(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"flat", `{"step":1,"loss":0.5,"val_loss":0.4}`, "s1 loss=0.5, val_loss=0.4"},
		{"nested", `{"epoch": 2, "train": {"loss": 1, "acc": {"top1": 0.5}}, "lr": 1e-3}`,
			"e2 train/loss=1, train/acc/top1=0.5, lr=0.001"},
		{"a group of all", `{"step":1,"extra":{"loss":2,"acc":{"top1":0.5}}}`, "s1 loss=2, acc/top1=0.5"},
		{"x in a group", `{"extra":{"step":1,"loss":2}}`, "s1 loss=2"},
		{"words of Python", `{"step":1,"a":NaN,"b":Infinity,"c":-Infinity}`, "s1 a=NaN, b=+Inf, c=-Inf"},
		{"words in strings", `{"step":1,"a":"NaN","c":"Infinity","d":"inf","f":"-Infinity"}`,
			"s1 a=NaN, c=+Inf, d=+Inf, f=-Inf"},
		{"numbers in quotes", `{"loss": "2.163", "grad_norm": "nan", "learning_rate": "9.966e-05", "epoch": "0.3556"}`,
			"e0.3556 loss=2.163, grad_norm=NaN, learning_rate=9.966e-05"},
		{"n of m", `{"step":"12/100","loss":0.5}`, "s12 loss=0.5\nof 100"},
		{"a constructor", `{"step":1,"loss":"tensor(0.5, device='cuda:0')"}`, "s1 loss=0.5"},
		{"no metrics", `{"step":1,"loss":null,"ok":true,"phase":"train","per_class":[0.1,[2]],"x":3}`, "s1 train/x=3"},
		{"long form", `{"name":"run","key":"loss","value":0.5,"step":3,"rank":0}` + "\n" +
			`{"tag":"a/b","value":"nan","step":4}` + "\n" + `{"name":"loss","value":null,"step":3}`, "s3 loss=0.5\ns4 a/b=NaN"},
		{"with a variant", `[{"iter":3,"metric":"loss","variant":"train","value":0.5},` +
			`{"iter":3,"metric":"acc","variant":"val","value":0.9}]`, "s3 loss/train=0.5\ns3 acc/val=0.9"},
		{"a name alone", `{"name":"resnet","loss":0.5}`, "loss=0.5"},
		{"trackio", `{"v":1,"kind":"metric","run":"fox","metrics":{"loss":0.5,"val":{"acc":"Infinity"}},"step":3}`,
			"s3 loss=0.5, val/acc=+Inf"},
		{"keys with escapes", `{"step":0,"a\"\u00e9\n":1,"é":2}`, "s0 a\"é=1, é=2"},
		{"other keys from row to row", `{"step":1,"loss":3}` + "\n" + `{"step":1,"eval_loss":2}` + "\n" + `{"step":2,"loss":1}`,
			"s1 loss=3\ns1 eval_loss=2\ns2 loss=1"},
		{"a value without an x", `{"step":1,"loss":3}` + "\n" + `{"eval_loss":2}` + "\n" + `{"step":2,"loss":1}`,
			"s1 loss=3\ns1 eval_loss=2\ns2 loss=1"},
		{"before the first x", `{"eval_loss":4}` + "\n" + `{"step":5,"loss":3}`, "s0 eval_loss=4\ns5 loss=3"},
		{"a list of numbers", `{"step":1,"loss":[3,4],"grid":[[1]]}` + "\n" + `{"step":2,"loss":[1,2]}`,
			"s1 loss/1=3, loss/2=4\ns2 loss/1=1, loss/2=2"},
		{"settings first", `{"lr":0.1,"batch_size":8,"event":"start"}` + "\n" + `{"step":0,"loss":3,"event":"train"}`,
			"s0 train/loss=3\nconfig batch_size=8 lr=0.1"},
		{"a part is all that was said", `{"seed":7,"epoch":0,"loss":3,"event":"train"}` + "\n" +
			`{"seed":7,"epoch":0,"loss":4,"event":"validate"}`, "e0 train/loss=3\ne0 val/loss=4"},
		{"a value without a step", `{"iter":0,"metric":"loss","variant":"train","value":3}` + "\n" +
			`{"iter":-2147483648,"metric":"Summary","variant":"best","value":2}` + "\n" +
			`{"iter":1,"metric":"loss","variant":"train","value":2}`,
			"s0 loss/train=3\ns1 loss/train=2\nconfig summary/Summary/best=2"},
		{"an index of rows", ",iteration,loss\n0,10,3\n1,20,2", "s10 loss=3\ns20 loss=2"},
		{"a length", `{"current_steps":1,"total_steps":9,"loss":3}` + "\n" + `{"current_steps":2,"total_steps":9,"loss":2}`,
			"s1 loss=3\ns2 loss=2\nof 9"},
		{"what stands still", `{"loss":3,"epochs":9}` + "\n" + `{"loss":2,"epochs":9}` + "\n" + `{"loss":1,"epochs":9}`,
			"loss=3\nloss=2\nloss=1"},
		{"a total that grows", `{"total_steps":10,"loss":3}` + "\n" + `{"total_steps":20,"loss":2}`, "s10 loss=3\ns20 loss=2"},
		{"iterations and timesteps", `{"time/iterations":1,"r":2,"time/total_timesteps":128}` + "\n" +
			`{"time/iterations":2,"r":3,"time/total_timesteps":256}`,
			"s128 time/iterations=1, r=2, time/total_timesteps=128\ns256 time/iterations=2, r=3, time/total_timesteps=256"},
		{"an axis of its own", `{"loss":1,"epoch":1,"step":50}` + "\n" + `{"loss":1,"epoch":1,"step":100}` + "\n" +
			`{"map":0.3,"step":1}` + "\n" + `{"loss":1,"epoch":2,"step":150}`,
			"s50 e1 loss=1\ns100 e1 loss=1\ns100 e1 map=0.3\ns150 e2 loss=1"},
		{"mmdetection 2", `{"mode":"train","epoch":1,"iter":50,"loss":3}` + "\n" + `{"mode":"train","epoch":1,"iter":100,"loss":2}` + "\n" +
			`{"mode":"val","epoch":1,"iter":20,"lr":0.1,"map":0.3}` + "\n" + `{"mode":"train","epoch":2,"iter":50,"loss":1}`,
			"s50 e1 train/loss=3\ns100 e1 train/loss=2\ns100 e1 lr=0.1, val/map=0.3\ns150 e2 train/loss=1"},
		{"a crowded epoch", `{"loss":4,"epoch":0.1}` + "\n" + `{"loss":3,"epoch":0.1}` + "\n" + `{"loss":2,"epoch":0.1}` + "\n" +
			`{"loss":1,"epoch":0.2}`, "s1 e0.1 loss=4\ns2 e0.1 loss=3\ns3 e0.1 loss=2\ns4 e0.2 loss=1"},
		{"the first field", `{"n":1,"loss":4}` + "\n" + `{"n":2,"loss":3}` + "\n" + `{"n":3,"loss":5}`, "s1 loss=4\ns2 loss=3\ns3 loss=5"},
		{"a step that is a length of way", `{"iter":1,"step":0.5,"f":4}` + "\n" + `{"iter":2,"step":1,"f":3}`,
			"s1 step=0.5, f=4\ns2 step=1, f=3"},
		{"a letter", `{"loss":4,"t":0}` + "\n" + `{"loss":3,"t":10}` + "\n" + `{"loss":5,"t":20}`, "s0 loss=4\ns10 loss=3\ns20 loss=5"},
		{"ranks", `{"step":1,"loss":4,"rank":1}` + "\n" + `{"step":1,"loss":3,"rank":0}` + "\n" + `{"step":2,"loss":2,"rank":0}`,
			"s1 loss=3\ns2 loss=2"},
		{"a logger's fields", `{"levelname":"INFO","lineno":84,"process":12,"thread":3,"message":"now","loss":0.5,"step":3}`, "s3 loss=0.5"},
		{"loguru", `{"text":"now","record":{"level":{"name":"INFO","no":20},"line":61,"message":"now","process":{"id":1,"name":"M"},` +
			`"extra":{"step":3,"loss":0.5},"elapsed":{"seconds":0.6},"time":{"timestamp":1700000000.5}}}`, "s3 loss=0.5"},
		{"pino", `{"level":30,"time":1700000000000,"pid":1,"hostname":"h","step":3,"loss":0.5,"msg":"now","v":1}`, "s3 loss=0.5"},
		{"a message with numbers", `{"levelname":"INFO","lineno":84,"message":"epoch 3 loss 0.5"}` + "\n" +
			`{"levelname":"INFO","lineno":84,"message":"epoch 4 loss 0.25"}`, "e3 loss=0.5\ne4 loss=0.25"},
		{"Docker", `{"log":"step 1 loss 0.5\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}` + "\n" +
			`{"log":"{\"step\":2,\"loss\":0.25}\n","stream":"stdout","time":"2026-01-01T00:00:00Z"}`, "s1 loss=0.5\ns2 loss=0.25"},
		{"between text", "Training begins\n{\"step\":1,\"loss\":0.5}\nstep 2 loss 0.25\n[rank1]: {\"step\":3,\"loss\":9}\n[rank0]: {\"step\":3,\"loss\":0.1}",
			"s1 loss=0.5\ns2 loss=0.25\ns3 loss=0.1"},
		{"an object over lines", "{\n  \"step\": 1,\n  \"loss\": 0.5\n}\n{\n  \"step\": 2,\n  \"loss\": 0.25\n}", "s1 loss=0.5\ns2 loss=0.25"},
		{"half an object", "{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"lo\n{\"step\":3,\"loss\":0.1}", "s1 loss=0.5\ns3 loss=0.1\n" +
			"read 2 of 3 lines with numbers; torn rows: 1 (--explain)"},
		{"series one after another", `{"step":1,"a":1}` + "\n" + `{"step":2,"a":2}` + "\n" + `{"step":1,"b":1}` + "\n" + `{"step":2,"b":2}`,
			"s1 a=1\ns2 a=2\ns1 b=1\ns2 b=2"},
		{"times", `{"time":0.25,"iter":1,"loss":4}` + "\n" + `{"time":0.2,"iter":2,"loss":3}` + "\n" + `{"time":0.3,"iter":3,"loss":2}`,
			"s1 time=0.25, loss=4\ns2 time=0.2, loss=3\ns3 time=0.3, loss=2"},
	} {
		if got := said(read(t, c.in)); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// said is what a recorder was given, but for lines.
func said(r *recorder) string {
	out := append([]string(nil), r.rows...)
	for _, i := range r.infos {
		if len(i.Config) > 0 {
			text := "config"
			for _, k := range []string{"amp", "batch_size", "lr", "model/name", "summary/Summary/best"} {
				if v, ok := i.Config[k]; ok {
					text += fmt.Sprintf(" %s=%v", k, v)
				}
			}
			out = append(out, text)
		}
		if i.Steps > 0 {
			out = append(out, fmt.Sprintf("of %v", i.Steps))
		}
	}
	if r.warning != "" && !strings.Contains(r.warning, "same epoch") {
		out = append(out, r.warning)
	}
	return strings.Join(out, "\n")
}

// TestTables reads tables with a separator.
func TestTables(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"Keras", "epoch,accuracy,loss,val_loss\n0,0.9,0.5,NA\n1,0.91,nan,0.4", "e0 accuracy=0.9, loss=0.5\ne1 accuracy=0.91, loss=NaN, val_loss=0.4"},
		{"Keras lists", "epoch,loss,per_class\n0,0.5,\"\"\"[0.1, 0.2]\"\"\"\n1,0.4,\"[0.1, 0.2]\"", "e0 loss=0.5\ne1 loss=0.4"},
		{"Lightning", "epoch,step,train_loss_epoch,grad_norm_preclip_step\n0,0,,3.5\n0,0,2.25,", "s0 e0 grad_norm_preclip_step=3.5\ns0 e0 train_loss_epoch=2.25"},
		{"Ultralytics", "                  epoch,      train/box_loss,   metrics/mAP50(B)\n                      1,              1.7773,                nan\r",
			"e1 train/box_loss=1.7773, metrics/mAP50(B)=NaN"},
		{"tabs", "timestamp\tstep\tloss\n1700000000500\t3\t0.25", "s3 loss=0.25"},
		{"semicolons", "epoch;loss;acc\n1;0,5;93%", "e1 loss=0.5, acc=93"},
		{"bars", "epoch|loss|acc\n1|0.5|0.9\n2|0.4|0.8", "e1 loss=0.5, acc=0.9\ne2 loss=0.4, acc=0.8"},
		{"decimal commas in tabs", "epoch\tloss\n1\t0,125\n2\t1.234,5", "e1 loss=0.125\ne2 loss=1234.5"},
		{"decimal commas in quotes", "epoch,loss\n1,\"0,5\"\n2,\"0,25\"", "e1 loss=0.5\ne2 loss=0.25"},
		{"pandas", ",epoch,loss\n0,1,0.5", "e1 loss=0.5"},
		{"pandas without a counter", ",loss,acc\n0,0.5,0.1\n1,0.25,0.2\n2,0.1,0.3", "s0 loss=0.5, acc=0.1\ns1 loss=0.25, acc=0.2\ns2 loss=0.1, acc=0.3"},
		{"quotes", "\"step\",\"a,\"\"b\"\"\"\n\"1\",\"1,234.5\"", "s1 a,\"b\"=1234.5"},
		{"single quotes", "'step','loss'\n'1','0.5'", "s1 loss=0.5"},
		{"constructors", "epoch,loss\n1,tensor(0.5)\n2,\"tensor(0.25, device='cuda:0')\"\n3,np.float32(0.1)", "e1 loss=0.5\ne2 loss=0.25\ne3 loss=0.1"},
		{"text and dates", "date,model,loss\n1970-01-01 00:00:10,resnet,0.5\n1970-01-01T01:00:10+01:00,vgg,-inf", "loss=0.5\nloss=-Inf"},
		{"a separator at the end", "step,loss,\n1,0.5,\n2,0.4,", "s1 loss=0.5\ns2 loss=0.4"},
		{"equal names", "epoch,loss,loss\n1,0.5,0.4", "e1 loss=0.5, loss.2=0.4"},
		{"a comment first", "# run of today, lr 0.1\nstep,loss\n1,0.5", "s1 loss=0.5"},
		{"a header behind #", "# step,loss\n1,0.5\n2,0.4", "s1 loss=0.5\ns2 loss=0.4"},
		{"begun anew", "epoch,loss\n0,0.5\nepoch,loss\n0,0.6\nepoch,val_loss,loss\n1,0.7,0.8", "e0 loss=0.5\ne0 loss=0.6\ne1 val_loss=0.7, loss=0.8"},
		{"a row of text is no header", "name,loss\nresnet,0.5\nvgg,failed\nresnet,0.4", "loss=0.5\nloss=0.4"},
		{"torn rows", "step,loss\n1,0.5\n2\n3,0.4,7\n4,0.3", "s1 loss=0.5\ns4 loss=0.3\nread 2 of 4 lines with numbers; torn rows: 2 (--explain)"},
		{"words behind the header", "step,loss\n2,0.6\nTraining begins\n3,0.5", "s2 loss=0.6\ns3 loss=0.5"},
		{"words before", "Training begins\nstep,loss\n3,0.5", "s3 loss=0.5"},
		{"tidy", "step,metric,value\n0,loss,2\n0,acc,0.5\n1,loss,1", "s0 loss=2\ns0 acc=0.5\ns1 loss=1"},
		{"tidy by metric", "tag,step,value,wall_time\nloss,0,2,1700000000\nloss,1,1,1700000001\nacc,0,0.5,1700000000", "s0 loss=2\ns1 loss=1\ns0 acc=0.5"},
		{"melted", "epoch,variable,value\n1,train_loss,2\n1,val_loss,3", "e1 train_loss=2\ne1 val_loss=3"},
		{"a column of parts", "epoch,split,loss\n1,train,2\n1,val,3\n2,train,1\n2,val,2", "e1 train/loss=2\ne1 val/loss=3\ne2 train/loss=1\ne2 val/loss=2"},
		{"blank rows", "step,loss,acc\n1,0.5,\n,,\n2,,0.5", "s1 loss=0.5\ns2 acc=0.5"},
		{"a number as a name's column", "step,metric\n1,0.5\n2,0.6", "s1 metric=0.5\ns2 metric=0.6"},
		{"batches that begin anew", "epoch,batch,loss\n0,0,4\n0,1,3\n1,0,2\n1,1,1", "s0 e0 loss=4\ns1 e0 loss=3\ns2 e1 loss=2\ns3 e1 loss=1"},
		{"JSON behind a table", "step,loss\n1,0.5\n{\"step\":2,\"loss\":0.25}", "s1 loss=0.5\ns2 loss=0.25"},
		{"TensorBoard's download", "Wall time,Step,Value\n1700000000.5,10,0.5\n1700000001.5,20,0.25", "s10 Value=0.5\ns20 Value=0.25"},
		{"prose with commas", "Hello, world\nHow, are, you\nname,city\nAnn,Rome", ""},
		{"text with commas", "loss 0.5, acc 0.3\nloss 0.4, acc 0.4\nloss 0.3, acc 0.5", "loss=0.5, acc=0.3\nloss=0.4, acc=0.4\nloss=0.3, acc=0.5"},
	} {
		if got := said(read(t, c.in)); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestWordsOfObjects holds that what an object says besides numbers is told.
func TestWordsOfObjects(t *testing.T) {
	for in, want := range map[string]string{
		`{"config":{"lr":0.1,"model":{"name":"mlp"},"amp":true,"seed":null}}`:          "config amp=true lr=0.1 model/name=mlp",
		`{"v":1,"kind":"alert","run":"r","title":"NaN","text":"loss is NaN","step":3}`: "NaN: loss is NaN",
		`{"msg":"hello\tworld"}`:                           "hello\tworld",
		`{"level":"info","ts":1700000000.5,"msg":"begun"}`: "begun",
		`{"status":"done"}`:                                `{"status":"done"}`,
		`{}`:                                               "",
		`[{"timestamp":1700000000500,"type":"log","msg":"one\n\u001b[1mtwo\u001b[0m"}]`: "one\ntwo",
	} {
		r := read(t, in)
		if got := strings.TrimSpace(said(r) + "\n" + strings.Join(r.lines, "\n")); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", in, got, want)
		}
	}
}

func TestLook(t *testing.T) {
	long := `{"loss":0.5,"weights":[` + strings.Repeat("0.25,", 20000)
	for text, want := range map[string]Kind{
		"{\"step\":1,\"loss\":0.5}\n{\"step\":2,\"lo":              Objects,
		`{"step":1,"loss":NaN}`:                                    Objects,
		`{"msg":"begun"}` + "\n":                                   Objects,
		`[{"metric":"a","variant":"b","iter":1,"value":2}]` + "\n": Objects,
		`[{"metric":"a","variant":"b","iter":1,"value":2}]`:        Document,
		`{"loss":[0.5,0.4],"val_loss":[0.6,NaN]}`:                  Document,
		`{"step":1,"loss":[0.5,0.4]}`:                              Objects,
		"{\n  \"best_metric\": null,\n  \"epoch\": 1.0,\n  \"lo":   Document,
		"[\n{\"loss\":1},\n{\"loss\":2}\n]\n":                      Document,
		long[:65536]:                                               Document,
		"loss: 0.5\n":                                              Text,
		"{'loss': 0.5}\n":                                          Text,
		"":                                                         Nothing,
		"[0] train-rmse:0.5\n":                                     Text,
		"epoch,loss\n0,0.5\n":                                      Table,
		"epoch,loss\n":                                             Table,
		"epoch,step,a,b,c\n0,0,,,3.5\n":                            Table,
		"   epoch,   train/box_loss\n   1,   1.7\n   2":            Table,
		"step\tloss\n1\t0.5\n":                                     Table,
		"date;loss;acc\n2026-01-01 00:00:00;1;2\n":                 Table,
		"Hello, world\n":                                           Nothing,
		"name,city\nAnn,Rome\nBob,Oslo\n":                          Nothing,
		"1,2\n3,4\n":                                               Text,
		"loss 0.5, acc 0.3\nloss 0.4, acc 0.4\n":                   Text,
	} {
		if got := Look([]byte(text)); got != want {
			t.Errorf("%.60q: %v, want %v", text, got, want)
		}
	}
}

// TestRowsCostNoAllocation holds for objects and tables.
func TestRowsCostNoAllocation(t *testing.T) {
	for _, c := range [][2]string{
		{`{"step":0,"loss":0.5}`, `{"step":1,"loss":0.5,"train":{"acc":0.30000000000000004,"lr":"1e-3"},"phase":"x"}`},
		{"step,loss,val_loss\n1,2,3", "12,0.123456,0.30000000000000004"},
	} {
		p, s := New(), new(heard)
		for line := range strings.SplitSeq(c[0], "\n") {
			p.Line([]byte(line), s)
		}
		p.Flush(s)
		if n := alloctest.PerRun(100, func() { p.Line([]byte(c[1]), s) }); n > 1 {
			t.Errorf("%s: %v allocations a row", c[1], n)
		}
	}
}

func BenchmarkMillionRows(b *testing.B) {
	for _, c := range []struct{ name, head, row string }{
		{"objects", "", "{\"step\":%d,\"loss\":%.6f,\"lr\":0.001}\n"},
		{"table", "step,loss,lr\n", "%d,%.6f,0.001\n"},
		{"text", "", "step %d loss %.6f lr 0.001\n"},
	} {
		text := []byte(c.head)
		for i := range 1_000_000 {
			text = fmt.Appendf(text, c.row, i, 1/float64(i+1))
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, n := New(), new(heard)
				for line := range bytes.Lines(text) {
					p.Line(line[:len(line)-1], n)
				}
				p.Flush(n)
				if n.rows != 1_000_000 {
					b.Fatal(n.rows)
				}
			}
		})
	}
}

// FuzzFields holds that no text does any harm.
func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"step":1,"loss":0.5}`, `{"a":{"b":[1,{"c":2}],"d":"1e3"},"e":null,"":{"":-0.0}}`,
		"epoch,loss\n0,0.5", "a;b\n1;0,5\n;", "step\tx\n1\t\"2", "\"a\"\"\",b\n\"1\",nan", ",a,\n1,2,3,", "#\n",
		`{"msg":"{\"msg\":\"1\"}"}`, `{"step":"12/100","v":"tensor(1)"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Look([]byte(text))
		p, c := New(), new(heard)
		for line := range strings.SplitSeq(text, "\n") {
			p.Line([]byte(line), c)
		}
		p.Flush(c)
		p.Warning()
	})
}
