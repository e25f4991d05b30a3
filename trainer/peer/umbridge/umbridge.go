// Package umbridge answers for models behind UM-Bridge servers (protocol 1.0), over HTTP and JSON.
//
// A model maps input vectors to output vectors. All its inputs, one after the other, are the weights; it has one output
// F. With one number the loss is F, or −F where F is to be maximized, as a log-posterior; with more it is ½‖F‖², a
// problem of least squares.
//
// The protocol has no weights to begin with. They are zeros, or drawn from N(0, 0.1²) where the model is stationary or
// not finite at zeros, unless Options name them.
package umbridge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"newtop/internal/format"
	"newtop/trainer/peer"
)

// MaxWeights is how many weights, and how many numbers in an output, go over JSON: 10⁵ are 2 MB for each request.
const MaxWeights = 100_000

// Options of Dial. The zero value minimizes.
type Options struct {
	Maximize bool          // the model's number grows the better it is; not for least squares
	Timeout  time.Duration // of each request; 0: none
	Start    []float64     // the first weights; nil: see the package
	Seed     uint64        // of first weights that are drawn
}

// Client is an Endpoint for a model of a UM-Bridge server. It sends one request after the other.
type Client struct {
	ctx     context.Context // of all requests, as an Endpoint's methods have none
	cancel  context.CancelFunc
	http    http.Client
	base    string // scheme, host and port
	host    string
	timeout time.Duration
	err     error // after which all methods fail

	model    string
	inputs   []int // lengths of the input vectors
	outputs  int   // length of the output vector
	sign     float64
	squares  bool // loss = ½‖F‖²
	vecFirst bool // a Hessian's vec is a change of the input inWrt1, not of inWrt2
	about    peer.About

	start, point   []float64
	output         []float64 // of the last Evaluate
	outputOf       []float64 // the weights that it is of
	unused         bool      // whether no gradient was formed with it yet
	body           []byte    // of the request
	sum, jacobianV []float64 // scratch: dim and outputs long
}

var _ peer.Endpoint = (*Client)(nil)

// Dial asks a server for a model, at http://host:port/ModelName or host:port, and evaluates it at its first weights.
// The context holds for all requests of the client. Errors are one line.
func Dial(ctx context.Context, address string, o Options) (*Client, error) {
	base, model, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	c := &Client{base: base.String(), host: base.Host, timeout: o.Timeout, model: model, sign: 1}
	c.http.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment}
	c.ctx, c.cancel = context.WithCancel(ctx)
	if o.Maximize {
		c.sign = -1
	}
	if err := c.open(&o); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func parseAddress(address string) (base *url.URL, model string, err error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, "", errors.New("umbridge: expected an address as http://host:port/ModelName")
	}
	return &url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}, strings.Trim(u.Path, "/"), nil
}

func (c *Client) open(o *Options) error {
	if err := c.choose(); err != nil {
		return err
	}
	if err := c.readSizes(); err != nil {
		return err
	}
	if c.squares && o.Maximize {
		return fmt.Errorf(
			"umbridge: model %s has %d outputs, whose squares are minimized: expected one number to maximize",
			c.title(), c.outputs)
	}
	support, err := c.readSupport()
	if err != nil {
		return err
	}
	c.describe(support)
	if err := c.begin(o); err != nil {
		return err
	}
	if !c.squares && support.ApplyHessian {
		return c.tryHessian()
	}
	return nil
}

// title is the model's name as people read it.
func (c *Client) title() string { return clip(c.model) }

// choose finds the model that was named, or the only one.
func (c *Client) choose() error {
	var info struct {
		Version version  `json:"protocolVersion"`
		Models  []string `json:"models"`
	}
	if err := c.call("/Info", nil, &info, maxInfo); err != nil {
		return err
	}
	if major, _, _ := strings.Cut(string(info.Version), "."); major != "1" {
		return fmt.Errorf("umbridge: %s speaks protocol %s: expected 1.0", c.host, clip(string(info.Version)))
	}
	if c.model == "" && len(info.Models) == 1 {
		c.model = info.Models[0]
	}
	if slices.Contains(info.Models, c.model) {
		return nil
	}
	names := clip(strings.Join(info.Models, ", "))
	switch {
	case len(info.Models) == 0:
		return fmt.Errorf("umbridge: %s has no models", c.host)
	case c.model == "":
		return fmt.Errorf("umbridge: %s has several models: name one, as %s/NAME: %s", c.host, c.host, names)
	}
	return fmt.Errorf("umbridge: %s has no model %s: expected one of %s", c.host, c.title(), names)
}

