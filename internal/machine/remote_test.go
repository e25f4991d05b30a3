package machine

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const printed = `@stat
cpu  100 0 0 300 0 0 0 0 0 0
cpu0 %s 0 0 150 0 0 0 0 0 0
cpu1 50 0 0 150 0 0 0 0 0 0
@load
0.50 0.25 0.125 1/100 4711
@mem
MemTotal:       1000 kB
MemAvailable:    250 kB
SwapTotal:       100 kB
SwapFree:         40 kB
@blocks
sda
@disks
   8       0 sda 1 0 2 0 1 0 4 0 0 0 0
   8       1 sda1 1 0 2 0 1 0 4 0 0 0 0
@net
Inter-|   Receive
    lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0
  eth0: 7 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0
@df
Filesystem     1024-blocks      Used Available Capacity Mounted on
/dev/sda1          1000 96 4 96% /
@gpus
0, NVIDIA H200, [N/A], 1000, 2000, 41, [N/A], 700.00, 1980, GPU-a
1, NVIDIA H200, 0, 1000, 2000, 41, 120.5, 700.00, 1980, GPU-b
No devices were found
@apps
GPU-b, 4711, 900
GPU-b, [N/A], [N/A]
@users
4711 me python3 train.py
@amd
card0/device/vendor:0x1002
card0/device/gpu_busy_percent:50
card0/device/hwmon/hwmon3/temp1_input:41000
card0-DP-1/device/vendor:0x1002
`

func TestRemote(t *testing.T) {
	text := strings.ReplaceAll(printed, "%s", "50")
	r := NewRemote(func(context.Context, string) ([]byte, error) { return []byte(text), nil })
	at := time.Unix(1.8e9, 0)
	r.parse(text, at)
	s := r.parse(strings.Replace(strings.ReplaceAll(printed, "%s", "150"), "eth0: 7", "eth0: 107", 1), at.Add(10*time.Second))
	if s.CPU != 1 || len(s.Core) != 2 || s.Core[0] != 1 || s.Load[1] != 0.25 || s.MemoryTotal != 1000<<10 || s.MemoryUsed != 750<<10 ||
		s.SwapUsed != 60<<10 || s.DiskUsed != 96<<10 || s.DiskTotal != 100<<10 || s.NetIn != 10 || s.NetOut != 0 || s.DiskRead != 0 {
		t.Errorf("%+v", s)
	}
	if len(s.GPUs) != 3 || !math.IsNaN(s.GPUs[0].Busy) || !math.IsNaN(s.GPUs[0].Power) || s.GPUs[1].Power != 120.5 ||
		s.GPUs[2].Index != 2 || s.GPUs[2].Busy != 0.5 || s.GPUs[2].Temperature != 41 {
		t.Errorf("%+v", s.GPUs)
	}
	if len(s.GPUUsers) != 1 || s.GPUUsers[0] != (GPUUser{1, 4711, "python3 train.py", "me", 900 << 20}) {
		t.Errorf("%+v", s.GPUUsers)
	}
	var watch Troubles
	said := ""
	for range 12 {
		s.At = s.At.Add(time.Minute)
		said = ""
		for _, f := range watch.See(&s) {
			said += f.Kind + ": " + f.Text + "\n"
		}
	}
	if said != "disk: disk 96 % full\ngpu1: gpu1 idle for 11 min while process 4711 has it\n" {
		t.Errorf("%q", said)
	}
	s.GPUs[1].Busy = 0.5
	if found := watch.See(&s); len(found) != 1 {
		t.Errorf("%+v", found)
	}
}

// TestScript runs the script in this machine's shell, with a stand-in for nvidia-smi.
func TestScript(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no POSIX shell")
	}
	dir := t.TempDir()
	smi := "#!/bin/sh\ncase $1 in *gpu_uuid*) echo \"GPU-7, $$, 5\"; echo 'GPU-7, $(touch hacked), 5';; *) for i in 0 1 2 3 4 5 6 7; do " +
		"echo \"$i, H200, [N/A], 1, 2, 40, [N/A], [N/A], [Not Supported], GPU-$i\"; done; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(smi), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	r := NewRemote(func(ctx context.Context, script string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		cmd.Dir = dir
		return cmd.Output()
	})
	s, err := r.Sample(t.Context())
	if err != nil || len(s.GPUs) < 8 || s.GPUs[7].Temperature != 40 || s.DiskTotal == 0 || len(s.GPUUsers) != 1 {
		t.Errorf("%v, %+v", err, s)
	}
	if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
		t.Error("what nvidia-smi said was run")
	}
}
