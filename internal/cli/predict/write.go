package predict

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"newtop/models/modelfile"
)

// predictionWriter writes predictions row by row. Probabilities have six digits, values all that they have.
type predictionWriter interface {
	// row writes a row by its number from 1: what is true of it, the class with the highest output, the outputs, and
	// how far the nets of a committee are apart for each, nil where they don't tell.
	row(number int, t truth, best int, values []float64, apart []spread) error
	flush() error
}

func newPredictionWriter(w io.Writer, format string, m *modelfile.Model, source rowSource) predictionWriter {
	if format == "jsonl" {
		return &jsonPredictions{w: bufio.NewWriter(w), model: m, unused: distinct(source.unused(), nil)}
	}
	p := &csvPredictions{w: csv.NewWriter(w), model: m, truthful: source.truthful()}
	names := p.header()
	names = slices.Insert(names, 1, distinct(source.unused(), names)...)
	p.w.Write(names) // flush returns the error
	return p
}

// distinct returns names with a number behind those that are taken or came before.
func distinct(names, taken []string) []string {
	taken = slices.Clone(taken)
	list := slices.Clone(names)
	for i, name := range names {
		for n := 2; slices.Contains(taken, list[i]); n++ {
			list[i] = fmt.Sprintf("%s.%d", name, n)
		}
		taken = append(taken, list[i])
	}
	return list
}

// csvPredictions writes a table with a header.
type csvPredictions struct {
	w        *csv.Writer
	model    *modelfile.Model
	truthful bool     // whether there are columns for what is true
	record   []string // room for a row
}

func (p *csvPredictions) row(number int, t truth, best int, values []float64, apart []spread) error {
	p.record = append(p.record[:0], strconv.Itoa(number))
	p.record = append(p.record, t.unused...)
	if p.model.Classes != nil {
		if p.truthful {
			p.record = append(p.record, t.text)
		}
		p.record = append(p.record, p.model.Classes[best])
		for _, v := range values {
			p.record = append(p.record, strconv.FormatFloat(v, 'g', 6, 64))
		}
		return p.w.Write(p.record)
	}
	if p.truthful {
		for j := range values {
			text := ""
			if t.known {
				text = strconv.FormatFloat(t.values[j], 'g', -1, 64)
			}
			p.record = append(p.record, text)
		}
	}
	for _, v := range values {
		p.record = append(p.record, strconv.FormatFloat(v, 'g', -1, 64))
	}
	for i := range spreadNames(p.model) {
		for j := range apart {
			p.record = append(p.record, strconv.FormatFloat(apart[j].of(i), 'g', 6, 64))
		}
	}
	return p.w.Write(p.record)
}

func (p *csvPredictions) header() []string {
	names := []string{"row"}
	if m := p.model; m.Classes != nil {
		if p.truthful {
			names = append(names, "target")
		}
		names = append(names, "prediction")
		for _, class := range m.Classes {
			names = append(names, "p:"+class)
		}
		return names
	}
	if p.truthful {
		names = append(names, p.outputs("target")...)
	}
	names = append(names, p.outputs("prediction")...)
	if spreads(p.model) {
		for _, name := range spreadNames(p.model) {
			names = append(names, p.outputs(name)...)
		}
	}
	return names
}

// outputs names the columns of a regression.
func (p *csvPredictions) outputs(what string) (names []string) {
	if len(p.model.Outputs) == 1 {
		return []string{what}
	}
	for _, c := range p.model.Outputs {
		names = append(names, what+":"+c.Name)
	}
	return names
}

func (p *csvPredictions) flush() error {
	p.w.Flush()
	return p.w.Error()
}

// jsonPredictions writes one object a row.
type jsonPredictions struct {
	w      *bufio.Writer
	model  *modelfile.Model
	unused []string // names
}

// prediction is a row in JSON.
type prediction struct {
	Row        int                    `json:"row"`
	Unused     map[string]string      `json:"unused,omitempty"` // columns that pass through
	Target     any                    `json:"target,omitempty"`
	Prediction any                    `json:"prediction"`
	P          map[string]json.Number `json:"p,omitempty"`
	SD         any                    `json:"sd,omitempty"`  // of a committee's nets
	Low        any                    `json:"q05,omitempty"` // the band
	High       any                    `json:"q95,omitempty"`
	NetsLow    any                    `json:"nets_q05,omitempty"`
	NetsHigh   any                    `json:"nets_q95,omitempty"`
}

func (p *jsonPredictions) row(number int, t truth, best int, values []float64, apart []spread) error {
	out := prediction{Row: number, Unused: make(map[string]string, len(t.unused))}
	for i, field := range t.unused {
		out.Unused[p.unused[i]] = field
	}
	if m := p.model; m.Classes != nil {
		if t.known {
			out.Target = t.text
		}
		out.Prediction, out.P = m.Classes[best], make(map[string]json.Number, len(values))
		for j, v := range values {
			out.P[m.Classes[j]] = json.Number(strconv.FormatFloat(v, 'g', 6, 64))
		}
	} else {
		if t.known {
			out.Target = p.named(t.values)
		}
		out.Prediction = p.named(values)
		if apart != nil {
			of := func(i int) any {
				list := make([]float64, len(apart))
				for j := range apart {
					list[j] = apart[j].of(i)
				}
				return p.named(list)
			}
			if out.SD, out.NetsLow, out.NetsHigh = of(0), of(1), of(2); m.Residuals != nil {
				out.Low, out.High, out.NetsLow, out.NetsHigh = out.NetsLow, out.NetsHigh, nil, nil
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	_, err = p.w.Write(append(text, '\n'))
	return err
}

// named returns the values of a regression by their names, or the value alone.
func (p *jsonPredictions) named(values []float64) any {
	if len(values) == 1 {
		return values[0]
	}
	out := make(map[string]float64, len(values))
	for j, v := range values {
		out[p.model.Outputs[j].Name] = v
	}
	return out
}

func (p *jsonPredictions) flush() error { return p.w.Flush() }
