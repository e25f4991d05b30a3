package trainer

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/workplace"
)

// prices writes a table whose target is far from a standard deviation of 1.
func prices(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("size,age,price\n")
	for i := range 150 {
		size, age := float64(40+i*37%110), float64(i*i%60)
		fmt.Fprintf(&text, "%g,%g,%g\n", size, age, 20000+1500*size-300*age+9000*math.Sin(float64(i)))
	}
	path := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// errorsOf returns the root of the mean square and the mean absolute error of predictions in the units of the data.
func errorsOf(d *datasets.Dataset, s *datasets.Split, predictTo func(dst, raw *mat.Dense)) (rmse, mae float64) {
	rows := s.Rows()
	raw, u := mat.NewDense(rows, d.Inputs(), nil), mat.NewDense(rows, 1, nil)
	for i := range rows {
		d.InputScaling.RawTo(raw.RawRowView(i), s.Inputs.RawRowView(i))
	}
	predictTo(u, raw)
	target := make([]float64, 1)
	for i := range rows {
		d.TargetScaling.RawTo(target, s.Targets.RawRowView(i))
		rmse += (u.At(i, 0) - target[0]) * (u.At(i, 0) - target[0])
		mae += math.Abs(u.At(i, 0) - target[0])
	}
	return math.Sqrt(rmse / float64(rows)), mae / float64(rows)
}

// Every RMSE that a run tells is what its saved model has on the rows of the table.
func TestRMSEIsInTheUnitsOfTheData(t *testing.T) {
	table := prices(t)
	for name, c := range map[string]config.Config{
		"one net":          {Optimizer: "adam"},
		"single precision": {Optimizer: "adam", Precision: "float32"},
		"committee":        {Optimizer: "tr-gn", Committee: 3},
		"two processes":    {Optimizer: "tr-gn"},
		"validation":       {Optimizer: "tr-gn", Validation: "0.15", Weights: "last"},
	} {
		t.Run(name, func(t *testing.T) {
			c.Data, c.Validation, c.Hidden, c.Epochs = table, cmp.Or(c.Validation, "0"), []int{4}, 3
			c.Save = filepath.Join(t.TempDir(), "m.safetensors")
			m := &memory{}
			s := mustNew(t, c, m)
			if name == "two processes" {
				s.JoinTeam(newCrew(t, 2))
			}
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			model := readModel(t, c.Save)
			data, err := workplace.LoadResolved(&c)
			if err != nil {
				t.Fatal(err)
			}
			tolerance := 1e-9
			if c.Precision != "" {
				tolerance = 1e-4
			}
			check := func(what string, got event.Float, want float64) {
				t.Helper()
				if math.Abs(float64(got)/want-1) > tolerance || want < 100 {
					t.Errorf("%s is %v, expected %v", what, got, want)
				}
			}
			test, mae := errorsOf(data, &data.Test, model.PredictTo)
			training, _ := errorsOf(data, &data.Train, model.PredictTo)
			epochs, done := of[event.EpochEvent](m), of[event.DoneEvent](m)[0]
			last := epochs[len(epochs)-1]
			check("the RMSE", last.RMSE, training)
			check("the test RMSE", last.TestRMSE, test)
			check("the test RMSE at the end", done.TestRMSE, test)
			scores := done.Scores
			if c.Validation != "0" {
				want, mae := errorsOf(data, &data.Validation, model.PredictTo)
				check("the validation RMSE", done.ValidationRMSE, want)
				check("its scored RMSE", scores[0].RMSE, want)
				check("its scored MAE", scores[0].MAE, mae)
				scores = scores[1:]
			}
			if len(scores) != 1 || scores[0].Split != "test" || scores[0].Rows != data.Test.Rows() {
				t.Fatalf("scores %+v", done.Scores)
			}
			check("the scored RMSE", scores[0].RMSE, test)
			check("the scored MAE", scores[0].MAE, mae)
			for k, f := range last.Members {
				one := *model
				one.Weights = model.Weights[k : k+1]
				rmse, _ := errorsOf(data, &data.Test, one.PredictTo)
				check(fmt.Sprint("member ", k), f.TestRMSE, rmse)
			}
			if len(last.Members) != c.Committee {
				t.Errorf("%d members", len(last.Members))
			}
		})
	}
}

// The target of TargetError is in the units of the data, too.
func TestTargetErrorIsInTheUnitsOfTheData(t *testing.T) {
	c := config.Config{Data: prices(t), Validation: "0", Hidden: []int{4}, Optimizer: "tr-gn", Epochs: 60}
	epochs := of[event.EpochEvent](train(t, c))
	c.TargetError = float64(epochs[2].TestRMSE)
	m := train(t, c)
	if done := of[event.DoneEvent](m)[0]; done.Reason != event.ReasonTarget || done.Epochs > 2 || !(done.TestRMSE <= epochs[2].TestRMSE) {
		t.Errorf("%+v for a target of %v", done, c.TargetError)
	}
}

// A checkpoint of before has RMSEs in standard deviations, and goes on in the units of the data.
func TestResumeFromStandardDeviations(t *testing.T) {
	c := config.Config{Data: prices(t), Validation: "0", Hidden: []int{4}, Optimizer: "tr-gn", Epochs: 6}
	whole := keepAll(t, c)
	from := whole.kept[3]
	before := from.checkpoint(t)
	unit := before.Numbers[unitKey]
	if unit < 1000 {
		t.Fatalf("the unit is %v", unit)
	}
	delete(before.Numbers, unitKey)
	for _, part := range []string{"first.", "last.", "best.", "net 0.figures."} {
		for _, key := range []string{"rmse", "test rmse"} {
			if _, ok := before.Numbers[part+key]; !ok {
				t.Fatalf("no %s%s", part, key)
			}
			before.Numbers[part+key] /= unit
		}
	}
	a := &archive{}
	toTheEnd(t, mustResume(t, c, before, whole.events[:from.events], a))
	want, got := whole.events[len(whole.events)-1].(event.DoneEvent), a.events[len(a.events)-1].(event.DoneEvent)
	if math.Abs(float64(got.BestTestRMSE/want.BestTestRMSE)-1) > 1e-12 || got.BestEpoch != want.BestEpoch || got.TestRMSE != want.TestRMSE {
		t.Errorf("ends with %+v, expected %+v", got, want)
	}
	kept, goes := whole.last(t), a.last(t)
	for _, part := range []string{"first.", "best."} {
		if x, y := kept.Numbers[part+"rmse"], goes.Numbers[part+"rmse"]; math.Abs(x/y-1) > 1e-12 {
			t.Errorf("%srmse is %v, expected %v", part, y, x)
		}
	}
}

// The scores of classes have the errors and the losses that the run tells, of the validation and the test rows.
func TestScoresAtTheEnd(t *testing.T) {
	m := train(t, config.Config{Data: "spirals", Hidden: []int{6}, Optimizer: "tr-gn", Epochs: 3, Validation: "120", Weights: "last"})
	epochs, scores := of[event.EpochEvent](m), of[event.DoneEvent](m)[0].Scores
	last := epochs[len(epochs)-1]
	if len(scores) != 2 || scores[0].Split != "validation" || scores[0].Rows != 120 || scores[1].Split != "test" || scores[1].Rows != 400 {
		t.Fatalf("%+v", scores)
	}
	for i, want := range [][2]event.Float{{last.ValidationError, last.ValidationLoss}, {last.TestError, last.TestLoss}} {
		if s := scores[i]; s.Error != want[0] || math.Abs(float64(s.Log-want[1])) > 1e-12 || !s.AUC.Finite() || s.Positive == "" {
			t.Errorf("%+v, expected error and loss %v", s, want)
		}
	}
}
