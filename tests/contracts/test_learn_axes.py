"""The rules by which a pass is proved to keep examples apart: whatever they claim of an operation is true of it."""

import itertools

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as f  # noqa: E402

from discreet.learn.torch.per_example.axis_rules import RULES  # noqa: E402
from discreet.learn.torch.per_example.axis_tracking import AxisTracking  # noqa: E402
from discreet.learn.torch.per_example.example_axes import ExampleAxis, MemoryOwners, Owner, find_example_axis  # noqa: E402

torch.set_num_threads(1)
EXAMPLES = 3
SIZES = (4, 6, 5)
table, square, vector = torch.randn(5, 7), torch.randn(5, 5), torch.randn(5)


def index_of(x):
    return (x.abs() * 3).long() % 4


def written(x):
    found = torch.zeros(*x.shape)
    found[..., 1:] = x[..., 1:]
    found[..., 0] = 2
    return found.mul_(x).add_(1)


def written_at_the_first_row(x):
    found = x.clone()
    found[0] = 3
    return found


#: Operations on a tensor of four axes, of which any may be that of the examples, and the last has five numbers.
UNARY = {
    "exp": torch.exp,
    "gelu": f.gelu,
    "leaky": lambda x: f.leaky_relu(x, 0.1),
    "log sigmoid": f.logsigmoid,
    "where": lambda x: torch.where(x > 0, x, -x),
    "clamp": lambda x: x.clamp(-1, 1),
    "double": lambda x: x.double(),
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.transpose(0, 2).contiguous(),
    "masked": lambda x: x.masked_fill(x > 0.5, 0.0),
    "like": lambda x: torch.zeros_like(x) + torch.full_like(x, 2),
    "flat": lambda x: x.flatten(),
    "flat at the end": lambda x: x.flatten(2),
    "flat at the start": lambda x: x.flatten(0, 2),
    "turned and flat": lambda x: x.transpose(0, 1).flatten(0, 1).exp(),
    "first": lambda x: x[:1] * 2,
    "a part": lambda x: x[:, :2] + 1,
    "every second": lambda x: x[..., ::2] + 1,
    "window": lambda x: x.unfold(3, 3, 1) + 1,
    "window at the start": lambda x: x.unfold(0, 2, 1) + 1,
    "diagonal": lambda x: x.diagonal(0, 2, 3) + 1,
    "expanded": lambda x: x[None].expand(2, *x.shape) + 1,
    "split": lambda x: torch.cat([part * 2 for part in x.split(2, 3)], 3),
    "bound": lambda x: torch.stack([part + 1 for part in x.unbind(2)], 0),
    "stacked": lambda x: torch.stack([x, x * 2], 1),
    "joined": lambda x: torch.cat([x, torch.zeros(*x.shape), x], 1),
    "joined with a table": lambda x: torch.cat([x, table[:, :5].expand(*x.shape[:2], 5, 5)], 2),
    "repeated": lambda x: x.repeat(1, 2, 1, 1),
    "repeated ahead": lambda x: x.repeat(2, 1, 1, 1, 1),
    "interleaved": lambda x: x.repeat_interleave(2, 1),
    "by a table": lambda x: x + table[0, :5],
    "by a larger table": lambda x: x + torch.arange(x.shape[2])[:, None],
    "linear": lambda x: f.linear(x, square, vector),
    "matmul": lambda x: x @ table,
    "matmul from the left": lambda x: torch.eye(x.shape[2]) @ x,
    "matmul of a batch": lambda x: x @ torch.ones(x.shape[1], 5, 2),
    "with itself": lambda x: x @ x.mT,
    "with itself turned": lambda x: x.mT @ x,
    "einsum": lambda x: torch.einsum("abcd,abcd->abc", x, x),
    "einsum across": lambda x: torch.einsum("abcd,abed->ace", x, x),
    "vector": lambda x: x.flatten(0, 2) @ vector,
    "embedding": lambda x: f.embedding(index_of(x), table),
    "indexed table": lambda x: table[index_of(x)],
    "indexed": lambda x: x[:, :, torch.tensor([0, 2, 1])] * 1,
    "indexed twice": lambda x: x[:, torch.tensor([0, 1]), torch.tensor([1, 0])] * 1,
    "indexed apart": lambda x: x[:, torch.tensor([0, 1]), :, torch.tensor([1, 0])] * 1,
    "index select": lambda x: x.index_select(3, torch.tensor([4, 0])),
    "gather": lambda x: x.gather(3, index_of(x)),
    "scatter": lambda x: torch.zeros(*x.shape).scatter(3, index_of(x), x),
    "scatter in place": lambda x: torch.zeros(*x.shape).scatter_(2, index_of(x) % x.shape[2], 1.0),
    "scatter add": lambda x: torch.zeros(*x.shape).scatter_add(1, index_of(x) % x.shape[1], x),
    "own places": lambda x: x.flatten(1)[torch.arange(len(x)), index_of(x.flatten(1).sum(1))],
    "layer norm": lambda x: f.layer_norm(x, x.shape[2:]),
    "rms norm": lambda x: f.rms_norm(x, x.shape[3:]),
    "group norm": lambda x: f.group_norm(x, 1),
    "fixed batch norm": lambda x: f.batch_norm(x, torch.zeros(x.shape[1]), torch.ones(x.shape[1])),
    "convolution": lambda x: f.conv2d(x, torch.ones(2, x.shape[1], 3, 3), padding=1),
    "transposed convolution": lambda x: f.conv_transpose2d(x, torch.ones(x.shape[1], 2, 3, 3)),
    "max pool": lambda x: f.max_pool2d(x, 2, 1),
    "average pool": lambda x: f.avg_pool2d(x, 2, 1),
    "adaptive pool": lambda x: f.adaptive_avg_pool2d(x, 2),
    "pool to one": lambda x: f.adaptive_avg_pool2d(x, 1),
    "padded": lambda x: f.pad(x, (1, 1, 2, 0)),
    "reflected": lambda x: f.pad(x, (1, 1, 1, 0), mode="reflect"),
    "circular": lambda x: f.pad(x, (1, 1, 1, 0), mode="circular"),
    "resized": lambda x: f.interpolate(x, scale_factor=2.0, mode="nearest"),
    "triangle": torch.tril,
    "attention": lambda x: f.scaled_dot_product_attention(x, x, x),
    "cosine": lambda x: f.cosine_similarity(x, x + 1, dim=3),
    "written": written,
    "written at the first row": written_at_the_first_row,
    "losses": lambda x: f.cross_entropy(x.flatten(1), index_of(x.flatten(1).sum(1)), reduction="none"),
    "losses at places": lambda x: f.cross_entropy(x, index_of(x.sum(1)) % x.shape[1], reduction="none"),
    "squares": lambda x: f.mse_loss(x, x.abs(), reduction="none"),
    "logits": lambda x: f.binary_cross_entropy_with_logits(x, (x > 0).float(), reduction="none"),
    "all squares": lambda x: f.mse_loss(x, x.abs()),
    "sum": torch.sum,
    "fourier": lambda x: torch.fft.rfft(x).abs(),
    "as strided": lambda x: x.as_strided((2, 3), (1, 2)) * 2,
}
#: Operations along one axis.
ALONG = {
    "sum": torch.sum,
    "mean, kept": lambda x, axis: x.mean(axis, keepdim=True),
    "var": lambda x, axis: x.var(axis),
    "max": lambda x, axis: x.max(axis).values,
    "argmax": torch.argmax,
    "amax": torch.amax,
    "logsumexp": torch.logsumexp,
    "norm": lambda x, axis: x.norm(dim=axis),
    "prod": torch.prod,
    "all": lambda x, axis: (x > 0).all(axis),
    "median": lambda x, axis: x.median(axis).values,
    "softmax": torch.softmax,
    "log softmax": torch.log_softmax,
    "cumsum": torch.cumsum,
    "cumprod": torch.cumprod,
    "sort": lambda x, axis: x.sort(axis).values,
    "topk": lambda x, axis: x.topk(2, axis).values,
    "flip": lambda x, axis: x.flip(axis),
    "roll": lambda x, axis: x.roll(1, axis),
    "centred": lambda x, axis: x - x.mean(axis, keepdim=True),
    "select": lambda x, axis: x.select(axis, 1) * 2,
    "narrow": lambda x, axis: x.narrow(axis, 0, 2) * 2,
    "moved": lambda x, axis: x.movedim(axis, 0) * x.movedim(axis, 0),
    "unsqueezed": lambda x, axis: x.unsqueeze(axis) + x.unsqueeze(axis),
    "against itself": lambda x, axis: x.unsqueeze(axis) + x.unsqueeze(axis + 1),
    "glu": lambda x, axis: f.glu(torch.cat([x, x], axis), axis),
    "chunks": lambda x, axis: torch.cat(x.chunk(2, axis)[::-1], axis),
}
CASES = UNARY | {
    f"{name} along {axis}": lambda x, work=work, axis=axis: work(x, axis)
    for name, work in ALONG.items()
    for axis in range(4)
}


