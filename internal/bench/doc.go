// Package bench measures newtop: its core against the machine it runs on, and its core and optimizers against
// peers that run beside it. It returns figures; printing them is the command line's.
//
// Machines are shared and noisy. So every measurement is repeated until its share of a time budget is spent, and
// has a median and a best; what is compared is measured in turn, again and again, and its ratio is the median of
// the ratios of each turn.
package bench
