package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"newtop/internal/cli/print"
	"newtop/trainer/event"
)

// flowers is a table with a number, a category and a class that follows from them.
func flowers(rows int) string {
	var b strings.Builder
	b.WriteString("length,place,kind\n")
	for i := range rows {
		place, kind := "field", "daisy"
		if i%3 == 0 {
			place = "wood"
		}
		if i%10 > 4 && i%3 == 0 {
			kind = "lily, white"
		}
		fmt.Fprintf(&b, "%g,%s,\"%s\"\n", 1+float64(i%10)/4, place, kind)
	}
	return b.String()
}

// trained trains on a table and returns the saved model and the run's last event.
func trained(t *testing.T, format string, args ...string) (model string, done event.DoneEvent) {
	t.Helper()
	model = filepath.Join(t.TempDir(), "model."+format)
	all := append([]string{"train", "--record", "off", "--format", "jsonl", "--opt", "adam", "--set", "rate=0.02", "--save", model}, args...)
	lines := strings.Split(strings.TrimSpace(succeed(t, all...)), "\n")
	e, err := event.DecodeEvent([]byte(lines[len(lines)-1]))
	if err != nil {
		t.Fatal(err)
	}
	return model, e.(event.DoneEvent)
}

// first returns the first line of a text with its end.
func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line + "\n"
}

