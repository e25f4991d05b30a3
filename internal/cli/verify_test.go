package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/internal/verify"
)

// TestVerify: a line for each comparison, the count last; a wrong digit is shown and is a failure; files are refused in a line.
func TestVerify(t *testing.T) {
	if out := succeed(t, "verify", "sgd", "passes"); !strings.Contains(out, "\nsgd ") || !strings.HasSuffix(out, " numbers compared\n") ||
		!strings.Contains(out, "\nall ") || !strings.Contains(out, "not covered: several processes") {
		t.Errorf("%s", out)
	}
	references := *verify.Embedded()
	references.Passes, references.Cases = references.Passes[:1], nil
	values := references.Passes[0].Values
	references.Passes[0].Values = append([]float64{values[0] * (1 + 1e-12)}, values[1:]...)
	defer func() { references.Passes[0].Values = values }()
	text, err := json.Marshal(references)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	wrong, broken := filepath.Join(dir, "wrong.json"), filepath.Join(dir, "broken.json")
	if err := os.WriteFile(wrong, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte(strings.Replace(string(text), `"Layers":[4`, `"Layers":[5`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _, code := newtop("verify", "--references", wrong)
	if code != 1 || !strings.Contains(out, "NOT: the loss is ") || !strings.Contains(out, "\n1 of 2 are NOT right") {
		t.Errorf("exit %d: %s", code, out)
	}
	out, _, code = newtop("verify", "--references", wrong, "--format", "jsonl")
	all := lines(out)
	var first verify.Result
	var last verify.Summary
	if code != 1 || len(all) != 3 || json.Unmarshal([]byte(all[0]), &first) != nil || json.Unmarshal([]byte(all[2]), &last) != nil ||
		first.Method != "passes" || first.Fault == "" || last.Wrong != 1 || last.Numbers != first.Numbers*2 || last.OK {
		t.Errorf("exit %d: %s", code, out)
	}
	refuses(t, 1, "broken.json: expected references … row 1: expected 5 inputs", "verify", "--references", broken)
	refuses(t, 1, "nothing.json", "verify", "--references", filepath.Join(dir, "nothing.json"))
	refuses(t, 64, `unknown optimizer "sdg" … did you mean`, "verify", "sdg")
	refuses(t, 64, "--format", "verify", "--format", "xml")
}
