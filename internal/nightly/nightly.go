// Package nightly parts the tests of every day from those that take long and guard against rare faults. .ci/nightly
// runs them all.
package nightly

import (
	"os"
	"testing"
)

// On says whether the environment asks for everything: NEWTOP_NIGHTLY=1.
func On() bool { return os.Getenv("NEWTOP_NIGHTLY") == "1" }

// Only skips a test by day. Why says what the test does and how long it takes. A quicker test has to notice plain
// breakage by day.
func Only(tb testing.TB, why string) {
	tb.Helper()
	if !On() {
		tb.Skip("only with NEWTOP_NIGHTLY=1: " + why)
	}
}

// Of returns how often, or how much, something is tried: that many by night, that many by day.
func Of(night, day int) int {
	if On() {
		return night
	}
	return day
}
