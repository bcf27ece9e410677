"""Rules for PyTorch operations that keep examples apart: the axis of the examples in their results.

This is an allow-list. A rule is given an operation's arguments by name and what is known of its tensors, and returns
one entry for each result: `Rows`, None for a value that is the same for all examples, or `MIXING`. At least one of the
tensors has rows. An operation without a rule ends the proof, and the pass is done one example at a time.

Each rule states a fact about the operation's *definition*: result row i is a function of row i of its arguments and of
values that are the same for all. Its derivative then has the same form, and so has its backward pass (see `passes`).
Products (`prod`, `cumprod`) have no rule: their backward pass is another one if any example has a zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from discreet.learn.torch.per_example.example_axes import Owner, Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from discreet.learn.torch.per_example.example_axes import Seen

    Results = tuple["Rows | str | None", ...]
    #: From arguments by name and a tensor's owner to what the results are.
    Rule = Callable[[dict[str, Any], Callable[[Any], Seen]], Results]

MIXING: Final = "mixing"
MIXED: Final[tuple[str]] = (MIXING,)
aten = torch.ops.aten


def broadcast(given: Iterable[Seen]) -> Results:
    """Align tensors from the last axis on: examples meet examples, or what is the same along their axis."""
    place, depth = None, 0
    given = list(given)
    for one in given:
        depth = max(depth, one.tensor.ndim)
        if one.rows is not None:
            here = (one.rows.axis - one.tensor.ndim, one.rows.block, one.rows.times)
            if place is not None and here != place:
                return MIXED
            place = here
    if place is None:
        return (None,)
    if not all(one.is_equal_along(place[0]) for one in given if one.rows is None):
        return MIXED  # would depend on the place in the batch
    return (Rows(depth + place[0], *place[1:]),)


def _tensors(given: dict[str, Any], see: Callable[[Any], Seen]) -> list[Seen]:
    return [see(value) for value in given.values() if isinstance(value, torch.Tensor)]


def pointwise(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Compute number by number, with broadcasting."""
    return broadcast(_tensors(given, see))


