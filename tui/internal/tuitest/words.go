package tuitest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Titles are the titles of the frames of a screen.
func Titles(screen string) (out []string) {
	for _, m := range regexp.MustCompile(`╭─+ ([^╮]*?) *─*╮`).FindAllStringSubmatch(screen, -1) {
		out = append(out, m[1])
	}
	return out
}

// CheckWords fails for each word of titles that is neither one of a run's names nor in the list of words in
// docs/screen.md. Numbers, letters of curves and words that are cut are passed over.
func CheckWords(t *testing.T, titles, names []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/screen.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "\n### Which words do titles have?\n")
	if !found {
		t.Fatal("docs/screen.md has no list of the words of titles")
	}
	list, _, _ = strings.Cut(list, "\n### ")
	known := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(list, -1) {
		for _, word := range strings.Fields(m[1]) {
			known[word] = true
		}
	}
	for _, word := range strings.Fields(strings.Join(names, " ")) {
		known[word] = true
	}
	for _, title := range titles {
		for _, word := range strings.Fields(ansi.Strip(title)) {
			word = strings.TrimFunc(word, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '%'
			})
			first, _ := utf8.DecodeRuneInString(word)
			if len(word) > 1 && !unicode.IsDigit(first) && !known[word] && !strings.Contains(title, word+"…") {
				t.Errorf("%q of %q is neither in the log nor in docs/screen.md", word, title)
				known[word] = true
			}
		}
	}
}

// Logs are what other programs print, by who does; Named are the words of their metrics' names.
var Logs = map[string]struct{ Name, Text, Named string }{
	"Keras": {"keras.csv", rows("epoch,accuracy,loss,val_accuracy,val_loss",
		"%d,0.8%[1]d,0.5%[1]d,0.7%[1]d,0.6%[1]d"),
		"accuracy loss val_accuracy val_loss"},
	"Lightning": {"metrics.csv", rows("epoch,step,train_acc,train_loss,val_acc",
		"%d,1%[1]d,0.8%[1]d,0.5%[1]d,0.7%[1]d"),
		"train_acc train_loss val_acc acc"},
	"XGBoost": {"train.log", rows("", "[%d]\ttrain-rmse:1.2%[1]d\teval-rmse:1.3%[1]d"), "train-rmse eval-rmse rmse"},
	"own errors": {"run.jsonl", rows("", `{"step": %d, "loss": 0.5%[1]d, "test_error": 0.2%[1]d, "tokens": 1%[1]d00}`),
		"loss test_error error tokens"},
	"nll":           {"gp.log", rows("", "iter %d nll 1.5%[1]d val_nll 1.6%[1]d"), "nll val_nll"},
	"reinforcement": {"rl.log", rows("", "episode %d reward 1%[1]d.5 length 20%[1]d"), "reward length"},
	"optimizer":     {"opt.log", rows("", "iter %d f 1.5%[1]d |g| 0.3%[1]d tr_radius 0.5%[1]d"), "f |g| tr_radius"},
}

// rows are a first line and ten more.
func rows(first, line string) string {
	var b strings.Builder
	if first != "" {
		b.WriteString(first + "\n")
	}
	for i := range 10 {
		fmt.Fprintf(&b, line+"\n", i)
	}
	return b.String()
}
