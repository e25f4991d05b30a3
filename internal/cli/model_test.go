package cli

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"newtop/trainer"
	"newtop/trainer/peer/peertest"
)

// modelServer serves a network of newtop's own as another program's model, and returns what --model takes.
func modelServer(t *testing.T) string {
	t.Helper()
	p, err := trainer.Prepare((&trainer.Config{Data: "spirals", Hidden: []int{5}}))
	if err != nil {
		t.Fatal(err)
	}
	s := &peertest.Server{Problem: p, Start: make([]float64, p.Dim())}
	p.InitTo(s.Start, rand.New(rand.NewPCG(1, 1)))
	return s.Serve(t)
}

// A model that another program has is trained, gone on with, exported and searched over by the same commands.
func TestModelOfAnotherProgram(t *testing.T) {
	model, dir := modelServer(t), t.TempDir()
	db, file := filepath.Join(dir, "runs.db"), filepath.Join(dir, "w.safetensors")
	out := succeed(t, "train", "--model", model, "--epochs", "3", "--record", db, "--name", "mine", "--save", file)
	if !strings.Contains(out, "twin: tr-newton, 3 epochs") {
		t.Errorf("train prints\n%s", out)
	}
	out = succeed(t, "resume", "mine", "--record", db, "--epochs", "5")
	if !strings.Contains(out, "\n    5 ") || strings.Contains(out, "\n    2 ") {
		t.Errorf("resume prints\n%s", out)
	}
	out = succeed(t, "runs", "show", "mine", "--record", db)
	if !strings.Contains(out, "--model "+model) || strings.Contains(out, "--data") {
		t.Errorf("runs show prints\n%s", out)
	}
	succeed(t, "runs", "export", "mine", "--record", db, "-o", filepath.Join(dir, "again.safetensors"))
	out, errs, code := newtop("tune", "--model", model, "--over", "opt=tr-newton,tr-gn", "--epochs", "3", "--trials", "2", "--record", db)
	if code != 0 || !strings.Contains(out, "tr-gn") || strings.Contains(errs, "newtop predict") { // which can't apply such a model
		t.Errorf("tune ends with %d and prints\n%s%s", code, out, errs)
	}
}

// What can't be used is told in one line.
func TestModelsThatCantBeUsed(t *testing.T) {
	model := modelServer(t)
	for want, args := range map[string][]string{
		"--data spirals: expected none with --model":      {"--model", model, "--data", "spirals"},
		"layers are not known":                            {"--model", model, "--opt", "bpls"},
		"there is no such file":                           {"--model", "nowhere.py"},
		"expected the socket of a peer":                   {"--model", "unix:/nowhere"},
		"umbridge:http://localhost:1: expected a program": {"--model", "umbridge:http://localhost:1"},
		"expected a file name that ends in .safetensors":  {"--model", model, "--save", "x.onnx"},
	} {
		_, errs, code := newtop(append([]string{"train", "--record", "off", "--epochs", "1"}, args...)...)
		if code == 0 || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d\n%s\nexpected %q", args, code, errs, want)
		}
	}
}

// A peer that was written from docs/peer.md alone, in Python with NumPy.
func TestPeerOfNumPy(t *testing.T) {
	python := ""
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("there is no Python 3 that has numpy")
	}
	t.Setenv("NEWTOP_PYTHON", python)
	out := succeed(t, "train", "--model", filepath.Join("..", "python", "testdata", "numpy_peer.py"), "--epochs", "8", "--record", "off", "--set", "spectrum-every=8")
	if !strings.Contains(out, "0.210383") || !strings.Contains(out, "the Hessian over") {
		t.Errorf("it prints\n%s", out)
	}
}
