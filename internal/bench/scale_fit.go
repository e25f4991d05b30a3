package bench

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// observation is a time that was measured of something that can be done in several ways.
type observation struct {
	seconds float64
	fixed   cost     // what it takes in any case
	choices [][]cost // of each list the fastest is taken
}

// at returns what is taken at some prices.
func (o *observation) at(prices *cost) cost {
	c := o.fixed
	for _, list := range o.choices {
		c = c.plus(cheapest(prices, list...))
	}
	return c
}

// fitPrices returns the prices, none below 0, that minimize the misfit: by the method of Gauss and Newton from positive prices
// on, with the ways that are the fastest at the prices so far, each step halved until the misfit is less.
func fitPrices(list []observation, start cost) cost {
	const mostSteps, mostHalvings = 100, 40
	prices, least := start, misfit(list, &start)
	for range mostSteps {
		// log m(p′) ≈ log m(p) + row·(p′ − p)/m(p), and row·p = m(p).
		rows, wanted := make([]cost, len(list)), make([]float64, len(list))
		for i := range list {
			rows[i] = list[i].at(&prices)
			m := rows[i].seconds(&prices)
			wanted[i] = 1 + math.Log(list[i].seconds/m)
			for j := range rows[i] {
				rows[i][j] /= m
			}
		}
		to := solvePrices(rows, wanted)
		before, next := least, prices
		for halvings, step := 0, 1.0; halvings < mostHalvings; halvings, step = halvings+1, step/2 {
			for j := range next {
				next[j] = (1-step)*prices[j] + step*to[j]
			}
			if m := misfit(list, &next); m < least {
				prices, least = next, m
				break
			}
		}
		if before-least <= 1e-14*before {
			break
		}
	}
	return prices
}

// misfit is the sum of squares of log(model ÷ measured).
func misfit(list []observation, prices *cost) float64 {
	sum := 0.0
	for i := range list {
		r := math.Log(list[i].at(prices).seconds(prices) / list[i].seconds)
		sum += r * r
	}
	return sum
}

// solvePrices returns the prices, none below 0, with the least |rows·prices − wanted|². Of all sets of resources that could be free
// of charge it tries every one: there are few, and the best of those without a negative price is the constrained minimum.
func solvePrices(rows []cost, wanted []float64) (best cost) {
	least := math.Inf(1)
	for set := 1; set < 1<<resources; set++ {
		if prices, sum, ok := leastSquares(rows, wanted, set); ok && sum < least {
			best, least = prices, sum
		}
	}
	return best
}

// leastSquares solves rows·prices ≈ wanted for the prices of a set of resources, bit j for resource j; the others are 0. ok is
// false if that has no unique solution, or one with a price below 0.
func leastSquares(rows []cost, wanted []float64, set int) (prices cost, sum float64, ok bool) {
	var columns []int
	var scale []float64 // that make the columns of length 1
	for j := range resources {
		if set>>j&1 == 0 {
			continue
		}
		length := 0.0
		for i := range rows {
			length = math.Hypot(length, rows[i][j])
		}
		if length == 0 {
			return prices, 0, false
		}
		columns, scale = append(columns, j), append(scale, 1/length)
	}
	if len(columns) > len(rows) {
		return prices, 0, false
	}
	a := mat.NewDense(len(rows), len(columns), nil)
	for i := range rows {
		for j, from := range columns {
			a.Set(i, j, rows[i][from]*scale[j])
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(a, mat.NewVecDense(len(rows), wanted)); err != nil { // singular, or nearly
		return prices, 0, false
	}
	for j, to := range columns {
		prices[to] = x.AtVec(j) * scale[j]
		if !(prices[to] >= 0) {
			return prices, 0, false
		}
	}
	for i := range rows {
		r := rows[i].seconds(&prices) - wanted[i]
		sum += r * r
	}
	return prices, sum, true
}
