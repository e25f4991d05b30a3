package format

import "testing"

func TestMasked(t *testing.T) {
	for text, want := range map[string]string{
		"newtop watch - --alert 'webhook=https://hooks.example/T0/B0/key?x=1' --save a": "newtop watch - --alert 'webhook=https://hooks.example***' --save a",
		"newtop watch a.csv --alert webhook=https://u:p@host/key":                       "newtop watch a.csv --alert webhook=https://***@host***",
		"python3 m.py --password hunter2 --lr 0.1":                                      "python3 m.py --password *** --lr 0.1",
		"newtop train --model 'python3 m.py --api-key=abc --hf_token def'":              "newtop train --model 'python3 m.py --api-key=*** --hf_token ***'",
		"env WANDB_API_KEY=abc AWS_SECRET=x python3 m.py":                               "env WANDB_API_KEY=*** AWS_SECRET=*** python3 m.py",
		"newtop train --model tcp://me:pw@gpu1:5000":                                    "newtop train --model tcp://***@gpu1:5000",
		"m.py --max-tokens 8 --tokenizer bpe --pad-token 0 --key k":                     "m.py --max-tokens 8 --tokenizer bpe --pad-token 0 --key k",
		"sh --password 'correct horse'\\''s' --lr 1 '--api-key=a b'\\''c' 'KEY=a b'":    "sh --password *** --lr 1 '--api-key=***' 'KEY=a b'",
		"newtop watch --alert bell https://host/a@b":                                    "newtop watch --alert bell https://host/a@b",
	} {
		if got := Masked(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
