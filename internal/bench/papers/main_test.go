package papers

import (
	"testing"

	"go.uber.org/goleak"

	"newtop/models/blas"
)

func TestMain(m *testing.M) {
	blas.Use() // as the program does
	goleak.VerifyTestMain(m)
}
