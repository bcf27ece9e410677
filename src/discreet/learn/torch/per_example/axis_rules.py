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

from discreet.learn.torch.per_example.example_axes import ExampleAxis, Owner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from discreet.learn.torch.per_example.example_axes import Operand

    Results = tuple["ExampleAxis | str | None", ...]
    #: From arguments by name and a tensor's owner to what the results are.
    Rule = Callable[[dict[str, Any], Callable[[Any], Operand]], Results]

MIXING: Final = "mixing"
MIXED: Final[tuple[str]] = (MIXING,)
aten = torch.ops.aten


def broadcast(tensors: Iterable[Operand]) -> Results:
    """Align tensors from the last axis on: examples meet examples, or what is the same along their axis."""
    place, depth = None, 0
    tensors = list(tensors)
    for operand in tensors:
        depth = max(depth, operand.tensor.ndim)
        if operand.rows is not None:
            here = (operand.rows.axis - operand.tensor.ndim, operand.rows.block, operand.rows.times)
            if place is not None and here != place:
                return MIXED
            place = here
    if place is None:
        return (None,)
    if not all(operand.is_equal_along(place[0]) for operand in tensors if operand.rows is None):
        return MIXED  # would depend on the place in the batch
    return (ExampleAxis(depth + place[0], *place[1:]),)


