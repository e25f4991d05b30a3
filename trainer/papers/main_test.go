package papers

import (
	"newtop/models/blas"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	blas.Use() // as the program does
	goleak.VerifyTestMain(m)
}
