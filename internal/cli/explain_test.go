package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/models/modelfile"
	"newtop/trainer/event"
)

// numbered is a regression on a number and a word, with a column that says nothing.
func numbered(rows int) string {
	var b strings.Builder
	b.WriteString("size,place,noise,price\n")
	for i := range rows {
		place, more := "field", 0
		if i%3 == 0 {
			place, more = "wood", 900
		}
		fmt.Fprintf(&b, "%d,%s,%d,%g\n", i*i%40, place, i*7%13, float64(5000+100*(i*i%40)+more)+float64(i)/8)
	}
	return b.String()
}

// What predict, explain and the run itself say of the same rows agrees.
func TestScoresAgree(t *testing.T) {
	t.Setenv("NEWTOP_STATE_DIR", t.TempDir())
	table := write(t, "prices.csv", numbered(200))
	out := succeed(t, "train", "--data", table, "--net", "4", "--epochs", "3", "--opt", "tr-gn")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	said, ok := strings.CutPrefix(lines[len(lines)-1], "test rows: ")
	if !ok {
		t.Fatal(out)
	}
	_, errs, code := newtop("predict", "last")
	again := strings.Split(strings.TrimSpace(errs), "\n")
	if code != 0 || len(again) != 2 || !strings.HasPrefix(again[0], "40 rows, RMSE ") || !strings.HasSuffix(said, again[1]) {
		t.Errorf("the run said %q, predict\n%s", said, errs)
	}
	var rmse, exact float64
	fmt.Sscanf(said, "RMSE %g", &rmse)
	fmt.Sscanf(again[0], "40 rows, RMSE %g", &exact)
	if math.Abs(exact/rmse-1) > 1e-3 || rmse < 10 {
		t.Errorf("the run said %q, predict %q", said, again[0])
	}
	if text := succeed(t, "runs", "show", "last"); !strings.Contains(text, "\nscores        validation rows: RMSE ") || !strings.Contains(text, "\n              test rows: "+said+"\n") {
		t.Errorf("runs show lacks %q:\n%s", said, text)
	}
	var shown struct{ Done event.DoneEvent }
	if err := json.Unmarshal([]byte(succeed(t, "runs", "show", "last", "--format", "json")), &shown); err != nil || len(shown.Done.Scores) != 2 ||
		math.Abs(float64(shown.Done.Scores[1].RMSE)/exact-1) > 1e-5 {
		t.Errorf("%+v, %v", shown.Done, err)
	}
	var x struct {
		Rows    int
		Measure string
		Value   float64
		Columns []struct {
			Name           string
			Importance, SD float64
		}
	}
	if err := json.Unmarshal([]byte(succeed(t, "explain", "last", "--format", "json")), &x); err != nil {
		t.Fatal(err)
	}
	if x.Rows != 40 || x.Measure != "RMSE" || math.Abs(x.Value/exact-1) > 1e-5 || len(x.Columns) != 3 {
		t.Fatalf("%+v", x)
	}
	if x.Columns[0].Name != "size" || x.Columns[1].Name != "place" || x.Columns[2].Name != "noise" || x.Columns[2].Importance > x.Columns[1].Importance/2 {
		t.Errorf("%+v", x.Columns)
	}
	for i, c := range x.Columns[1:] {
		if c.Importance > x.Columns[i].Importance || c.SD < 0 {
			t.Errorf("%+v", x.Columns)
		}
	}
}

func TestExplainATable(t *testing.T) {
	table := write(t, "flowers.csv", flowers(300))
	model, _ := trained(t, "onnx", "--data", table, "--net", "6", "--epochs", "40")
	text := succeed(t, "explain", model, table)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "300 rows, log loss ") || !strings.Contains(text, "mean ± standard deviation of 5") || !strings.Contains(text, "█") {
		t.Errorf("%s", text)
	}
	for _, name := range []string{"length", "place"} { // each with all its inputs
		if strings.Count(text, "\n"+name+" ") != 1 {
			t.Errorf("no %s in\n%s", name, text)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(succeed(t, "explain", model, table, "--format", "csv", "--repeats", "2", "--seed", "7"))).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[0], " ") != "column importance sd error_rise error_sd" {
		t.Fatalf("%v, %v", rows, err)
	}
	for _, row := range rows[1:] {
		if v, err := strconv.ParseFloat(row[1], 64); err != nil || !(v > 0) {
			t.Errorf("%v", row)
		}
	}
	again := succeed(t, "explain", model, table, "--format", "csv", "--repeats", "2", "--seed", "7")
	if other := succeed(t, "explain", model, table, "--format", "csv", "--repeats", "2", "--seed", "8"); other == again || !strings.HasPrefix(again, "column,") {
		t.Errorf("seeds 7 and 8:\n%s%s", again, other)
	}
}

