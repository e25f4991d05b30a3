package sqlfile

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// machine returns what tells this kernel since its start, and the process numbers seen here, from others.
var machine = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
})

// identity returns the machine with the time at which the process began, or "" for one that is not running.
func identity(process int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(process) + "/stat")
	if err != nil || machine() == "" {
		return ""
	}
	// The name in parentheses may hold anything; the state is the third field and the start the 22nd.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return ""
	}
	return machine() + " " + string(fields[19])
}

// SameMachine reports whether the identity is of a process whose number can be looked up here.
func SameMachine(identity string) bool {
	return machine() != "" && strings.HasPrefix(identity, machine()+" ")
}