def made(axis, seed=0):
    """Return a tensor whose examples are on some axis."""
    shape = [*SIZES[:axis], EXAMPLES, *SIZES[axis:]] if axis < 3 else [4, 6, 4, EXAMPLES]
    shape[3] = 5 if axis < 3 else EXAMPLES
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).movedim(axis, 0).contiguous()


def run(work, axis, rows, *, grad=False):
    """Do an operation on rows that are put on an axis, and return what is claimed of the result, and the result."""
    owners = MemoryOwners(EXAMPLES)
    rows = rows.clone().requires_grad_(grad)
    owners.mark(rows, Owner.ROWS, ExampleAxis(0))
    tracking = AxisTracking(owners)
    with tracking:
        found = work(rows.movedim(0, axis))
    return tracking, owners.look_up(found), rows


def owned_by(found, rows):
    """Return a mask for each example, of the numbers that are said to be its own."""
    place = torch.arange(found.shape[rows.axis]) // rows.block % EXAMPLES
    shape = [-1 if axis == rows.axis else 1 for axis in range(found.ndim)]
    return [(place == which).view(shape).expand_as(found) for which in range(EXAMPLES)]


@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("name", CASES)
def test_each_operation_on_the_list_keeps_examples_apart(name, axis):
    work, rows = CASES[name], made(axis)
    try:
        work(rows.movedim(0, axis))
    except (RuntimeError, IndexError):
        pytest.skip("not for these sizes")
    tracking, seen, given = run(work, axis, rows, grad=True)
    if tracking.problem is not None or seen.owner is Owner.MIXED:
        return
    for which in range(EXAMPLES):
        other = rows.clone()
        other[which] = made(axis, 1)[which] * 10
        again = run(work, axis, other)[1].tensor
        if seen.rows is None:
            assert torch.equal(seen.tensor, again)
        else:
            others = ~owned_by(again, seen.rows)[which]
            assert torch.allclose(seen.tensor[others], again[others], rtol=1e-5, atol=1e-6)
    if seen.rows is not None and seen.tensor.requires_grad:
        weights = torch.randn_like(seen.tensor)
        for which, own in enumerate(owned_by(seen.tensor, seen.rows)):
            (gradient,) = torch.autograd.grad((seen.tensor * weights * own).sum(), given, retain_graph=True)
            assert not gradient[torch.arange(EXAMPLES) != which].any()


