"""Models in PyTorch for zoo.py. A case is a function that returns the model, the loss and the batch, as newtop.spectrum takes them."""
import contextlib
import copy
import math
import types

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import prune
from torch.utils.checkpoint import checkpoint

import newtop
import zoo

torch.set_num_threads(1)
cases = []
timers = zoo.timers_of(newtop._Torch)
VERSION = tuple(int(x) for x in torch.__version__.split(".")[:2])
T = torch.tensor


def title():
    return f"PyTorch {torch.__version__}"


def case(name, *, loss=None, refused="", noted="", differences=False, within=1e-2, needs=()):
    """loss(model, batch) is what is true where it is not loss_fn(model(x), y)."""
    def add(build):
        cases.append(types.SimpleNamespace(name=name, build=build, loss=loss, refused=refused, noted=noted, differences=differences,
                                           within=within, needs=needs))
        return build
    return add


def begin(c):
    torch.manual_seed(0)
    np.random.seed(0)
    c.model, c.loss_fn, c.batch = c.build()


def spectrum(c):
    torch.manual_seed(1)
    return newtop.spectrum(c.model, c.loss_fn, c.batch, k=1)


def truth(c):
    with attention():  # in backward too, where checkpoints compute it again
        return ends_of(c)


def ends_of(c):
    """The ends of the Hessian by two derivatives in float64, or by differences of gradients where PyTorch has one alone."""
    model = c.model  # built anew: some can't be copied
    begin(c)
    model, c.model = getattr(c.model, "_orig_mod", c.model).double(), model
    if hasattr(model, "config"):
        model.config._experts_implementation = "eager"  # the grouped products of experts have no float64
    batch = newtop._each(c.batch, lambda x: x.double() if x.is_floating_point() else x)
    params = [p for p in model.parameters() if p.requires_grad]
    sizes = [p.numel() for p in params]
    loss_fn = copy.deepcopy(c.loss_fn).double() if isinstance(c.loss_fn, nn.Module) else c.loss_fn
    loss = c.loss or ((lambda m, b: m(**b).loss) if loss_fn is None else lambda m, b: loss_fn(m(b[0]), b[1]))

    def gradient(create=False):
        torch.manual_seed(1)
        g = torch.autograd.grad(loss(model, batch), params, create_graph=create, allow_unused=True)
        return [(torch.zeros_like(p) if x is None else x).to_dense() for x, p in zip(g, params)]

    def flat(tensors):
        return torch.cat([torch.zeros(k).double() if x is None else x.detach().to_dense().reshape(-1) for x, k in zip(tensors, sizes)]).numpy()

    def shift(v):
        for p, x in zip(params, v.split(sizes)):
            p.data += x.view(p.shape)

    g = None if c.differences else gradient(True)

    def product(v):
        v = torch.tensor(v).reshape(-1)
        if not c.differences:
            pairs = [(y, x.clone().view(y.shape)) for y, x in zip(g, v.split(sizes)) if y.requires_grad]  # FFTs fail where x is not aligned
            return flat(torch.autograd.grad([y for y, _ in pairs], params, [x for _, x in pairs], retain_graph=True, allow_unused=True))
        e = 1e-5 / max(1e-300, float(v.norm()))
        shift(e * v)
        up = flat(gradient())
        shift(-2 * e * v)
        down = flat(gradient())
        shift(e * v)
        return (up - down) / (2 * e)

    return zoo.ends(product, sum(sizes)), sum(sizes)


