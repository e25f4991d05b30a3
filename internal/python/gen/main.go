// gen compresses newtop.py for the program.
package main

import (
	"log"
	"os"

	"newtop/internal/packed"
)

func main() {
	log.SetFlags(0)
	text, err := os.ReadFile("newtop.py")
	if err == nil {
		err = packed.Write("newtop.py.gz", string(text))
	}
	if err != nil {
		log.Fatal("python: ", err)
	}
}