#: Operations that are proved wherever the examples are, or on the first axis.
PROVED = ["exp", "contiguous", "flat at the end", "linear", "embedding", "written", "stacked", "gather"]
PROVED_FIRST = [
    *PROVED, "joined", "layer norm", "group norm", "convolution", "max pool", "attention", "losses", "losses at places",
    "padded", "matmul", "einsum", "own places", "indexed", "turned and flat", "circular", "sum along 1",
    "softmax along 3",
]  # fmt: skip


@pytest.mark.parametrize("name", PROVED_FIRST)
def test_common_operations_are_proved(name):
    for axis in range(3 if name in PROVED else 1):
        tracking, seen, _ = run(CASES[name], axis, made(axis))
        assert tracking.problem is None
        assert seen.owner is Owner.ROWS


def test_most_rules_are_met_by_these_operations():
    """Or a rule could say what it likes."""
    met = set()

    class Met(AxisTracking):
        def _follow(self, func, args, kwargs):
            met.add(func)
            return super()._follow(func, args, kwargs)

    for work, axis in itertools.product(CASES.values(), (0, 1)):
        owners = MemoryOwners(EXAMPLES)
        rows = made(axis)
        owners.mark(rows, Owner.ROWS, ExampleAxis(0))
        try:
            with Met(owners):
                work(rows.movedim(0, axis))
        except (RuntimeError, IndexError):
            continue
    assert len(met & RULES.keys()) > 45


@pytest.mark.parametrize("seed", range(200))
def test_rows_of_a_view_are_those_that_its_numbers_belong_to(seed):
    """Against memory that says of every number whose it is."""
    generator = torch.Generator().manual_seed(seed)

    def draw(most):
        return int(torch.randint(0, most, (1,), generator=generator))

    sizes = [draw(4) + 1 for _ in range(3)]
    axis = draw(4)
    sizes.insert(axis, EXAMPLES)
    owner = torch.arange(EXAMPLES).view([-1 if place == axis else 1 for place in range(4)]).expand(sizes).contiguous()
    span = owner.stride(axis) * owner.element_size()
    for _ in range(30):
        depth = draw(4) + 1
        shape, stride = [draw(7) + 1 for _ in range(depth)], [draw(13) for _ in range(depth)]
        offset = draw(owner.numel())
        if offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)) >= owner.numel():
            continue
        view = owner.as_strided(shape, stride, offset)
        rows = find_example_axis(view, span, EXAMPLES)
        if rows is not None:
            assert view.shape[rows.axis] == rows.block * rows.times * EXAMPLES
            for which, own in enumerate(owned_by(view, rows)):
                assert (view[own] == which).all()


@pytest.mark.parametrize(("width", "known"), [(4, True), (5, False)])
def test_rows_that_reach_into_the_next_example_have_no_example_axis(width, known):
    memory = torch.zeros(4 * EXAMPLES + 1)
    view = memory.as_strided((EXAMPLES, width), (4, 1))
    assert (find_example_axis(view, 4 * memory.element_size(), EXAMPLES) is not None) is known
