#!/bin/sh
# Logistic regression in awk: which letters are vowels. vowels.sh RATE DECAY MOMENTUM L2
awk -F, -v rate="$1" -v decay="$2" -v momentum="$3" -v l2="$4" '
{ y[NR] = index("AEIOU", $1) > 0; x[NR, 0] = 1; for (k = 1; k <= 16; k++) x[NR, k] = $(k + 1) / 8 - 1 }
function logit(i, k, z) { z = 0; for (k = 0; k <= 16; k++) z += w[k] * x[i, k]; return z > 30 ? 30 : z < -30 ? -30 : z }
END {
	n = int(NR * .7)
	for (epoch = 1; epoch <= 18; epoch++) {
		r = rate / (1 + decay * epoch)
		for (i = 1; i <= n; i++) {
			e = 1 / (1 + exp(-logit(i))) - y[i]
			for (k = 0; k <= 16; k++) { v[k] = momentum * v[k] - r * (e * x[i, k] + l2 * w[k]); w[k] += v[k] }
		}
		for (loss = 0; i <= NR; i++) loss += log(1 + exp(y[i] ? -logit(i) : logit(i)))
		printf "epoch=%d loss=%.5f\n", epoch, loss / (NR - n); fflush()
	}
}' "${TUNE_ROWS:-rows.csv}"
