package machine

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeSMI writes a program that tells two GPUs and one process as nvidia-smi does, again and again.
func fakeSMI(t *testing.T, more string) (program, log string) {
	t.Helper()
	onLinux(t)
	dir := t.TempDir()
	log = filepath.Join(dir, "pids")
	program = filepath.Join(dir, "nvidia-smi")
	script := "#!/bin/sh\necho $$ \"$@\" >> " + log + `
case "$1" in
--query-gpu=index,name,*) while :; do
	echo "0, NVIDIA A100-SXM4-80GB, 97, 31744, 81920, 71, 300.50, 400.00, 1410, GPU-a"
	echo "1, NVIDIA GRID, [N/A], [Not Supported], 4096, 40, [N/A], [N/A], [N/A], GPU-b"
	` + more + `
	sleep 0.02
done ;;
--query-compute-apps=*) while :; do echo "GPU-a, 100, 30000"; echo "GPU-b, 100, 10"; echo "GPU-a, 200, [N/A]"; sleep 0.02; done ;;
esac
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, log
}

func TestNvidia(t *testing.T) {
	program, log := fakeSMI(t, "")
	n := openNvidia(&Options{NvidiaSMI: program, Interval: 20 * time.Millisecond})
	n.followProcesses()
	n.followProcesses()
	var gpus []GPU
	for deadline := time.Now().Add(time.Minute); len(gpus) < 2 || len(n.memory(time.Now())) < 3; time.Sleep(5 * time.Millisecond) {
		if gpus = n.read(time.Now()); time.Now().After(deadline) {
			t.Fatalf("nothing was told: %+v", gpus)
		}
	}
	if gpus[0] != (GPU{0, "NVIDIA A100-SXM4-80GB", 0.97, 31 << 30, 80 << 30, 71, 300.5, 400, 1410e6, "GPU-a"}) {
		t.Errorf("%+v", gpus[0])
	}
	if g := gpus[1]; g.Busy == g.Busy || g.MemoryUsed == g.MemoryUsed || g.MemoryTotal != 4<<30 || g.Power == g.Power || g.Temperature != 40 {
		t.Errorf("%+v", g)
	}
	if m := n.memory(time.Now()); len(m) != 3 || m[use{"GPU-a", 100}] != 30000<<20 || m[use{"GPU-b", 100}] != 10<<20 || m[use{"GPU-a", 200}] != 0 {
		t.Errorf("processes use %v", m)
	}
	if old := time.Now().Add(time.Minute); len(n.read(old)) != 0 || len(n.memory(old)) != 0 {
		t.Error("what was told long ago is told still")
	}
	n.close()
	text, _ := os.ReadFile(log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "-lms 20") {
		t.Errorf("ran\n%s", text)
	}
	for _, line := range lines {
		pid := int(number(strings.Fields(line)[0], 1))
		if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
			t.Errorf("process %d goes on", pid)
		}
	}
}

// TestNvidiaEnds has nvidia-smi end by itself, with an error, and not be there.
func TestNvidiaEnds(t *testing.T) {
	program, _ := fakeSMI(t, "exit 9")
	n := openNvidia(&Options{NvidiaSMI: program, Interval: time.Second})
	n.ended.Wait()
	if got := n.read(time.Now()); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	n.close()
	openNvidia(&Options{NvidiaSMI: filepath.Join(t.TempDir(), "none")}).close()
	program, _ = fakeSMI(t, "head -c 300000 /dev/zero | tr '\\0' x; exit 0")
	n = openNvidia(&Options{NvidiaSMI: program, Interval: time.Second})
	n.ended.Wait() // a line without end neither blocks nor breaks it
	n.close()
}

func FuzzGPU(f *testing.F) {
	for _, line := range []string{"0, NVIDIA A100-SXM4-80GB, 97, 31744, 81920, 71, 300.50, 400.00, 1410, GPU-a", "1, x, [N/A], , [Not Supported], -1, nan, inf, 1e400, ",
		`0,"a, b",1,2,3,4,5,6,7,8`, "GPU-a, 100, 30000", "Failed to initialize NVML: Driver/library version mismatch", "", ",,,,,,,,"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if g, ok := parseGPU(line); ok {
			if g.Index < 0 || g.Busy < 0 || g.Busy > 1 {
				t.Errorf("%q is %+v", line, g)
			}
			for _, x := range []float64{g.MemoryUsed, g.MemoryTotal, g.Temperature, g.Power, g.PowerLimit, g.Clock} {
				if x < 0 || math.IsInf(x, 0) {
					t.Errorf("%q is %+v", line, g)
				}
			}
		}
		if u, bytes, ok := parseProcess(line); ok && (u.pid <= 0 || bytes > 1<<60) {
			t.Errorf("%q is %v with %d bytes", line, u, bytes)
		}
	})
}
