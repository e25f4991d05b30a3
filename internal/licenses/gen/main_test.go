package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"newtop/internal/format/formattest"
	"newtop/internal/licenses"
)

const anew = "expected it after go generate ./internal/licenses"

// TestNotices: THIRD_PARTY.md is of the modules that go.mod wants, and the program has it.
func TestNotices(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text, required := read("THIRD_PARTY.md"), read("go.mod")
	if own := licenses.Text(); own != text {
		t.Errorf("the program has another text than THIRD_PARTY.md: %s", anew)
	}
	linked, err := modules(root, "")
	if err != nil || len(linked) < 20 {
		t.Fatalf("%d modules: %v", len(linked), err)
	}
	for _, p := range linked {
		if !strings.Contains(text, "\n| "+p.name+" | ") {
			t.Errorf("THIRD_PARTY.md lacks %s: %s", p.name, anew)
		}
	}
	for _, row := range regexp.MustCompile(`\n\| (\S+ v\S+) \|`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(required, "\t"+row[1]+"\n") && !strings.Contains(required, "\t"+row[1]+" //") {
			t.Errorf("THIRD_PARTY.md has %s, and go.mod has not: %s", row[1], anew)
		}
	}
	if place := formattest.Acts(text, false); place != "" {
		t.Errorf("a terminal would act on %s", place)
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0":                                       "Apache-2.0",
		"Permission is hereby granted, free\nof charge, to any person":        "MIT",
		"Redistribution and use in source and binary forms … IS":              "BSD-2-Clause",
		"names … may not be used to\n   endorse or promote products":          "BSD-3-Clause",
		"GNU GENERAL PUBLIC LICENSE Version 3":                                "",
		"This Font Software is licensed under the SIL Open Font License, 1.1": "OFL-1.1",
	} {
		if got := kind(text); got != want {
			t.Errorf("%.30q is %q, expected %q", text, got, want)
		}
	}
}

func TestNoLicence(t *testing.T) {
	dir := t.TempDir()
	if _, err := document([]part{{name: "example.org/x v1", dir: dir}}); err == nil || !strings.Contains(err.Error(), "example.org/x v1: no licence that is known") {
		t.Errorf("%v", err)
	}
}
