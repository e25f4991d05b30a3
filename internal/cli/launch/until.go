package launch

import (
	"context"

	"newtop/internal/routine"
)

// Until does what can't be interrupted, as waiting for a pipe or reading a long file. When the context ends first it is
// left behind, and the context's error returned.
func Until[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	routine.Go(func() {
		v, err := do()
		done <- outcome{v, err}
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
