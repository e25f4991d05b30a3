//go:build !amd64

package peak

import "newtop/internal/kernel"

func multiplyAdds(_ kernel.Kernel, rounds int) int { return multiplyAddsGeneric(rounds) }