// predictions runs newtop predict with an input and returns its table.
func predictions(t *testing.T, in string, args ...string) (rows [][]string, message string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Main(append([]string{"predict"}, args...), strings.NewReader(in), &out, &errs); code != 0 {
		t.Fatalf("newtop predict %s: exit %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows, errs.String()
}

func TestPredictATable(t *testing.T) {
	table := write(t, "flowers.csv", flowers(600))
	for _, format := range []string{"safetensors", "onnx"} {
		model, _ := trained(t, format, "--data", table, "--net", "8", "--epochs", "40")
		rows, message := predictions(t, "", model, table)
		if len(rows) != 601 || strings.Join(rows[0], "|") != "row|target|prediction|p:daisy|p:lily, white" {
			t.Fatalf("%d rows below %q", len(rows), rows[0])
		}
		wrong := 0
		for i, row := range rows[1:] {
			p, _ := strconv.ParseFloat(row[3], 64)
			q, _ := strconv.ParseFloat(row[4], 64)
			if row[0] != fmt.Sprint(i+1) || math.Abs(p+q-1) > 1e-5 || (row[2] == "daisy") != (p >= q) {
				t.Fatalf("row %q", row)
			}
			if row[1] != row[2] {
				wrong++
			}
		}
		if want := fmt.Sprintf("600 rows, %.2f %% wrong\n", 100*(float64(wrong)/600)); first(message) != want || wrong > 30 {
			t.Errorf("said %q, expected %q", message, want)
		}
		// New rows: from a pipe, in another order, without a target.
		rows, message = predictions(t, "place;length\nwood;3\nfield;3\n", model, "-")
		if len(rows) != 3 || rows[0][1] != "prediction" || rows[1][1] != "lily, white" || rows[2][1] != "daisy" || message != "2 rows\n" {
			t.Errorf("%q, %q", rows, message)
		}
		if rows, message = predictions(t, "length,place\n", model, "-"); len(rows) != 1 || len(rows[0]) != 4 || message != "0 rows\n" {
			t.Errorf("without rows: %q, %q", rows, message)
		}
	}
}

// TestPredictReadsItsTarget predicts the table that a model was trained on, whose target isn't plain numbers.
func TestPredictReadsItsTarget(t *testing.T) {
	for _, c := range []struct {
		name   string
		target func(i int) string
		option string
		known  int // rows with a target
	}{
		{"money.csv", func(i int) string { return fmt.Sprintf("$%d", 10+10*(i%2)) }, "header=yes", 100},
		{"odd.csv", func(i int) string {
			if i%10 == 0 {
				return []string{"soon", "late", "never", "x9"}[i/10%4]
			}
			return fmt.Sprint(3 * i)
		}, "number=y", 90},
	} {
		var text strings.Builder
		text.WriteString("a,b,y\n")
		for i := range 100 {
			fmt.Fprintf(&text, "%d,%d,%s\n", i, i*i%7, c.target(i))
		}
		table := write(t, c.name, text.String())
		model, _ := trained(t, "safetensors", "--data", table, "--net", "none", "--epochs", "5", "--table", c.option)
		rows, _ := predictions(t, "", model, table)
		known := 0
		for _, row := range rows[1:] {
			if row[1] != "" {
				known++
			}
		}
		if known != c.known {
			t.Errorf("%s: %d rows with a target", c.name, known)
		}
	}
}

func TestPredictValues(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 200 {
		a, b := float64(i%20)/10, float64(i%7)
		fmt.Fprintf(&text, "%g,%g,%g\n", a, b, 5000+300*a-20*b)
	}
	table := write(t, "plane.csv", text.String())
	model, _ := trained(t, "onnx", "--data", table, "--net", "none", "--epochs", "300")
	rows, message := predictions(t, "", model, table)
	if strings.Join(rows[0], "|") != "row|target|prediction" {
		t.Errorf("%q", rows[0])
	}
	sum := 0.0
	for _, row := range rows[1:] {
		y, _ := strconv.ParseFloat(row[1], 64)
		u, _ := strconv.ParseFloat(row[2], 64)
		sum += (y - u) * (y - u)
	}
	var count int
	var rmse float64
	if _, err := fmt.Sscanf(message, "%d rows, RMSE %g", &count, &rmse); err != nil || count != 200 ||
		math.Abs(rmse/math.Sqrt(sum/200)-1) > 1e-5 || rmse > 1 {
		t.Errorf("said %q; by the rows %g", message, math.Sqrt(sum/200))
	}
	out, _, _ := newtop("predict", model, table, "--format", "jsonl")
	var row struct {
		Row                int
		Target, Prediction float64
	}
	if err := json.Unmarshal([]byte(first(out)), &row); err != nil || row.Row != 1 || row.Target != 5000 || math.Abs(row.Prediction-5000) > 1 {
		t.Errorf("%s: %v", first(out), err)
	}
}

// households is a table with missing values, dates, booleans, many words and rare ones, decimal commas and identifiers.
func households(rows, first int) string {
	var b strings.Builder
	b.WriteString("Id;Einkommen;Ort;Haus;Seit;Garten;Klasse\n")
	for i := first; i < first+rows; i++ {
		k := i * 7919 % 1009
		income := fmt.Sprintf("%d.%03d,%d", 1+k%9, k%1000, k%10)
		if k%11 == 0 {
			income = "?"
		}
		house := []string{"", "Miete", "Eigentum", "Miete", "Genossenschaft " + fmt.Sprint(k%40)}[k%5*k%5]
		class := "b"
		if (k%9+k%61)%8 > 3 {
			class = "a"
		}
		fmt.Fprintf(&b, "%d;%s;Ort %d;%s;%d.%d.%d;%s;%s\n", i+1, income, k%61, house, 1+k%28, 1+k%12, 1990+k%30, []string{"ja", "nein"}[k%2], class)
	}
	return b.String()
}

// The rows of a file for testing have the error in the run and as predictions, to the digit.
func TestPredictAFileForTesting(t *testing.T) {
	train, test := write(t, "train.csv", households(900, 0)), write(t, "test.csv", households(300, 900))
	for _, missing := range []string{"indicator", "mean", "median", "drop"} {
		for _, format := range []string{"safetensors", "onnx"} {
			model, done := trained(t, format, "--data", train, "--test", test, "--table", "decimal=,", "--table", "thousands=.", "--table", "missing="+missing, "--net", "6", "--epochs", "3")
			_, message := predictions(t, "", model, test)
			if want := fmt.Sprintf(" %.2f %% wrong", 100*float64(done.TestError)); !strings.Contains(message, want) {
				t.Errorf("%s, %s: said %q, the run%s", missing, format, message, want)
			}
		}
	}
}

// The test rows of a set have the error that the run reported.
func TestPredictASet(t *testing.T) {
	for _, args := range [][]string{
		{"--data", "spirals", "--net", "9", "--epochs", "5"},
		{"--data", "spirals", "--net", "9", "--epochs", "5", "--test", "77", "--set", "out=tanh", "--committee", "2"},
		{"--data", "spirals", "--epochs", "3", "--set", "experts=2x5", "--set", "gate=1"},
	} {
		model, done := trained(t, "safetensors", args...)
		rows, message := predictions(t, "", model, "spirals")
		if want := fmt.Sprintf("%d rows, %.2f %% wrong\n", len(rows)-1, 100*float64(done.TestError)); first(message) != want {
			t.Errorf("%v: said %q, expected %q", args, message, want)
		}
	}
	// Several outputs, and gates that look at a feature of the set.
	model, _ := trained(t, "onnx", "--data", "recipes", "--set", "experts=2x4", "--set", "gate=hue", "--epochs", "2")
	rows, _ := predictions(t, "", model, "recipes", "--rows", "all")
	if len(rows) != 1303 || rows[0][1] != "target:white" || rows[0][11] != "prediction:white" || len(rows[0]) != 21 {
		t.Errorf("%d rows below %q", len(rows), rows[0])
	}
	out, _, _ := newtop("predict", model, "recipes", "--format", "jsonl")
	if !strings.Contains(out, `"prediction":{"black":`) {
		t.Errorf("%.300s", out)
	}
}

// Words that were not trained on and numbers far outside are told, a line a column.
func TestPredictTells(t *testing.T) {
	for _, format := range []string{"safetensors", "onnx"} {
		model, _ := trained(t, format, "--data", write(t, "flowers.csv", flowers(60)), "--net", "3", "--epochs", "1")
		_, message := predictions(t, "", model, write(t, "green.csv", "length,place\n1,wood\n9,moor\n"))
		want := "length: 1 row has numbers far outside those trained on, 1 to 3.25: 9\n" +
			"place: 1 row has words the model never saw: moor (read as none of the categories)\n2 rows\n"
		if message != want {
			t.Errorf("%s: said %q, expected %q", format, message, want)
		}
	}
}

// Rows of production: other columns, orders and cases are right or one clear line, and keys pass through.
func TestPredictInProduction(t *testing.T) {
	model, _ := trained(t, "onnx", "--data", write(t, "flowers.csv", flowers(60)), "--net", "3", "--epochs", "1")
	for _, c := range []struct{ in, header, key, message string }{
		{"length,place\n2,wood\n", "row,prediction,p:daisy,p:lily, white", "", "1 row\n"},
		{"id,place,x,length\nK7,wood,,2\n", "row,id,x,prediction,p:daisy,p:lily, white", "K7",
			"2 columns were unknown to the model, and not used: id, x\n1 row\n"},
		{"prediction,LENGTH,Place\n a ,2,wood\n", "row,prediction.2,prediction,p:daisy,p:lily, white", "a",
			"2 columns were found by a name that differs in case: LENGTH for length, Place for place\n" +
				"1 column was unknown to the model, and not used: prediction\n1 row\n"},
	} {
		rows, message := predictions(t, c.in, model, "-")
		if len(rows) != 2 || strings.Join(rows[0], ",") != c.header || c.key != "" && rows[1][1] != c.key || message != c.message {
			t.Errorf("%q: %q, %q", c.in, rows, message)
		}
	}
	refuses(t, 1, `new.csv:1: found no column "place" among length, site, expected all that the model takes`, "predict", model,
		write(t, "new.csv", "length,site\n2,wood\n"))
	refuses(t, 1, "new.csv:1: found none of the model's columns among size, site, expected length, place, or rows without names",
		"predict", model, write(t, "new.csv", "size,site\n2,wood\n"))
	out, _, _ := newtop("predict", model, write(t, "keys.csv", "id,place,id,length\nK7,wood,8,2\n"), "--format", "jsonl")
	if !strings.HasPrefix(out, `{"row":1,"unused":{"id":"K7","id.1":"8"},"prediction":`) {
		t.Errorf("%s", out)
	}
}

func TestPredictRefuses(t *testing.T) {
	table := write(t, "flowers.csv", flowers(60))
	model, _ := trained(t, "onnx", "--data", table, "--net", "3", "--epochs", "1")
	spiral, _ := trained(t, "onnx", "--data", "spirals", "--net", "3", "--epochs", "1")
	rose := write(t, "rose.csv", "length,place,kind\n1,wood,rose\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"predict", model}, print.ExitUsage, "expected two arguments"},
		{[]string{"predict", table, table}, 1, "flowers.csv: offset 0: found no protobuf field, expected a safetensors or ONNX file"},
		{[]string{"predict", "none.onnx", table}, 1, "none.onnx"},
		{[]string{"predict", model, "none.csv"}, 1, `no file "none.csv"`},
		{[]string{"predict", model, "lettres"}, print.ExitUsage, "did you mean letters"},
		{[]string{"predict", model, "spirals"}, 1, "spirals has the inputs x y: expected those of the model, length place=field place=wood"},
		{[]string{"predict", model, "spirals", "--target", "1"}, print.ExitUsage, "--target 1: expected no target with a data set"},
		{[]string{"predict", spiral, "spirals", "--rows", "validation"}, print.ExitUsage, "--rows validation: spirals has none"},
		{[]string{"predict", model, "spirals", "--rows", "some"}, print.ExitUsage, "--rows some: expected test, validation, train or all"},
		{[]string{"predict", model, table, "--rows", "all"}, print.ExitUsage, "--rows all: expected it with a data set"},
		{[]string{"predict", model, table, "--format", "xml"}, print.ExitUsage, "--format xml: expected csv or jsonl"},
		{[]string{"predict", model, table, "--target", "colour"}, print.ExitUsage, `target "colour": expected one of the columns length, place, kind`},
		{[]string{"predict", model, table, "--out", table}, print.ExitUsage, "expected another file than " + table},
		{[]string{"predict", model, table, "--out", model}, print.ExitUsage, "expected another file than " + model},
		{[]string{"predict", model, rose}, 1, `rose.csv:2: column "kind": found "rose", expected one of the classes daisy lily, white`},
		{[]string{"predict", model, "-"}, 1, "standard input:1: found an empty file"},
	} {
		refuses(t, c.code, c.want, c.args...)
	}
	if text, err := os.ReadFile(table); err != nil || string(text) != flowers(60) {
		t.Errorf("what is read was written: %v", err)
	}
}

// Outputs that are no numbers are not taken for predictions.
func TestPredictRefusesWhatOverflows(t *testing.T) {
	var table strings.Builder
	table.WriteString("a,b,y\n")
	for i := range 40 {
		fmt.Fprintf(&table, "%de-14,%de-14,%d.5\n", i, i*i%7, i)
	}
	model, _ := trained(t, "safetensors", "--data", write(t, "tiny.csv", table.String()), "--act", "relu", "--epochs", "1")
	for _, format := range []string{"csv", "jsonl"} {
		out, errs, code := newtop("predict", model, write(t, "rows.csv", "a,b\n1e-14,0\n1e299,-1e299\n"), "--format", format)
		if code != 1 || !strings.Contains(errs, "row 2: found inputs so large") || strings.Count(errs, "\n") != 1 || strings.Contains(out, "NaN") || !strings.Contains(out, "1,") {
			t.Errorf("%s: exit %d\n%s%s", format, code, out, errs)
		}
	}
}

// Rows that come slowly are predicted as they come.
func TestPredictFollowsAPipe(t *testing.T) {
	table := write(t, "flowers.csv", flowers(60))
	model, _ := trained(t, "safetensors", "--data", table, "--net", "3", "--epochs", "1")
	in, toNewtop, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	fromNewtop, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer fromNewtop.Close()
	done := make(chan int, 1)
	go func() {
		code := Main([]string{"predict", model, "-"}, in, out, new(bytes.Buffer))
		out.Close()
		done <- code
	}()
	fmt.Fprintln(toNewtop, "length,place")
	answer := make([]byte, 1000)
	for i := range 3 {
		fmt.Fprintln(toNewtop, "2,wood")
		n, err := fromNewtop.Read(answer)
		if err != nil || !bytes.Contains(answer[:n], []byte(fmt.Sprintf("\n%d,", i+1))) && !bytes.HasPrefix(answer[:n], []byte(fmt.Sprintf("%d,", i+1))) {
			t.Fatalf("row %d: %q, %v", i+1, answer[:n], err)
		}
	}
	toNewtop.Close()
	if code := <-done; code != 0 {
		t.Errorf("exit %d", code)
	}
}

func TestPredictRealLetters(t *testing.T) {
	dir := filepath.Dir(shared(t, "letter-recognition.data"))
	if testing.Short() {
		t.Skip("takes seconds with the race detector")
	}
	model, done := trained(t, "onnx", "--data", "letter", "--data-dir", dir, "--net", "9", "--batch", "64", "--epochs", "1")
	_, message := predictions(t, "", model, "letter", "--data-dir", dir)
	if want := fmt.Sprintf("4000 rows, %.2f %% wrong\n", 100*float64(done.TestError)); first(message) != want {
		t.Errorf("said %q, expected %q", message, want)
	}
	_, message = predictions(t, "", model, filepath.Join(dir, "letter-recognition.data"), "--target", "1")
	if !strings.HasPrefix(message, "20000 rows, ") {
		t.Errorf("said %q", message)
	}
}
