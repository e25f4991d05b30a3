package convert

func openParquet(f File) (part, error) { return nil, f.at(0, "x", "y") }