def pointwise_loss(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Compute a loss that is not added up."""
    return pointwise(given, see) if given["reduction"] == 0 else MIXED


def two_pointwise(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Compute number by number, with a second result for the backward pass."""
    return pointwise(given, see) * 2


def _only(given: dict[str, Any], see: Callable[[Any], Seen], name: str) -> Seen | None:
    """Return the one tensor with rows if it has this name and no other argument has rows, be it the same tensor."""
    first = see(given[name])
    others = _tensors({other: value for other, value in given.items() if other != name}, see)
    return first if first.rows is not None and all(one.rows is None for one in others) else None


def _axes(value: Any, depth: int) -> set[int]:
    """Return axes as numbers from 0; none given are all."""
    named = [value] if isinstance(value, int) else list(value or ())
    return {axis % depth for axis in named} if named else set(range(depth))


def reduced(results: int = 1) -> Rule:
    """Add up, or take the largest, over axes without the examples."""

    def rule(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
        one = _only(given, see, "self")
        if one is None or one.rows is None:
            return MIXED
        axes = _axes(given["dim"], one.tensor.ndim)
        if one.rows.axis in axes:
            return MIXED
        ahead = 0 if given["keepdim"] else sum(axis < one.rows.axis for axis in axes)
        return (one.rows._replace(axis=one.rows.axis - ahead),) * results

    return rule


def along(results: int = 1, name: str = "dim") -> Rule:
    """Work along axes without the examples, and keep the number of axes: softmax, cumulative sums, sorting, flips."""

    def rule(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
        one = _only(given, see, "self")
        if one is None or one.rows is None or one.rows.axis in _axes(given[name], one.tensor.ndim):
            return MIXED
        return (one.rows,) * results

    return rule


def ahead_of(count: Callable[[dict[str, Any]], int], results: int = 1, name: str = "self") -> Rule:
    """Work on the last axes only: pooling, padding, resizing, layer norm, triangles."""

    def rule(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
        one = _only(given, see, name)
        if one is None or one.rows is None or one.rows.axis >= one.tensor.ndim - count(given):
            return MIXED
        return (one.rows,) * results

    return rule


def last(axes: int, results: int = 1) -> Rule:
    """Work on so many last axes."""
    return ahead_of(lambda _: axes, results)


def first_axis(results: int = 1, name: str = "input") -> Rule:
    """Work on each part along the first axis by itself: convolutions, group norm."""

    def rule(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
        one = _only(given, see, name)
        if one is None or one.rows is None or one.rows.axis:
            return MIXED
        return (one.rows,) * results

    return rule


def group_norm(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Normalise each part along the first axis by itself."""
    return first_axis(3)(given, see) if given["N"] == len(given["input"]) else MIXED


def fixed_norm(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Batch norm by statistics that are the same for all; it returns no others."""
    found = first_axis()(given, see)
    return MIXED * 3 if given.get("training") else (found[0], None, None)


def _product(one: Seen, other: Seen) -> Results:
    """Matrices, of which the left one's rows or the right one's columns are examples, or the batch's axis."""
    batched = one.tensor.ndim == 3
    if one.rows is not None and other.rows is not None:
        return (one.rows,) if batched and one.rows == other.rows and one.rows.axis == 0 else MIXED
    if one.rows is not None:
        if batched and one.rows.axis == 0:
            return (one.rows,) if other.is_equal_along(-3) else MIXED
        return (one.rows,) if one.rows.axis == one.tensor.ndim - 2 else MIXED
    if other.rows is None:
        return (None,)
    if batched and other.rows.axis == 0:
        return (other.rows,) if one.is_equal_along(-3) else MIXED
    return (other.rows,) if other.rows.axis == other.tensor.ndim - 1 else MIXED


def product(left: str, right: str) -> Rule:
    """Multiply matrices, perhaps adding something to the result."""

    def rule(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
        found = _product(see(given[left]), see(given[right]))[0]
        if left == "self" or found == MIXING:
            return (found,)
        return _added(found, see(given["self"]), see(given[left]).tensor.ndim)

    return rule


def _added(found: Rows | str | None, start: Seen, depth: int) -> Results:
    """Add a tensor to a product of so many axes."""
    if not isinstance(found, Rows):
        return MIXED if start.rows is not None else (found,)
    axis = found.axis - depth
    if start.rows is None:
        return (found,) if start.is_equal_along(axis) else MIXED
    here = start.rows._replace(axis=start.rows.axis - start.tensor.ndim)
    return (found,) if here == found._replace(axis=axis) else MIXED


def matrix_vector(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Multiply rows by one vector."""
    one = _only(given, see, "self")
    return (one.rows,) if one is not None and one.rows is not None and one.rows.axis == 0 else MIXED


def embedding(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Look up numbers in a table that is the same for all."""
    one = _only(given, see, "indices")
    return MIXED if one is None else (one.rows,)


def joined(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Put tensors one after another along an axis without the examples."""
    parts = [see(tensor) for tensor in given["tensors"] if tensor.numel() or tensor.ndim != 1]
    depth = parts[0].tensor.ndim
    found = broadcast(parts)
    if any(part.tensor.ndim != depth for part in parts) or not isinstance(found[0], Rows):
        return MIXED
    return MIXED if found[0].axis == given["dim"] % depth else found


def stacked(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Put tensors one after another along a new axis."""
    parts = [see(tensor) for tensor in given["tensors"]]
    found = broadcast(parts)[0]
    if not isinstance(found, Rows):
        return MIXED
    return (found._replace(axis=found.axis + (given["dim"] % (parts[0].tensor.ndim + 1) <= found.axis)),)


def repeated(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Repeat a tensor along axes without the examples."""
    one, counts = see(given["self"]), given["repeats"]
    if one.rows is None:
        return MIXED
    axis = one.rows.axis + len(counts) - one.tensor.ndim
    return (one.rows._replace(axis=axis),) if counts[axis] == 1 else MIXED


def chosen(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Choose places along an axis without the examples; the same ones for all."""
    one = _only(given, see, "self")
    if one is None or one.rows is None or one.rows.axis in _axes(given["dim"], one.tensor.ndim):
        return MIXED
    return (one.rows,)


def gathered(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Read or write along an axis without the examples, at places of each example's own."""
    parts = _tensors(given, see)
    depth = parts[0].tensor.ndim
    found = broadcast(parts)[0]
    if not isinstance(found, Rows) or any(part.tensor.ndim != depth for part in parts):
        return MIXED
    lengths = {part.tensor.shape[found.axis] for part in parts}
    return MIXED if len(lengths) > 1 or found.axis == given["dim"] % depth else (found,)


def indexed(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Read at numbered places: x[:, places], where every example is read alike; or a public table at an example's."""
    one, indices = see(given["self"]), given["indices"]
    used = [(axis, see(index)) for axis, index in enumerate(indices) if index is not None]
    if any(index.tensor.dtype not in (torch.int64, torch.int32) for _, index in used):
        return MIXED  # a mask: how many places it chooses depends on values
    if _own_rows(one, used):
        return (Rows(0),)
    axes = [axis for axis, _ in used]
    start, together = axes[0], axes == list(range(axes[0], axes[0] + len(axes)))
    place = broadcast(index for _, index in used)[0]
    depth = max(index.tensor.ndim for _, index in used)
    if not together or place == MIXING:
        return MIXED
    if one.rows is None:
        return (place._replace(axis=place.axis + start),) if isinstance(place, Rows) else (None,)
    if isinstance(place, Rows) or one.rows.axis in axes:
        return MIXED
    return (one.rows._replace(axis=one.rows.axis + (depth - len(axes) if one.rows.axis > start else 0)),)


def _own_rows(one: Seen, used: list[tuple[int, Seen]]) -> bool:
    """Tell whether x[arange(n), y] reads from every row its own places y, one for each."""
    if one.rows != Rows(0) or used[0][0] != 0:
        return False
    first, others = used[0][1], [index for _, index in used[1:]]
    rows = len(one.tensor)
    if first.owner > Owner.UNIFORM or first.tensor.shape != (rows,):
        return False
    if not all(other.tensor.ndim <= 1 and (other.rows == Rows(0) or other.rows is None) for other in others):
        return False
    if not all(other.rows is not None or other.is_equal_along(-1) for other in others):
        return False
    # The index is public: looking at it tells nothing.
    return bool(torch.equal(first.tensor, torch.arange(rows, dtype=first.tensor.dtype)))


def chosen_loss(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Read off each example's own class; the second result, a total weight, is not made without a sum."""
    one, target = see(given["self"]), see(given["target"])
    weight = given.get("weight")
    alike = one.rows is not None and one.rows.axis == 0 and one.rows == target.rows
    public = weight is None or see(weight).rows is None
    return (one.rows, None) if alike and public and given["reduction"] == 0 and one.tensor.ndim > 1 else MIXED * 2


def attention(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Let the positions of each example attend to each other."""
    parts = [see(given[name]) for name in ("query", "key", "value")]
    if given.get("attn_mask") is not None:
        parts.append(see(given["attn_mask"]))
    first = parts[0].rows
    whole = all(part.rows == first or (part.rows is None and part.is_equal_along(-4)) for part in parts)
    deep = all(part.rows is None or part.tensor.ndim == 4 for part in parts)
    fits = first is not None and first.axis == 0 and whole and deep
    return (first, first) if fits and not given.get("dropout_p") else MIXED * 2


def drawn_choice(given: dict[str, Any], see: Callable[[Any], Seen]) -> Results:
    """Draw classes by each row's own weights."""
    one = see(given["self"])
    return (one.rows,) if one.rows is not None and one.rows.axis == 0 and one.tensor.ndim == 2 else MIXED


def _normalised(given: dict[str, Any]) -> int:
    return len(given["normalized_shape"])


def _padded(given: dict[str, Any]) -> int:
    return (len(given["pad"]) + 1) // 2


#: Each rule with the operations that follow it, but for those that PyTorch itself marks as pointwise.
# fmt: off
_FOLLOWING: tuple[tuple[Rule, tuple[Any, ...]], ...] = (
    (pointwise, (
        aten.copy_.default, aten.fill_.Scalar, aten.fill_.Tensor, aten.zero_.default, aten._to_copy.default,
        aten.zeros_like.default, aten.ones_like.default, aten.full_like.default, aten.empty_like.default,
        aten.hardswish.default, aten.hardswish_.default, aten._prelu_kernel.default, aten.lift_fresh.default,
        aten.floor_divide.default, aten.masked_fill_.Scalar, aten.masked_fill_.Tensor, aten.clone.default,
        aten.bernoulli.default, aten.bernoulli_.float, aten.bernoulli_.Tensor, aten.normal_.default,
        aten.uniform_.default, aten.exponential_.default, aten.rand_like.default, aten.randn_like.default,
        aten.randint_like.default, aten.randint_like.low_dtype, aten.normal.Tensor_Tensor, aten.normal.Tensor_float,
        aten.normal.float_Tensor, aten.poisson.default,
    )),
    (two_pointwise, (aten.log_sigmoid_forward.default, aten.native_dropout.default)),
    (pointwise_loss, (
        aten.mse_loss.default, aten.smooth_l1_loss.default, aten.huber_loss.default,
        aten.binary_cross_entropy.default, aten.binary_cross_entropy_with_logits.default,
        aten.soft_margin_loss.default,
    )),
    (reduced(), (
        aten.sum.dim_IntList, aten.mean.dim, aten.amax.default, aten.amin.default, aten.logsumexp.default,
        aten.var.correction, aten.std.correction, aten.linalg_vector_norm.default,
        aten.norm.ScalarOpt_dim, aten.argmax.default, aten.argmin.default, aten.nansum.default, aten.any.dim,
        aten.any.dims, aten.all.dim, aten.all.dims,
    )),
    (reduced(2), (
        aten.max.dim, aten.min.dim, aten.median.dim, aten.mode.default, aten.kthvalue.default,
        aten.var_mean.correction, aten.std_mean.correction,
    )),
    (along(), (
        aten._softmax.default, aten._log_softmax.default, aten._safe_softmax.default, aten.glu.default,
        aten.cumsum.default, aten.logcumsumexp.default, aten.argsort.default,
        aten._fft_r2c.default, aten._fft_c2r.default, aten._fft_c2c.default,
    )),
    (along(2), (aten.sort.default, aten.sort.stable, aten.topk.default, aten.cummax.default, aten.cummin.default)),
    (along(name="dims"), (aten.flip.default, aten.roll.default)),
    (last(2), (
        aten.tril.default, aten.triu.default, aten.avg_pool2d.default, aten._adaptive_avg_pool2d.default,
        aten.upsample_nearest2d.default, aten.upsample_bilinear2d.default, aten.upsample_bicubic2d.default,
        aten.upsample_nearest2d.vec, aten.upsample_bilinear2d.vec, aten.upsample_bicubic2d.vec,
        aten.reflection_pad2d.default, aten.replication_pad2d.default,
    )),
    (last(1), (
        aten.reflection_pad1d.default, aten.replication_pad1d.default, aten.upsample_nearest1d.default,
        aten.upsample_linear1d.default, aten.upsample_nearest1d.vec, aten.upsample_linear1d.vec,
    )),
    (last(3), (aten.avg_pool3d.default, aten._adaptive_avg_pool3d.default, aten.pixel_shuffle.default)),
    (last(2, 2), (aten.max_pool2d_with_indices.default, aten.adaptive_max_pool2d.default)),
    (last(3, 2), (aten.max_pool3d_with_indices.default, aten.adaptive_max_pool3d.default)),
    (ahead_of(_padded), (aten.constant_pad_nd.default,)),
    (ahead_of(_normalised, 3, "input"), (aten.native_layer_norm.default,)),
    (ahead_of(_normalised, 2, "input"), (aten._fused_rms_norm.default,)),
    (first_axis(), (aten.convolution.default,)),
    (group_norm, (aten.native_group_norm.default,)),
    (fixed_norm, (aten.native_batch_norm.default, aten._native_batch_norm_legit_no_training.default)),
    (product("self", "mat2"), (aten.mm.default, aten.bmm.default)),
    (product("mat1", "mat2"), (aten.addmm.default,)),
    (product("batch1", "batch2"), (aten.baddbmm.default,)),
    (matrix_vector, (aten.mv.default,)),
    (embedding, (aten.embedding.default,)),
    (joined, (aten.cat.default,)),
    (stacked, (aten.stack.default,)),
    (repeated, (aten.repeat.default,)),
    (chosen, (aten.index_select.default,)),
    (gathered, (
        aten.gather.default, aten.scatter.src, aten.scatter.value, aten.scatter_add.default, aten.scatter_.src,
        aten.scatter_.value, aten.scatter_add_.default,
    )),
    (indexed, (aten.index.Tensor,)),
    (chosen_loss, (aten.nll_loss_forward.default, aten.nll_loss2d_forward.default)),
    (attention, (aten._scaled_dot_product_flash_attention_for_cpu.default,)),
    (drawn_choice, (aten.multinomial.default,)),
)
# fmt: on
RULES: Final[dict[Any, Rule]] = {operation: rule for rule, operations in _FOLLOWING for operation in operations}
#: Operations that may add up all examples, and are harmless as long as nothing comes of them.
TOTALS: Final = frozenset({
    *(aten.sum.default, aten.mean.default, aten.max.default, aten.min.default, aten.prod.default, aten.dot.default),
    *(aten.any.default, aten.all.default, aten.norm.Scalar),
})  # fmt: skip
