package fields

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestFieldsAreRenamed(t *testing.T) {
	type options struct{ Keep, Drop string }
	names := Of[options]("Fetch")
	flag := func(field string) string { return "--" + strings.ToLower(field) }
	err := names.Errorf("%s: {Keep} it, {Fetch} it or {Leave} it: %w", "x", io.EOF)
	for _, c := range []struct {
		err         error
		plain, flag string
	}{
		{err, "x: Keep it, Fetch it or {Leave} it: EOF", "x: --keep it, --fetch it or {Leave} it: EOF"},
		{fmt.Errorf("a: %w; b", err), "a: x: Keep it, Fetch it or {Leave} it: EOF; b", "a: x: --keep it, --fetch it or {Leave} it: EOF; b"},
		{io.EOF, "EOF", "EOF"},
	} {
		if got := c.err.Error(); got != c.plain {
			t.Errorf("%s, expected %s", got, c.plain)
		}
		if got := Text(c.err, flag); got != c.flag {
			t.Errorf("%s, expected %s", got, c.flag)
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Error("what is wrapped is lost")
	}
}
