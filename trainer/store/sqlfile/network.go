package sqlfile

// Network names the network file system that the database is on; empty where it is on a disk of this host, or that
// can't be reported. Hosts don't share memory, which SQLite's write-ahead log needs of all who have a database open:
// there, one host may have it open at a time.
func (s *File) Network() string { return NetworkOf(s.Path()) }
