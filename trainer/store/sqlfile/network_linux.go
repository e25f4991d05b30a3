package sqlfile

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// networks are the file systems of several hosts, by the magic number that statfs(2) reports.
var networks = map[uint32]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.CIFS_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC:  "SMB",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
	unix.V9FS_MAGIC:        "9P",
	0x0bd00bd0:             "Lustre",
	0x47504653:             "GPFS",
	0x19830326:             "BeeGFS",
	0x20030528:             "OrangeFS",
	0xaad7aaea:             "PanFS",
	0x01161970:             "GFS2",
}

// fuses are the file systems of several hosts that are programs.
var fuses = []string{"sshfs", "glusterfs", "ceph", "ceph-fuse", "rclone", "s3fs", "gcsfuse", "blobfuse", "juicefs",
	"mfs", "curlftpfs"}

// NetworkOf returns the kind of network file system that a path is on, "" for none.
func NetworkOf(path string) string {
	var about unix.Statfs_t
	if unix.Statfs(path, &about) != nil {
		return ""
	}
	if uint32(about.Type) != unix.FUSE_SUPER_MAGIC {
		return networks[uint32(about.Type)]
	}
	var file unix.Stat_t
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || unix.Stat(path, &file) != nil {
		return ""
	}
	return FuseOf(mounts, fmt.Sprintf("%d:%d", unix.Major(uint64(file.Dev)), unix.Minor(uint64(file.Dev))))
}

// FuseOf returns the type of the file system of the device, from the text of /proc/self/mountinfo, if it is one of
// fuses.
func FuseOf(mounts []byte, device string) string {
	lines := bufio.NewScanner(bytes.NewReader(mounts))
	for lines.Scan() {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields, of := strings.Fields(before), strings.Fields(after)
		if len(fields) < 3 || fields[2] != device || len(of) == 0 {
			continue
		}
		if name, ok := strings.CutPrefix(of[0], "fuse."); ok && slices.Contains(fuses, name) {
			return name
		}
	}
	return ""
}
