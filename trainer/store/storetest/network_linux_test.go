package storetest

import (
	"os"
	"testing"

	"newtop/trainer/store/sqlfile"
)

func TestNetworkOf(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err == nil && sqlfile.NetworkOf("/proc/self") != "" {
		t.Errorf("/proc is on %s", sqlfile.NetworkOf("/proc/self"))
	}
	if got := sqlfile.NetworkOf("/no/such/file"); got != "" {
		t.Errorf("a file that is not there is on %s", got)
	}
	const mounts = `22 1 0:20 / / rw,relatime - fuse.fuse-overlayfs fuse-overlayfs rw
36 22 0:31 / /home/me/far rw,nosuid shared:1 - fuse.sshfs me@far:/home/me rw,user_id=1000
37 22 8:1 / /mnt rw - fuseblk /dev/sda1 rw
`
	for device, want := range map[string]string{"0:20": "", "0:31": "sshfs", "8:1": "", "0:99": ""} {
		if got := sqlfile.FuseOf([]byte(mounts), device); got != want {
			t.Errorf("device %s is of %q, expected %q", device, got, want)
		}
	}
}