// readSizes learns how long inputs and outputs are.
func (c *Client) readSizes() error {
	var in struct {
		Sizes []number `json:"inputSizes"`
	}
	if err := c.call("/InputSizes", c.request().bytes(), &in, maxInfo); err != nil {
		return err
	}
	var out struct {
		Sizes []number `json:"outputSizes"`
	}
	if err := c.call("/OutputSizes", c.request().bytes(), &out, maxInfo); err != nil {
		return err
	}
	if len(out.Sizes) != 1 {
		return fmt.Errorf("umbridge: model %s has %s: expected one", c.title(),
			format.Counted(len(out.Sizes), "output vector"))
	}
	sum := number(0)
	for _, size := range slices.Concat(in.Sizes, out.Sizes) {
		if !(size >= 0 && size == number(math.Trunc(float64(size)))) {
			return fmt.Errorf("umbridge: model %s has a vector of %v numbers: expected a whole number", c.title(), size)
		}
	}
	for _, size := range in.Sizes {
		sum += size
	}
	switch most := max(sum, out.Sizes[0]); {
	case most > MaxWeights:
		return fmt.Errorf(
			"umbridge: model %s has vectors of %.0f numbers: expected at most %d; the binary protocol of docs/peer.md takes more",
			c.title(), most, MaxWeights)
	case sum == 0 || out.Sizes[0] == 0:
		return fmt.Errorf("umbridge: model %s has %v inputs and %v outputs: expected one of each at least", c.title(),
			sum, out.Sizes[0])
	}
	for _, size := range in.Sizes {
		c.inputs = append(c.inputs, int(size))
	}
	c.about.Dim, c.outputs = int(sum), int(out.Sizes[0])
	c.squares = c.outputs > 1
	return nil
}

// support tells which requests a model answers.
type support struct{ Evaluate, Gradient, ApplyJacobian, ApplyHessian bool }

func (c *Client) readSupport() (s support, err error) {
	var reply struct {
		Support support `json:"support"`
	}
	if err := c.call("/ModelInfo", c.request().bytes(), &reply, maxInfo); err != nil {
		return s, err
	}
	s = reply.Support
	if !s.Evaluate || !s.Gradient {
		return s, fmt.Errorf("umbridge: expected a model with Evaluate and Gradient: %s has %s", c.title(), s)
	}
	return s, nil
}

func (s support) String() string {
	var names []string
	for name, has := range s.all {
		if has {
			names = append(names, name)
		}
	}
	if names == nil {
		return "neither"
	}
	return strings.Join(names, ", ") + " only"
}

func (s support) all(yield func(string, bool) bool) {
	_ = yield("Evaluate", s.Evaluate) && yield("Gradient", s.Gradient) &&
		yield("ApplyJacobian", s.ApplyJacobian) && yield("ApplyHessian", s.ApplyHessian)
}

// describe fills in About but for the Hessian.
func (c *Client) describe(s support) {
	a := &c.about
	a.Name, a.Program = c.title(), "UM-Bridge 1.0 at "+c.host
	a.Outputs, a.Has = c.outputs, []string{peer.HasGradient}
	for i, n := range c.inputs {
		if n > 0 {
			a.Blocks = append(a.Blocks, peer.Block{Name: "input " + strconv.Itoa(i+1), Shape: []int{n}})
		}
	}
	switch {
	case c.squares:
		a.Loss = "half the sum of squares"
		if s.ApplyJacobian {
			a.Has = append(a.Has, peer.HasGaussNewton)
		}
	case c.sign < 0:
		a.Loss = "the negative output"
	default:
		a.Loss = "the output"
	}
}

// begin finds the first weights, and whether the model has a gradient there.
func (c *Client) begin(o *Options) error {
	n := c.about.Dim
	c.start, c.point, c.sum = make([]float64, n), make([]float64, n), make([]float64, n)
	c.jacobianV = make([]float64, c.outputs)
	if o.Start != nil && len(o.Start) != n {
		return fmt.Errorf("umbridge: model %s has %d weights: the start has %d", c.title(), n, len(o.Start))
	}
	copy(c.start, o.Start)
	copy(c.point, c.start)
	g := make([]float64, n)
	loss, err := c.gradientAt(g, c.point)
	var refused *answerError
	switch {
	case o.Start != nil, err != nil && (!errors.As(err, &refused) || errors.Is(err, peer.ErrUnsupported)):
		return err
	case err == nil && finite(g) && finite([]float64{loss}) &&
		slices.ContainsFunc(g, func(x float64) bool { return x != 0 }):
		return nil
	}
	draw := rand.New(rand.NewPCG(o.Seed, 0))
	for i := range c.start {
		c.start[i] = 0.1 * draw.NormFloat64()
	}
	copy(c.point, c.start)
	_, err = c.gradientAt(g, c.point)
	return err
}