func TestExplainRefuses(t *testing.T) {
	table := write(t, "flowers.csv", flowers(60))
	model, _ := trained(t, "onnx", "--data", table, "--net", "3", "--epochs", "1")
	bare := write(t, "bare.csv", "length,place\n1,wood\n")
	t.Setenv("NEWTOP_STATE_DIR", t.TempDir())
	succeed(t, "train", "--data", table, "--net", "3", "--epochs", "1")
	one := write(t, "one.csv", "length,place,kind\n1,wood,daisy\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"explain", model}, print.ExitUsage, "expected two arguments"},
		{[]string{"explain", model, table, "--repeats", "0"}, print.ExitUsage, `--repeats`},
		{[]string{"explain", model, table, "--format", "xml"}, print.ExitUsage, "--format xml: expected text, csv or json"},
		{[]string{"explain", model, bare}, 1, "bare.csv: found no column with the target"},
		{[]string{"explain", model, one}, 1, "found 1 row with a target, expected at least 2"},
		{[]string{"explain", "none.onnx", table}, 1, "none.onnx"},
		{[]string{"explain", "elsewhere"}, print.ExitUsage, `no file "elsewhere", and run elsewhere: expected the ID or name of a run`},
		{[]string{"predict", model, table, "--worst", "-1"}, print.ExitUsage, "--worst"},
		{[]string{"predict", model, bare, "--worst", "3"}, print.ExitUsage, "--worst 3: expected a column with the target"},
	} {
		refuses(t, c.code, c.want, c.args...)
	}
}

// The report on standard error has the confusions and the worst rows of the rows that are written.
func TestPredictReports(t *testing.T) {
	table := write(t, "flowers.csv", flowers(600))
	model, _ := trained(t, "safetensors", "--data", table, "--net", "8", "--epochs", "3")
	rows, message := predictions(t, "", model, table, "--worst", "3")
	counts := map[[2]string]int{}
	worst, at := 0.0, 0
	for i, row := range rows[1:] {
		counts[[2]string{row[1], row[2]}]++
		p, _ := strconv.ParseFloat(row[3], 64)
		if row[1] != "daisy" {
			p, _ = strconv.ParseFloat(row[4], 64)
		}
		if loss := -math.Log(p); loss > worst*(1+1e-4) {
			worst, at = loss, i+1
		}
	}
	for i, is := range []string{"daisy", "lily, white"} {
		want := fmt.Sprintf("%-11s  %5d  %11d\n", is, counts[[2]string{is, "daisy"}], counts[[2]string{is, "lily, white"}])
		if !strings.Contains(message, want) {
			t.Errorf("class %d: no %q in\n%s", i, want, message)
		}
	}
	_, list, _ := strings.Cut(message, "greatest loss\n")
	lines := strings.Split(strings.TrimSpace(list), "\n")
	if len(lines) != 4 {
		t.Fatalf("%s", message)
	}
	fields := strings.Fields(lines[1])
	loss, _ := strconv.ParseFloat(fields[len(fields)-1], 64)
	if fields[0] != strconv.Itoa(at) || fields[1] != strconv.Itoa(at+1) || math.Abs(loss/worst-1) > 1e-3 {
		t.Errorf("%s: expected row %d and a loss of %g", lines[1], at, worst)
	}
}

