//go:build !unix

package launch

// stopBetweenTransactions does nothing where no process can be stopped from a terminal.
func stopBetweenTransactions() {}