def attention():
    """Attention of which PyTorch has second derivatives."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return torch.backends.cuda.sdp_kernel(enable_flash=False, enable_mem_efficient=False, enable_math=True)
    return sdpa_kernel(SDPBackend.MATH)


def mlp(*widths, act=nn.Tanh):
    layers = []
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


class Of(nn.Module):
    """A module with the given parts, whose forward is a function."""

    def __init__(self, forward, **parts):
        super().__init__()
        self.call = forward
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args, **named):
        return self.call(self, *args, **named)


def classes(n, k, *shape):
    return torch.randn(n, *shape), torch.randint(k, (n,))


ce, mse = nn.CrossEntropyLoss(), nn.MSELoss()
whole = lambda f: {"loss": f}


# Feed-forward nets and losses.

@case("MLP, ReLU")
def _():
    return mlp(8, 24, 24, 4, act=nn.ReLU), ce, classes(64, 4, 8)


@case("linear regression")
def _():
    x = torch.randn(64, 6)
    return nn.Linear(6, 1), mse, (x, x.sum(1, keepdim=True).sin())


@case("logistic, BCEWithLogits")
def _():
    return nn.Linear(6, 1), nn.BCEWithLogitsLoss(), (torch.randn(64, 6), torch.randint(2, (64, 1)).float())


@case("LogSoftmax and NLLLoss")
def _():
    return nn.Sequential(*mlp(6, 16, 5), nn.LogSoftmax(1)), nn.NLLLoss(), classes(64, 5, 6)


@case("Sigmoid and BCELoss")
def _():
    return nn.Sequential(*mlp(6, 16, 1), nn.Sigmoid()), nn.BCELoss(), (torch.randn(64, 6), torch.randint(2, (64, 1)).float())


@case("label smoothing, weights")
def _():
    return mlp(6, 16, 5, act=nn.GELU), nn.CrossEntropyLoss(torch.linspace(0.5, 2, 5), label_smoothing=0.1), classes(64, 5, 6)


@case("SmoothL1, SiLU")
def _():
    return mlp(6, 16, 2, act=nn.SiLU), nn.SmoothL1Loss(), (torch.randn(64, 6), torch.randn(64, 2))


@case("L1, Softplus")
def _():
    return mlp(6, 16, 2, act=nn.Softplus), nn.L1Loss(), (torch.randn(64, 6), torch.randn(64, 2))


@case("heteroscedastic Gaussian")
def _():
    net = mlp(3, 16, 2)
    return net, lambda o, y: F.gaussian_nll_loss(o[:, :1], y, F.softplus(o[:, 1:]) + 1e-3), (torch.randn(64, 3), torch.randn(64, 1))


@case("Poisson regression")
def _():
    return mlp(4, 8, 1), nn.PoissonNLLLoss(), (torch.randn(64, 4), torch.randint(6, (64, 1)).float())


@case("mixture density network")
def _():
    def nll(o, y):
        a, mu, s = o.chunk(3, 1)
        return -torch.logsumexp(a.log_softmax(1) - 0.5 * ((y - mu) / s.exp()) ** 2 - s, 1).mean()
    return mlp(2, 16, 9), nll, (torch.randn(64, 2), torch.randn(64, 1))


@case("distillation, KL")
def _():
    return mlp(6, 12, 5), lambda o, t: 4 * F.kl_div(F.log_softmax(o / 2, 1), t, reduction="batchmean"), (torch.randn(64, 6), torch.randn(64, 5).softmax(1))


@case("dropout in training")
def _():
    return nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.3), nn.Tanh(), nn.Linear(16, 3)).double(), ce, (torch.randn(32, 6).double(), torch.randint(3, (32,)))


@case("float64 autoencoder")
def _():
    x = torch.randn(40, 8).double()
    return mlp(8, 4, 2, 4, 8).double(), mse, (x, x)


@case("a KAN of splines")
def _():
    def forward(m, x):
        b = torch.exp(-(x[..., None] - torch.linspace(-2, 2, 6).to(x)) ** 2)
        h = torch.einsum("nik,iok->no", b, m.c1)
        return torch.einsum("nik,iok->no", torch.exp(-(h[..., None] - torch.linspace(-2, 2, 6).to(x)) ** 2), m.c2)
    return Of(forward, c1=nn.Parameter(0.3 * torch.randn(3, 5, 6)), c2=nn.Parameter(0.3 * torch.randn(5, 1, 6))), mse, (torch.randn(64, 3), torch.randn(64, 1))


@case("hypernetwork, Bilinear")
def _():
    def forward(m, x):
        w = m.hyper(x[:, :2]).view(-1, 4, 3)
        return m.mix(torch.einsum("nij,nj->ni", w, x[:, 2:]).tanh(), x[:, :2])
    return Of(forward, hyper=mlp(2, 8, 12), mix=nn.Bilinear(4, 2, 3)), ce, classes(48, 3, 5)


@case("matrix factorisation")
def _():
    def forward(m, ij):
        return (m.u(ij[:, 0]) * m.v(ij[:, 1])).sum(1) + m.b(ij[:, 0])[:, 0]
    return Of(forward, u=nn.Embedding(20, 4), v=nn.Embedding(15, 4), b=nn.Embedding(20, 1)), mse, (torch.randint(15, (200, 2)), torch.randn(200))


@case("EmbeddingBag", differences=True)
def _():
    return nn.Sequential(nn.EmbeddingBag(30, 8), nn.Linear(8, 3)), ce, (torch.randint(30, (40, 6)), torch.randint(3, (40,)))


@case("sparse, padded Embedding")
def _():
    return nn.Sequential(nn.Embedding(12, 4, padding_idx=0, sparse=True), nn.Flatten(), nn.Tanh(), nn.Linear(20, 3)), ce, (torch.randint(1, 12, (40, 5)), torch.randint(3, (40,)))


# Images.

@case("CNN, MaxPool")
def _():
    return nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 4)), ce, classes(24, 4, 1, 8, 8)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c1, self.b1, self.c2, self.b2 = nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c), nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)

    def forward(self, x):
        return F.relu(x + self.b2(self.c2(F.relu(self.b1(self.c1(x))))))


def resnet():
    return nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), Block(6), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4))


@case("ResNet, BatchNorm in eval")
def _():
    return resnet().eval(), ce, classes(16, 4, 3, 6, 6)


@case("ResNet, BatchNorm in training", noted="batch norm")
def _():
    return resnet(), ce, classes(16, 4, 3, 6, 6)


@case("Group-, Instance-, LayerNorm")
def _():
    return nn.Sequential(nn.Conv2d(2, 8, 3), nn.GroupNorm(2, 8), nn.Mish(), nn.Conv2d(8, 4, 3), nn.InstanceNorm2d(4, affine=True), nn.ELU(),
                         nn.Flatten(), nn.LayerNorm(36), nn.Linear(36, 3)), ce, classes(16, 3, 2, 7, 7)


@case("depthwise, Hardswish")
def _():
    return nn.Sequential(nn.Conv2d(3, 8, 1), nn.Hardswish(), nn.Conv2d(8, 8, 3, groups=8), nn.ReLU6(), nn.Conv2d(8, 4, 1), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(4, 3)), ce, classes(24, 3, 3, 6, 6)


@case("U-Net, segmentation")
def _():
    def forward(m, x):
        d = F.gelu(m.down(x))
        return m.out(torch.cat([m.up(F.gelu(m.mid(F.avg_pool2d(d, 2)))), d], 1))
    net = Of(forward, down=nn.Conv2d(1, 4, 3, padding=1), mid=nn.Conv2d(4, 8, 3, padding=1), up=nn.ConvTranspose2d(8, 4, 2, 2), out=nn.Conv2d(8, 3, 1))
    return net, ce, (torch.randn(4, 1, 8, 8), torch.randint(3, (4, 8, 8)))


@case("convolutional autoencoder")
def _():
    x = torch.rand(12, 1, 8, 8)
    return nn.Sequential(nn.Conv2d(1, 4, 3, 2, 1), nn.ReLU(), nn.ConvTranspose2d(4, 1, 4, 2, 1), nn.Sigmoid()), mse, (x, x)


@case("temporal convolutions")
def _():
    return nn.Sequential(nn.Conv1d(2, 6, 3, dilation=1), nn.ReLU(), nn.Conv1d(6, 6, 3, dilation=2), nn.Tanh(), nn.Flatten(), nn.Linear(36, 1)), mse, (torch.randn(24, 2, 12), torch.randn(24, 1))


@case("pixel shuffle, bilinear")
def _():
    def forward(m, x):
        return F.interpolate(F.pixel_shuffle(m.c(x).tanh(), 2), scale_factor=2, mode="bilinear") * m.s
    return Of(forward, c=nn.Conv2d(1, 4, 3, padding=1), s=nn.Parameter(torch.ones(1))), mse, (torch.randn(6, 1, 4, 4), torch.randn(6, 1, 16, 16))


# Sequences.

def last(kind, **named):
    return Of(lambda m, x: m.o(m.r(x)[0][:, -1]), r=kind(3, 8, batch_first=True, **named), o=nn.Linear(8 * (1 + named.get("bidirectional", False)), 3))


@case("LSTM, two layers")
def _():
    return last(nn.LSTM, num_layers=2), ce, classes(16, 3, 6, 3)


@case("GRU, both directions")
def _():
    return last(nn.GRU, bidirectional=True), ce, classes(16, 3, 6, 3)


@case("RNN, packed")
def _():
    def forward(m, x):
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.arange(3, 7).repeat(4), batch_first=True, enforce_sorted=False)
        return m.o(m.r(packed)[1][0])
    return Of(forward, r=nn.RNN(3, 8, batch_first=True), o=nn.Linear(8, 3)), ce, classes(16, 3, 6, 3)


@case("TransformerEncoder in eval")
def _():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Flatten(), nn.Linear(40, 3)).eval(), ce, classes(16, 3, 5, 8)


@case("Transformer, with a mask")
def _():
    def forward(m, x):
        return m.o(m.t(x, x, tgt_mask=nn.Transformer.generate_square_subsequent_mask(5).to(x)))
    t = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True)
    return Of(forward, t=t, o=nn.Linear(8, 2)), mse, (torch.randn(8, 5, 8), torch.randn(8, 5, 2))


class Attention(nn.Module):
    def __init__(self, d, heads, causal=True):
        super().__init__()
        self.qkv, self.proj, self.heads, self.causal = nn.Linear(d, 3 * d), nn.Linear(d, d), heads, causal

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        return self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).reshape(b, t, d))


class GPT(nn.Module):
    def __init__(self, v=17, d=12, t=8, layers=2, again=False):
        super().__init__()
        self.wte, self.wpe, self.ln, self.head = nn.Embedding(v, d), nn.Embedding(t, d), nn.LayerNorm(d), nn.Linear(d, v, bias=False)
        self.head.weight, self.again = self.wte.weight, again
        self.blocks = nn.ModuleList(nn.ModuleList([nn.LayerNorm(d), Attention(d, 2), nn.LayerNorm(d), mlp(d, 4 * d, d, act=nn.GELU)]) for _ in range(layers))
        nn.init.normal_(self.wte.weight, std=0.2)

    def block(self, x, b):
        x = x + b[1](b[0](x))
        return x + b[3](b[2](x))

    def forward(self, i):
        x = self.wte(i) + self.wpe(torch.arange(i.shape[1]))
        for b in self.blocks:
            x = checkpoint(self.block, x, b, use_reentrant=False) if self.again else self.block(x, b)
        return self.head(self.ln(x))


tokens = lambda o, t: F.cross_entropy(o.flatten(0, 1), t.flatten())


def text(v=17):
    i = torch.randint(v, (4, 8))
    return i, i.roll(-1, 1)


@case("nanoGPT, tied")
def _():
    return GPT(), tokens, text()


@case("nanoGPT, checkpointed")
def _():
    return GPT(again=True), tokens, text()


@case("nanoGPT, compiled")
def _():
    return torch.compile(GPT(layers=1)), tokens, text()


@case("loss compiled", loss=lambda m, b: F.cross_entropy(m(b[0]), b[1]))
def _():
    return mlp(6, 16, 3), torch.compile(lambda o, t: F.cross_entropy(o, t)), classes(32, 3, 6)


@case("forward compiled", differences=not hasattr(torch.compiler, "set_stance"), loss=lambda m, b: F.mse_loss(m.plain(b[0]), b[1]))
def _():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 2)

        def plain(self, x):
            return self.b(torch.tanh(self.a(x)))

        forward = torch.compile(plain)
    return Net(), mse, (torch.randn(32, 4), torch.randn(32, 2))


@case("ViT")
def _():
    def forward(m, x):
        x = torch.cat([m.cls.expand(len(x), -1, -1), m.patch(x).flatten(2).transpose(1, 2)], 1) + m.pos
        return m.head(m.body(x)[:, 0])
    body = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=True), 1, enable_nested_tensor=False)
    return Of(forward, patch=nn.Conv2d(1, 8, 4, 4), cls=nn.Parameter(torch.zeros(1, 1, 8)), pos=nn.Parameter(0.02 * torch.randn(1, 5, 8)),
              body=body, head=nn.Linear(8, 4)), ce, classes(12, 4, 1, 8, 8)


@case("MultiheadAttention, key mask")
def _():
    mask = torch.zeros(12, 5, dtype=torch.bool)
    mask[::2, 3:] = True
    return Of(lambda m, x: m.o(m.a(x, x, x, key_padding_mask=mask, need_weights=False)[0].mean(1)), a=nn.MultiheadAttention(8, 2, batch_first=True), o=nn.Linear(8, 3)), ce, classes(12, 3, 5, 8)


@case("mixture of experts, top 2")
def _():
    def forward(m, x):
        weight, which = m.gate(x).topk(2, 1)
        y = torch.stack([e(x) for e in m.experts], 1)
        return (weight.softmax(1)[..., None] * y.gather(1, which[..., None].expand(-1, -1, y.shape[2]))).sum(1)
    return Of(forward, gate=nn.Linear(6, 4), experts=nn.ModuleList(mlp(6, 8, 3) for _ in range(4))), ce, classes(40, 3, 6)


@case("selective state space")
def _():
    def forward(m, x):
        a, b, h = torch.exp(-F.softplus(m.a(x))), m.b(x), 0
        for k in range(x.shape[1]):
            h = a[:, k] * h + b[:, k]
        return m.o(h)
    return Of(forward, a=nn.Linear(3, 8), b=nn.Linear(3, 8), o=nn.Linear(8, 3)), ce, classes(16, 3, 6, 3)


@case("CTC loss", differences=True)
def _():
    net = last(nn.GRU)
    net.call = lambda m, x: m.o(m.r(x)[0]).log_softmax(-1).transpose(0, 1)
    return net, lambda o, t: F.ctc_loss(o, t, torch.full((4,), 9), torch.full((4,), 3)), (torch.randn(4, 9, 3), torch.randint(1, 3, (4, 3)))


# Generative models and metric learning.

@case("VAE", **whole(lambda m, b: vae(m, b)))
def _():
    return Of(None, enc=mlp(8, 12, 4), dec=mlp(2, 12, 8)).double(), vae, torch.rand(32, 8).double()


def vae(m, x):
    mu, s = m.enc(x).chunk(2, 1)
    z = mu + torch.randn_like(mu) * (s / 2).exp()
    return F.binary_cross_entropy_with_logits(m.dec(z), x) + 0.1 * (mu ** 2 + s.exp() - 1 - s).mean()


def penalty(m, b):
    real, fake = b
    x = (0.3 * real + 0.7 * fake).requires_grad_(True)
    g, = torch.autograd.grad(m(x).sum(), x, create_graph=True)
    return m(fake).mean() - m(real).mean() + 10 * ((g.norm(dim=1) - 1) ** 2).mean()


@case("WGAN-GP critic", **whole(penalty))
def _():
    return mlp(4, 16, 16, 1, act=lambda: nn.LeakyReLU(0.2)), penalty, (torch.randn(32, 4), torch.randn(32, 4))


@case("GAN generator, frozen critic", **whole(lambda m, z: F.softplus(-m.d(m.g(z))).mean()))
def _():
    return Of(None, g=mlp(3, 12, 4), d=mlp(4, 12, 1).requires_grad_(False)), lambda m, z: F.softplus(-m.d(m.g(z))).mean(), torch.randn(32, 3)


def flow(m, x):
    log = 0
    for k, net in enumerate(m.nets):
        a, b = (x[:, :2], x[:, 2:]) if k % 2 else (x[:, 2:], x[:, :2])
        s, t = net(a).chunk(2, 1)
        s = s.tanh()
        b, log = b * s.exp() + t, log + s.sum(1)
        x = torch.cat([a, b] if k % 2 else [b, a], 1)
    return (0.5 * (x ** 2).sum(1) - log).mean()


@case("RealNVP flow", **whole(flow))
def _():
    return Of(None, nets=nn.ModuleList(mlp(2, 8, 4) for _ in range(4))), flow, torch.randn(64, 4) ** 3 / 3


def scores(m, x):
    x = x.requires_grad_(True)
    s = m(x)
    return (s ** 2).sum(1).mean() / 2 + sum(torch.autograd.grad(s[:, i].sum(), x, create_graph=True)[0][:, i] for i in range(3)).mean()


@case("score matching", **whole(scores))
def _():
    return mlp(3, 12, 3), scores, torch.randn(48, 3)


def matching(m, b):
    x, t, e = b
    return ((m(torch.cat([(1 - t) * x + t * e, t], 1)) - (e - x)) ** 2).mean()


@case("diffusion, flow matching", **whole(matching))
def _():
    return mlp(3, 16, 2, act=nn.SiLU), matching, (torch.randn(48, 2), torch.rand(48, 1), torch.randn(48, 2))


def info_nce(m, b):
    a, c = F.normalize(m(b[0]), dim=1), F.normalize(m(b[1]), dim=1)
    return F.cross_entropy(a @ c.T / 0.2, torch.arange(len(a)))


@case("contrastive, InfoNCE", **whole(info_nce))
def _():
    x = torch.randn(24, 6)
    return mlp(6, 16, 4), info_nce, (x, x + 0.1 * torch.randn(24, 6))


@case("triplets", loss=lambda m, b: F.triplet_margin_loss(*map(m, b)))
def _():
    return mlp(6, 12, 4), lambda m, b: F.triplet_margin_loss(*map(m, b)), tuple(torch.randn(3, 24, 6))


def vq(m, x):
    z = m.enc(x)
    q = m.codes(torch.cdist(z, m.codes.weight).argmin(1))
    return F.mse_loss(m.dec(z + (q - z).detach()), x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())


@case("VQ-VAE, straight through", refused="differences of gradients are", **whole(vq))
def _():
    return Of(None, enc=mlp(6, 8, 2), dec=mlp(2, 8, 6), codes=nn.Embedding(8, 2)), vq, torch.randn(40, 6)


# Physics and operators.

def heat(m, b):
    x, edge = b
    x = x.requires_grad_(True)
    u = m(x)
    d, = torch.autograd.grad(u.sum(), x, create_graph=True)
    dd, = torch.autograd.grad(d[:, 0].sum(), x, create_graph=True)
    return ((d[:, 1] - 0.1 * dd[:, 0]) ** 2).mean() + ((m(edge) - torch.sin(math.pi * edge[:, :1])) ** 2).mean()


@case("PINN of the heat equation", **whole(heat))
def _():
    return mlp(2, 16, 16, 1), heat, (torch.rand(64, 2), torch.cat([torch.rand(24, 1), torch.zeros(24, 1)], 1))


@case("DeepONet")
def _():
    return Of(lambda m, x: (m.branch(x[:, :6]) * m.trunk(x[:, 6:])).sum(1) + m.b, branch=mlp(6, 16, 8), trunk=mlp(1, 16, 8), b=nn.Parameter(torch.zeros(1))), mse, (torch.rand(64, 7), torch.randn(64))


@case("Fourier neural operator")
def _():
    def forward(m, x):
        f = torch.fft.rfft(m.lift(x).transpose(1, 2))[..., :4]
        y = torch.fft.irfft(torch.einsum("bik,iok->bok", f, torch.view_as_complex(m.w)), n=x.shape[1]).transpose(1, 2)
        return m.drop(F.gelu(y + m.skip(m.lift(x))))
    return Of(forward, lift=nn.Linear(1, 4), w=nn.Parameter(0.3 * torch.randn(4, 4, 4, 2)), skip=nn.Linear(4, 4), drop=nn.Linear(4, 1)), mse, (torch.randn(8, 16, 1), torch.randn(8, 16, 1))


@case("complex weights", refused="complex")
def _():
    return Of(lambda m, x: (m.w * x).real, w=nn.Parameter(torch.randn(4, dtype=torch.complex64))), mse, (torch.randn(8, 4), torch.randn(8, 4))


@case("SIREN")
def _():
    def forward(m, x):
        for layer in m.layers[:-1]:
            x = torch.sin(6 * layer(x))
        return m.layers[-1](x)
    return Of(forward, layers=nn.ModuleList([nn.Linear(2, 16), nn.Linear(16, 16), nn.Linear(16, 1)])), mse, (torch.rand(80, 2), torch.randn(80, 1))


@case("neural ODE, RK4")
def _():
    def forward(m, x):
        for _ in range(5):
            a = m.f(x)
            b = m.f(x + 0.1 * a)
            c = m.f(x + 0.1 * b)
            x = x + 0.2 / 6 * (a + 2 * b + 2 * c + m.f(x + 0.2 * c))
        return x
    return Of(forward, f=mlp(2, 12, 2)), mse, (torch.randn(48, 2), torch.randn(48, 2))


@case("Hamiltonian network", loss=lambda m, b: hamilton(m, b))
def _():
    return mlp(2, 16, 1), hamilton, (torch.randn(48, 2), torch.randn(48, 2))


def hamilton(m, b):
    x = b[0].requires_grad_(True)
    h, = torch.autograd.grad(m(x).sum(), x, create_graph=True)
    return F.mse_loss(torch.stack([h[:, 1], -h[:, 0]], 1), b[1])


@case("deep equilibrium, 30 steps")
def _():
    def forward(m, x):
        z = torch.zeros(len(x), 6).to(x)
        for _ in range(30):
            z = torch.tanh(0.5 * m.w(z) + m.u(x))
        return m.o(z)
    return Of(forward, w=nn.Linear(6, 6), u=nn.Linear(4, 6), o=nn.Linear(6, 3)), ce, classes(32, 3, 4)


@case("Gaussian process, Cholesky", differences=VERSION < (2, 3), loss=lambda m, b: gp(m, b))
def _():
    return nn.ParameterDict({"a": nn.Parameter(T(0.1)), "l": nn.Parameter(T([0.2, -0.1])), "s": nn.Parameter(T(-1.0))}), gp, (torch.randn(24, 2), torch.randn(24))


def gp(m, b):
    x, y = b
    k = torch.exp(m["a"] - torch.cdist(x / m["l"].exp(), x / m["l"].exp(), compute_mode="donot_use_mm_for_euclid_dist").pow(2) / 2)
    c = torch.linalg.cholesky(k + (m["s"].exp() + 1e-3) * torch.eye(len(x)).to(x))
    return (y @ torch.cholesky_solve(y[:, None], c)[:, 0] / 2 + c.diagonal().log().sum()) / len(x)


# Graphs, sets, control.

EDGES = torch.randint(20, (2, 60), generator=torch.Generator().manual_seed(3))


@case("GCN by index_add")
def _():
    def forward(m, x):
        for layer in m.a, m.b:
            x = layer(x + torch.zeros_like(x).index_add(0, EDGES[1], x[EDGES[0]]) / 3).tanh()
        return m.o(x)
    return Of(forward, a=nn.Linear(5, 8), b=nn.Linear(8, 8), o=nn.Linear(8, 3)), ce, classes(20, 3, 5)


@case("GAT by scatter")
def _():
    def forward(m, x):
        h = m.w(x)
        a = F.leaky_relu(m.a(torch.cat([h[EDGES[0]], h[EDGES[1]]], 1)), 0.2).exp()
        norm = torch.zeros(len(x), 1).to(x).scatter_add(0, EDGES[1][:, None], a)
        return m.o(F.elu(torch.zeros_like(h).index_add(0, EDGES[1], a / norm[EDGES[1]] * h[EDGES[0]])))
    return Of(forward, w=nn.Linear(5, 8), a=nn.Linear(16, 1), o=nn.Linear(8, 3)), ce, classes(20, 3, 5)


@case("deep sets, logsumexp")
def _():
    return Of(lambda m, x: m.rho(torch.logsumexp(m.phi(x), 1)), phi=mlp(3, 10, 6), rho=mlp(6, 8, 2)), mse, (torch.randn(24, 5, 3), torch.randn(24, 2))


def ppo(m, b):
    ratio = (m.pi(b["s"]).log_softmax(1).gather(1, b["a"])[:, 0] - b["old"]).exp()
    gain = torch.min(ratio * b["adv"], ratio.clamp(0.8, 1.2) * b["adv"]).mean()
    p = m.pi(b["s"]).log_softmax(1)
    return -gain + 0.5 * F.mse_loss(m.v(b["s"])[:, 0], b["ret"]) + 0.01 * (p.exp() * p).sum(1).mean()


@case("PPO, a dict", **whole(ppo))
def _():
    return Of(None, pi=mlp(4, 12, 3), v=mlp(4, 12, 1)), ppo, {"s": torch.randn(40, 4), "a": torch.randint(3, (40, 1)), "old": torch.full((40,), -1.1), "adv": torch.randn(40), "ret": torch.randn(40)}


# Ways in which models are changed and called.

class LoRA(nn.Module):
    def __init__(self, base, r=2):
        super().__init__()
        self.base, self.a, self.b = base.requires_grad_(False), nn.Parameter(torch.randn(r, base.in_features)), nn.Parameter(0.1 * torch.randn(base.out_features, r))

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T


@case("LoRA")
def _():
    return nn.Sequential(LoRA(nn.Linear(8, 16)), nn.Tanh(), LoRA(nn.Linear(16, 4))), ce, classes(40, 4, 8)


weight_norm = getattr(nn.utils.parametrizations, "weight_norm", nn.utils.weight_norm)


@case("weight_norm", differences=True)
def _():
    return nn.Sequential(weight_norm(nn.Linear(6, 10)), nn.Tanh(), weight_norm(nn.Linear(10, 3))), ce, classes(32, 3, 6)


@case("weight_norm, the old one", differences=True)
def _():
    return nn.Sequential(nn.utils.weight_norm(nn.Linear(6, 10)), nn.Tanh(), nn.Linear(10, 3)), ce, classes(32, 3, 6)


@case("spectral_norm in eval")
def _():
    return nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(6, 10)), nn.Tanh(), nn.Linear(10, 3)).eval(), ce, classes(32, 3, 6)


@case("orthogonal parametrization")
def _():
    return nn.Sequential(nn.utils.parametrizations.orthogonal(nn.Linear(6, 6)), nn.Tanh(), nn.Linear(6, 3)), ce, classes(32, 3, 6)


def under_autocast(m, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return m.net(x).to(x.dtype)


@case("autocast in forward", noted="16 bits", within=0.5)
def _():
    return Of(under_autocast, net=mlp(6, 16, 3)), ce, classes(64, 3, 6)


@case("bfloat16 weights", noted="16 bits", within=0.5)
def _():
    x, t = classes(64, 3, 6)
    return mlp(6, 16, 3).bfloat16(), ce, (x.bfloat16(), t)


@case("three tensors", loss=lambda m, b: mse(m(b[0], b[1]), b[2]))
def _():
    return Of(lambda m, x, s: m.net(x) * s, net=mlp(4, 12, 2)), mse, (torch.randn(40, 4), torch.rand(40, 1), torch.randn(40, 2))


@case("an object with logits", loss=lambda m, b: ce(m(b[0]).logits, b[1]))
def _():
    return Of(lambda m, x: types.SimpleNamespace(logits=m.net(x)), net=mlp(4, 12, 3)), ce, classes(40, 3, 4)


@case("a tuple of outputs", loss=lambda m, b: ce(m(b[0])[0], b[1]))
def _():
    return Of(lambda m, x: (m.net(x), x), net=mlp(4, 12, 3)), ce, classes(40, 3, 4)


@case("a dict with a loss", loss=lambda m, b: m(**b)["loss"])
def _():
    return Of(lambda m, x, y: {"loss": mse(m.net(x), y)}, net=mlp(4, 12, 2)), None, {"x": torch.randn(40, 4), "y": torch.randn(40, 2)}


@case("a model that returns its loss", loss=lambda m, b: m(*b))
def _():
    return Of(lambda m, x, y: mse(m.net(x), y), net=mlp(4, 12, 2)), lambda m, b: m(*b), (torch.randn(40, 4), torch.randn(40, 2))


@case("a function of its own")
def _():
    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos()
    return nn.Sequential(nn.Linear(5, 12), Of(lambda m, x: Sine.apply(x)), nn.Linear(12, 2)), mse, (torch.randn(40, 5), torch.randn(40, 2))


@case("once_differentiable", differences=True)
def _():
    class Sine(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].cos()
    return nn.Sequential(nn.Linear(5, 12), Of(lambda m, x: Sine.apply(x)), nn.Linear(12, 2)), mse, (torch.randn(40, 5), torch.randn(40, 2))


@case("torch.func within", loss=lambda m, b: jacobians(m, b))
def _():
    return mlp(3, 10, 3), jacobians, torch.randn(16, 3)


def jacobians(m, x):
    return torch.vmap(torch.func.jacrev(lambda y: m(y)))(x).square().mean()


@case("non-contiguous, expanded")
def _():
    net = nn.Sequential(nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3))
    net[0].weight = nn.Parameter(torch.randn(8, 6).T)
    return net, ce, (torch.randn(8, 32).T, torch.randint(3, (32,)))


@case("scripted by torch.jit")
def _():
    return torch.jit.script(mlp(5, 12, 2)), mse, (torch.randn(40, 5), torch.randn(40, 2))


@case("pruned")
def _():
    net = mlp(5, 12, 2)
    prune.random_unstructured(net[0], "weight", 0.5)
    return net, mse, (torch.randn(40, 5), torch.randn(40, 2))


@case("DataParallel", loss=lambda m, b: mse(m.module(b[0]), b[1]))
def _():
    return nn.DataParallel(mlp(5, 12, 2)), mse, (torch.randn(40, 5), torch.randn(40, 2))


def with_metrics(m, b):
    loss = mse(m(b[0]), b[1])
    return loss, {"rmse": loss.detach().sqrt()}


@case("a loss with metrics", loss=lambda m, b: mse(m(b[0]), b[1]))
def _():
    return mlp(5, 12, 2), with_metrics, (torch.randn(40, 5), torch.randn(40, 2))


@case("a loss of each row", refused=r"the shape \[40\]: expected one number")
def _():
    return mlp(5, 12, 3), nn.CrossEntropyLoss(reduction="none"), classes(40, 3, 5)


@case("swapped arguments", refused="the model comes first")
def _():
    return ce, mlp(5, 12, 3), classes(40, 3, 5)


@case("no weights left", refused="frozen")
def _():
    return mlp(4, 8, 2).requires_grad_(False), mse, (torch.randn(8, 4), torch.randn(8, 2))


@case("lazy modules", refused="lazy")
def _():
    return nn.Sequential(nn.LazyLinear(3)), ce, classes(8, 3, 4)


@case("shapes that do not fit", refused="mat1 and mat2")
def _():
    return nn.Linear(5, 3), ce, classes(8, 3, 4)


# transformers and Lightning, from configurations, without a download.

def of_config(config, auto, **batch):
    import transformers
    transformers.logging.set_verbosity_error()
    return getattr(transformers, auto).from_config(config).eval(), None, batch


def ids(n=3, t=6, v=19):
    return torch.randint(3, v, (n, t))


SMALL = {"vocab_size": 19, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 8}


def hf(name, kind, auto, config, batch, since="0"):
    @case("transformers: " + name, needs=("transformers>=" + since,))
    def _():
        import transformers
        return of_config(getattr(transformers, kind)(**config), auto, **batch())


def lm():
    i = ids()
    return {"input_ids": i, "labels": i}


CLASSES = {"num_labels": 3}
labels = lambda n=3: torch.randint(3, (n,))
hf("BERT, masked", "BertConfig", "AutoModelForMaskedLM", SMALL, lm)
hf("DistilBERT, classes", "DistilBertConfig", "AutoModelForSequenceClassification",
   {"vocab_size": 19, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 12, "max_position_embeddings": 8, **CLASSES}, lambda: {"input_ids": ids(), "labels": labels()})
hf("GPT-2", "GPT2Config", "AutoModelForCausalLM", {"vocab_size": 19, "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 8, "bos_token_id": 0, "eos_token_id": 0}, lm)
hf("Llama", "LlamaConfig", "AutoModelForCausalLM", {**SMALL, "num_key_value_heads": 1}, lm)
hf("Mistral", "MistralConfig", "AutoModelForCausalLM", {**SMALL, "num_key_value_heads": 1, "sliding_window": 4, "head_dim": 4}, lm)
hf("Mixtral, experts", "MixtralConfig", "AutoModelForCausalLM", {**SMALL, "num_key_value_heads": 1, "num_local_experts": 3, "head_dim": 4}, lm)
hf("T5", "T5Config", "AutoModelForSeq2SeqLM", {"vocab_size": 19, "d_model": 8, "d_kv": 4, "d_ff": 12, "num_layers": 1, "num_heads": 2, "decoder_start_token_id": 0}, lm)
hf("ViT", "ViTConfig", "AutoModelForImageClassification",
   {"image_size": 8, "patch_size": 4, "num_channels": 1, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12, **CLASSES},
   lambda: {"pixel_values": torch.randn(3, 1, 8, 8), "labels": labels()})
hf("ResNet", "ResNetConfig", "AutoModelForImageClassification",
   {"num_channels": 1, "embedding_size": 4, "hidden_sizes": [4, 8], "depths": [1, 1], "layer_type": "basic", **CLASSES}, lambda: {"pixel_values": torch.randn(4, 1, 16, 16), "labels": labels(4)})
hf("Mamba", "MambaConfig", "AutoModelForCausalLM", {"vocab_size": 19, "hidden_size": 8, "state_size": 4, "num_hidden_layers": 1, "time_step_rank": 2}, lm, "4.39")
hf("Whisper", "WhisperConfig", "AutoModelForSpeechSeq2Seq",
   {"vocab_size": 19, "num_mel_bins": 4, "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 8,
    "decoder_ffn_dim": 8, "max_source_positions": 8, "max_target_positions": 8, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1},
   lambda: {"input_features": torch.randn(2, 4, 16), "labels": ids(2)})
hf("CLIP", "CLIPConfig", "AutoModel",
   {"text_config": {**SMALL, "eos_token_id": 2}, "vision_config": {"image_size": 8, "patch_size": 4, "num_channels": 1, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12},
    "projection_dim": 6}, lambda: {"input_ids": ids(), "pixel_values": torch.randn(3, 1, 8, 8), "return_loss": True}, "4.40")  # before, its mask had no float64


@case("transformers: checkpointing", needs=("transformers",))
def _():
    import transformers
    i = ids()
    net = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=19, n_embd=8, n_layer=2, n_head=2, n_positions=8, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
    net.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return net.train(), None, {"input_ids": i, "labels": i}


@case("Lightning module", needs=("lightning",), loss=lambda m, b: m.training_step(b, 0))
def _():
    import lightning.pytorch as lightning

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = mlp(4, 12, 3)

        def forward(self, x):
            return self.net(x)

        def training_step(self, batch, _):
            return F.cross_entropy(self(batch[0]), batch[1])

    return Model(), lambda m, b: m.training_step(b, 0), classes(40, 3, 4)