def _tensors(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> list[Operand]:
    return [see(value) for value in arguments.values() if isinstance(value, torch.Tensor)]


def track_pointwise(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Compute number by number, with broadcasting."""
    return broadcast(_tensors(arguments, see))


def track_pointwise_loss(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Compute a loss that is not added up."""
    return track_pointwise(arguments, see) if arguments["reduction"] == 0 else MIXED


def track_two_pointwise(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Compute number by number, with a second result for the backward pass."""
    return track_pointwise(arguments, see) * 2


def _only(arguments: dict[str, Any], see: Callable[[Any], Operand], name: str) -> Operand | None:
    """Return the one tensor with rows if it has this name and no other argument has rows, be it the same tensor."""
    first = see(arguments[name])
    others = _tensors({other: value for other, value in arguments.items() if other != name}, see)
    return first if first.rows is not None and all(other.rows is None for other in others) else None


def _axes(value: Any, depth: int) -> set[int]:
    """Return axes as numbers from 0; none given are all."""
    named = [value] if isinstance(value, int) else list(value or ())
    return {axis % depth for axis in named} if named else set(range(depth))


def reduction(results: int = 1) -> Rule:
    """Add up, or take the largest, over axes without the examples."""

    def rule(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
        operand = _only(arguments, see, "self")
        if operand is None or operand.rows is None:
            return MIXED
        axes = _axes(arguments["dim"], operand.tensor.ndim)
        if operand.rows.axis in axes:
            return MIXED
        ahead = 0 if arguments["keepdim"] else sum(axis < operand.rows.axis for axis in axes)
        return (operand.rows._replace(axis=operand.rows.axis - ahead),) * results

    return rule


def along(results: int = 1, name: str = "dim") -> Rule:
    """Work along axes without the examples, and keep the number of axes: softmax, cumulative sums, sorting, flips."""

    def rule(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
        operand = _only(arguments, see, "self")
        if operand is None or operand.rows is None or operand.rows.axis in _axes(arguments[name], operand.tensor.ndim):
            return MIXED
        return (operand.rows,) * results

    return rule


def ahead_of(count: Callable[[dict[str, Any]], int], results: int = 1, name: str = "self") -> Rule:
    """Work on the last axes only: pooling, padding, resizing, layer norm, triangles."""

    def rule(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
        operand = _only(arguments, see, name)
        if operand is None or operand.rows is None or operand.rows.axis >= operand.tensor.ndim - count(arguments):
            return MIXED
        return (operand.rows,) * results

    return rule


def last(axes: int, results: int = 1) -> Rule:
    """Work on so many last axes."""
    return ahead_of(lambda _: axes, results)


def first_axis(results: int = 1, name: str = "input") -> Rule:
    """Work on each part along the first axis by itself: convolutions, group norm."""

    def rule(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
        operand = _only(arguments, see, name)
        if operand is None or operand.rows is None or operand.rows.axis:
            return MIXED
        return (operand.rows,) * results

    return rule


def track_group_norm(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Normalise each part along the first axis by itself."""
    return first_axis(3)(arguments, see) if arguments["N"] == len(arguments["input"]) else MIXED


def track_fixed_norm(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Batch norm by statistics that are the same for all; it returns no others."""
    results = first_axis()(arguments, see)
    return MIXED * 3 if arguments.get("training") else (results[0], None, None)


def _track_product(left: Operand, right: Operand) -> Results:
    """Matrices, of which the left one's rows or the right one's columns are examples, or the batch's axis."""
    batched = left.tensor.ndim == 3
    if left.rows is not None and right.rows is not None:
        return (left.rows,) if batched and left.rows == right.rows and left.rows.axis == 0 else MIXED
    if left.rows is not None:
        if batched and left.rows.axis == 0:
            return (left.rows,) if right.is_equal_along(-3) else MIXED
        return (left.rows,) if left.rows.axis == left.tensor.ndim - 2 else MIXED
    if right.rows is None:
        return (None,)
    if batched and right.rows.axis == 0:
        return (right.rows,) if left.is_equal_along(-3) else MIXED
    return (right.rows,) if right.rows.axis == right.tensor.ndim - 1 else MIXED


def product(left: str, right: str) -> Rule:
    """Multiply matrices, perhaps adding something to the result."""

    def rule(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
        result = _track_product(see(arguments[left]), see(arguments[right]))[0]
        if left == "self" or result == MIXING:
            return (result,)
        return _track_addition(result, see(arguments["self"]), see(arguments[left]).tensor.ndim)

    return rule


def _track_addition(result: ExampleAxis | str | None, start: Operand, depth: int) -> Results:
    """Add a tensor to a product of so many axes."""
    if not isinstance(result, ExampleAxis):
        return MIXED if start.rows is not None else (result,)
    axis = result.axis - depth
    if start.rows is None:
        return (result,) if start.is_equal_along(axis) else MIXED
    here = start.rows._replace(axis=start.rows.axis - start.tensor.ndim)
    return (result,) if here == result._replace(axis=axis) else MIXED


def track_matrix_vector(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Multiply rows by one vector."""
    operand = _only(arguments, see, "self")
    return (operand.rows,) if operand is not None and operand.rows is not None and operand.rows.axis == 0 else MIXED


def track_embedding(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Look up numbers in a table that is the same for all."""
    operand = _only(arguments, see, "indices")
    return MIXED if operand is None else (operand.rows,)


def track_join(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Put tensors one after another along an axis without the examples."""
    parts = [see(tensor) for tensor in arguments["tensors"] if tensor.numel() or tensor.ndim != 1]
    depth = parts[0].tensor.ndim
    results = broadcast(parts)
    if any(part.tensor.ndim != depth for part in parts) or not isinstance(results[0], ExampleAxis):
        return MIXED
    return MIXED if results[0].axis == arguments["dim"] % depth else results


def track_stack(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Put tensors one after another along a new axis."""
    parts = [see(tensor) for tensor in arguments["tensors"]]
    result = broadcast(parts)[0]
    if not isinstance(result, ExampleAxis):
        return MIXED
    return (result._replace(axis=result.axis + (arguments["dim"] % (parts[0].tensor.ndim + 1) <= result.axis)),)


def track_repeat(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Repeat a tensor along axes without the examples."""
    operand, counts = see(arguments["self"]), arguments["repeats"]
    if operand.rows is None:
        return MIXED
    axis = operand.rows.axis + len(counts) - operand.tensor.ndim
    return (operand.rows._replace(axis=axis),) if counts[axis] == 1 else MIXED


def track_selection(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Choose places along an axis without the examples; the same ones for all."""
    operand = _only(arguments, see, "self")
    if operand is None or operand.rows is None or operand.rows.axis in _axes(arguments["dim"], operand.tensor.ndim):
        return MIXED
    return (operand.rows,)


def track_gather(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Read or write along an axis without the examples, at places of each example's own."""
    parts = _tensors(arguments, see)
    depth = parts[0].tensor.ndim
    result = broadcast(parts)[0]
    if not isinstance(result, ExampleAxis) or any(part.tensor.ndim != depth for part in parts):
        return MIXED
    lengths = {part.tensor.shape[result.axis] for part in parts}
    return MIXED if len(lengths) > 1 or result.axis == arguments["dim"] % depth else (result,)


def track_index(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Read at numbered places: x[:, places], where every example is read alike; or a public table at an example's."""
    operand, indices = see(arguments["self"]), arguments["indices"]
    used = [(axis, see(index)) for axis, index in enumerate(indices) if index is not None]
    if any(index.tensor.dtype not in (torch.int64, torch.int32) for _, index in used):
        return MIXED  # a mask: how many places it chooses depends on values
    if _reads_own_rows(operand, used):
        return (ExampleAxis(0),)
    axes = [axis for axis, _ in used]
    start, together = axes[0], axes == list(range(axes[0], axes[0] + len(axes)))
    place = broadcast(index for _, index in used)[0]
    depth = max(index.tensor.ndim for _, index in used)
    if not together or place == MIXING:
        return MIXED
    if operand.rows is None:
        return (place._replace(axis=place.axis + start),) if isinstance(place, ExampleAxis) else (None,)
    if isinstance(place, ExampleAxis) or operand.rows.axis in axes:
        return MIXED
    return (operand.rows._replace(axis=operand.rows.axis + (depth - len(axes) if operand.rows.axis > start else 0)),)


def _reads_own_rows(operand: Operand, used: list[tuple[int, Operand]]) -> bool:
    """Tell whether x[arange(n), y] reads from every row its own places y, one for each."""
    if operand.rows != ExampleAxis(0) or used[0][0] != 0:
        return False
    first, others = used[0][1], [index for _, index in used[1:]]
    rows = len(operand.tensor)
    if first.owner > Owner.UNIFORM or first.tensor.shape != (rows,):
        return False
    if not all(other.tensor.ndim <= 1 and (other.rows == ExampleAxis(0) or other.rows is None) for other in others):
        return False
    if not all(other.rows is not None or other.is_equal_along(-1) for other in others):
        return False
    # The index is public: looking at it tells nothing.
    return bool(torch.equal(first.tensor, torch.arange(rows, dtype=first.tensor.dtype)))


def track_class_loss(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Read off each example's own class; the second result, a total weight, is not made without a sum."""
    operand, target = see(arguments["self"]), see(arguments["target"])
    weight = arguments.get("weight")
    alike = operand.rows is not None and operand.rows.axis == 0 and operand.rows == target.rows
    public = weight is None or see(weight).rows is None
    return (
        (operand.rows, None)
        if alike and public and arguments["reduction"] == 0 and operand.tensor.ndim > 1
        else MIXED * 2
    )


def track_attention(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Let the positions of each example attend to each other."""
    parts = [see(arguments[name]) for name in ("query", "key", "value")]
    if arguments.get("attn_mask") is not None:
        parts.append(see(arguments["attn_mask"]))
    first = parts[0].rows
    whole = all(part.rows == first or (part.rows is None and part.is_equal_along(-4)) for part in parts)
    deep = all(part.rows is None or part.tensor.ndim == 4 for part in parts)
    fits = first is not None and first.axis == 0 and whole and deep
    return (first, first) if fits and not arguments.get("dropout_p") else MIXED * 2


def track_class_draw(arguments: dict[str, Any], see: Callable[[Any], Operand]) -> Results:
    """Draw classes by each row's own weights."""
    operand = see(arguments["self"])
    return (
        (operand.rows,) if operand.rows is not None and operand.rows.axis == 0 and operand.tensor.ndim == 2 else MIXED
    )


def _count_normalised_axes(arguments: dict[str, Any]) -> int:
    return len(arguments["normalized_shape"])


def _count_padded_axes(arguments: dict[str, Any]) -> int:
    return (len(arguments["pad"]) + 1) // 2


#: Each rule with the operations that follow it, but for those that PyTorch itself marks as pointwise.
# fmt: off
_FOLLOWING: tuple[tuple[Rule, tuple[Any, ...]], ...] = (
    (track_pointwise, (
        aten.copy_.default, aten.fill_.Scalar, aten.fill_.Tensor, aten.zero_.default, aten._to_copy.default,
        aten.zeros_like.default, aten.ones_like.default, aten.full_like.default, aten.empty_like.default,
        aten.hardswish.default, aten.hardswish_.default, aten._prelu_kernel.default, aten.lift_fresh.default,
        aten.floor_divide.default, aten.masked_fill_.Scalar, aten.masked_fill_.Tensor, aten.clone.default,
        aten.bernoulli.default, aten.bernoulli_.float, aten.bernoulli_.Tensor, aten.normal_.default,
        aten.uniform_.default, aten.exponential_.default, aten.rand_like.default, aten.randn_like.default,
        aten.randint_like.default, aten.randint_like.low_dtype, aten.normal.Tensor_Tensor, aten.normal.Tensor_float,
        aten.normal.float_Tensor, aten.poisson.default,
    )),
    (track_two_pointwise, (aten.log_sigmoid_forward.default, aten.native_dropout.default)),
    (track_pointwise_loss, (
        aten.mse_loss.default, aten.smooth_l1_loss.default, aten.huber_loss.default,
        aten.binary_cross_entropy.default, aten.binary_cross_entropy_with_logits.default,
        aten.soft_margin_loss.default,
    )),
    (reduction(), (
        aten.sum.dim_IntList, aten.mean.dim, aten.amax.default, aten.amin.default, aten.logsumexp.default,
        aten.var.correction, aten.std.correction, aten.linalg_vector_norm.default,
        aten.norm.ScalarOpt_dim, aten.argmax.default, aten.argmin.default, aten.nansum.default, aten.any.dim,
        aten.any.dims, aten.all.dim, aten.all.dims,
    )),
    (reduction(2), (
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
    (ahead_of(_count_padded_axes), (aten.constant_pad_nd.default,)),
    (ahead_of(_count_normalised_axes, 3, "input"), (aten.native_layer_norm.default,)),
    (ahead_of(_count_normalised_axes, 2, "input"), (aten._fused_rms_norm.default,)),
    (first_axis(), (aten.convolution.default,)),
    (track_group_norm, (aten.native_group_norm.default,)),
    (track_fixed_norm, (aten.native_batch_norm.default, aten._native_batch_norm_legit_no_training.default)),
    (product("self", "mat2"), (aten.mm.default, aten.bmm.default)),
    (product("mat1", "mat2"), (aten.addmm.default,)),
    (product("batch1", "batch2"), (aten.baddbmm.default,)),
    (track_matrix_vector, (aten.mv.default,)),
    (track_embedding, (aten.embedding.default,)),
    (track_join, (aten.cat.default,)),
    (track_stack, (aten.stack.default,)),
    (track_repeat, (aten.repeat.default,)),
    (track_selection, (aten.index_select.default,)),
    (track_gather, (
        aten.gather.default, aten.scatter.src, aten.scatter.value, aten.scatter_add.default, aten.scatter_.src,
        aten.scatter_.value, aten.scatter_add_.default,
    )),
    (track_index, (aten.index.Tensor,)),
    (track_class_loss, (aten.nll_loss_forward.default, aten.nll_loss2d_forward.default)),
    (track_attention, (aten._scaled_dot_product_flash_attention_for_cpu.default,)),
    (track_class_draw, (aten.multinomial.default,)),
)
# fmt: on
RULES: Final[dict[Any, Rule]] = {operation: rule for rule, operations in _FOLLOWING for operation in operations}
#: Operations that may add up all examples, and are harmless as long as nothing comes of them.
TOTALS: Final = frozenset({
    *(aten.sum.default, aten.mean.default, aten.max.default, aten.min.default, aten.prod.default, aten.dot.default),
    *(aten.any.default, aten.all.default, aten.norm.Scalar),
})  # fmt: skip