// The band of a committee of folds is CV+'s of Barber et al. 2021, of sorted sums, and nine targets of ten lie in it.
func TestPredictBands(t *testing.T) {
	table := write(t, "prices.csv", numbered(300))
	for _, kind := range []string{"safetensors", "onnx"} {
		file, _ := trained(t, kind, "--data", table, "--net", "3", "--epochs", "8", "--set", "folds=5", "--committee", "5")
		rows, message := predictions(t, "", file, table)
		m, err := modelfile.Read(file)
		if err != nil || len(m.Residuals) != 5 || strings.Join(rows[0], "|") != "row|target|prediction|sd|q05|q95" {
			t.Fatalf("%v: residuals of %d nets, %q", err, len(m.Residuals), rows[0])
		}
		inside := 0
		for _, row := range rows[1:] {
			var v [3]float64
			for k, at := range []int{1, 4, 5} {
				v[k], _ = strconv.ParseFloat(row[at], 64)
			}
			if v[1] <= v[0] && v[0] <= v[2] {
				inside++
			}
		}
		// A row at the very end of its band may be outside by how it is written.
		share, told := 100*float64(inside)/float64(len(rows)-1), 0.0
		if _, err := fmt.Sscanf(message[strings.LastIndex(message, ", ")+2:], "%f %% of the targets from q05 to q95", &told); err != nil ||
			math.Abs(told-share) > 0.5 || told < 80 || told > 99 {
			t.Errorf("%.1f %% are inside, %v:\n%s", share, err, message)
		}
	}
}

// By the nets of a committee one by one: their standard deviation and, of five, the quantiles between the outer two.
func TestPredictSpreads(t *testing.T) {
	table := write(t, "prices.csv", numbered(120))
	args := []string{"--data", table, "--net", "3", "--epochs", "2"}
	model, _ := trained(t, "safetensors", append(args, "--committee", "5")...)
	rows, _ := predictions(t, "", model, table)
	if got := strings.Join(rows[0], "|"); got != "row|target|prediction|sd|nets_q05|nets_q95" {
		t.Fatalf("%s", got)
	}
	var each [][][]string
	for seed := 1; seed <= 5; seed++ {
		one, _ := trained(t, "safetensors", append(args, "--seed", strconv.Itoa(seed))...)
		r, _ := predictions(t, "", one, table)
		each = append(each, r)
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i := 1; i < len(rows); i += 17 {
		var values []float64
		mean, low, high := 0.0, math.Inf(1), math.Inf(-1)
		for _, r := range each {
			v := number(r[i][2])
			values = append(values, v)
			mean += v / 5
			low, high = min(low, v), max(high, v)
		}
		second, fourth := math.Inf(1), math.Inf(-1)
		square := 0.0
		for _, v := range values {
			square += (v - mean) * (v - mean) / 4
			if v > low {
				second = min(second, v)
			}
			if v < high {
				fourth = max(fourth, v)
			}
		}
		for k, want := range []float64{mean, math.Sqrt(square), low + 0.2*(second-low), high - 0.2*(high-fourth)} {
			if got := number(rows[i][2+k]); math.Abs(got-want) > 2e-6*math.Abs(want) {
				t.Errorf("row %d, %s: %g, expected %g", i, rows[0][2+k], got, want)
			}
		}
	}
	out, _, _ := newtop("predict", model, table, "--format", "jsonl")
	var row struct {
		SD   float64
		Low  float64 `json:"nets_q05"`
		High float64 `json:"nets_q95"`
	}
	if err := json.Unmarshal([]byte(first(out)), &row); err != nil || row.SD <= 0 || !(row.Low < row.High) {
		t.Errorf("%s: %v", first(out), err)
	}
}

// What is new in the rows is said, as predict says it.
func TestExplainTells(t *testing.T) {
	t.Setenv("NEWTOP_STATE_DIR", t.TempDir())
	succeed(t, "train", "--data", write(t, "prices.csv", numbered(200)), "--net", "4", "--epochs", "1", "--opt", "tr-gn")
	other := write(t, "other.csv", strings.ReplaceAll(numbered(40), "wood", "lake"))
	const want = "place: 14 rows have words the model never saw: lake (read as none of the categories)\n"
	if _, errs, code := newtop("explain", "last", other); code != 0 || errs != want {
		t.Errorf("exit code %d, %q, expected %q", code, errs, want)
	}
}
