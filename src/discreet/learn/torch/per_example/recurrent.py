"""Recurrent layers, step by step: LSTM, GRU and plain ones are linear layers whose uses are summed.

PyTorch runs them as one function, inside of which no example's gradient can be told. Here each step is written out, and
its two products go through the tape. Packed sequences and projections are left to the fallback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch import Tensor

from discreet.learn.torch.per_example.layers import LinearCall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.learn.torch.per_example.tape import Tape

    #: The state of a step: its output first, and anything else after it.
    Memory = tuple[Tensor, ...]
    #: From both products of a step, and what it remembers, to what it remembers next.
    Step = Callable[[Tensor, Tensor, Memory], Memory]

LINEAR = LinearCall()


def _lstm_step(from_inputs: Tensor, from_memory: Tensor, memory: Memory) -> Memory:
    enter, forget, new, leave = (from_inputs + from_memory).chunk(4, -1)
    cell = forget.sigmoid() * memory[1] + enter.sigmoid() * new.tanh()
    return leave.sigmoid() * cell.tanh(), cell


def _gru_step(from_inputs: Tensor, from_memory: Tensor, memory: Memory) -> Memory:
    (reset, update, new), (old_reset, old_update, old) = from_inputs.chunk(3, -1), from_memory.chunk(3, -1)
    stay = (update + old_update).sigmoid()
    fresh = (new + (reset + old_reset).sigmoid() * old).tanh()
    return ((1 - stay) * fresh + stay * memory[0],)


def _tanh_step(from_inputs: Tensor, from_memory: Tensor, memory: Memory) -> Memory:  # noqa: ARG001 - the same for all steps
    return ((from_inputs + from_memory).tanh(),)


def _relu_step(from_inputs: Tensor, from_memory: Tensor, memory: Memory) -> Memory:  # noqa: ARG001 - same
    return ((from_inputs + from_memory).relu(),)


def _rule(plain: Callable[..., Any], step: Step) -> Callable[..., Any]:
    """Return how a recurrent function is recorded, given what it does in one step."""

    def run(tape: Tape, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != 9 or not isinstance(args[2], list | tuple):  # packed sequences say it otherwise
            return plain(*args, **kwargs)
        inputs, first, weights, biases, layers, dropout, train, both_ways, batch_first = args
        ways = 2 if both_ways else 1
        known = any(tape.knows(weight) for weight in weights)
        if not known or len(weights) != layers * ways * (4 if biases else 2) or inputs.ndim != 3:
            return plain(*args)
        rows = inputs if batch_first else inputs.transpose(0, 1)
        memory = (first,) if isinstance(first, Tensor) else tuple(first)
        last = []
        for layer in range(layers):
            directions = [
                _pass(
                    tape, rows, _of(weights, which, biases), tuple(part[which] for part in memory), step, which % ways
                )
                for which in range(layer * ways, (layer + 1) * ways)
            ]
            rows = torch.cat([outputs for outputs, _ in directions], -1)
            last += [final for _, final in directions]
            if train and dropout and layer < layers - 1:
                rows = F.dropout(rows, dropout)
        outputs = rows if batch_first else rows.transpose(0, 1)
        return outputs, *(torch.stack(part) for part in zip(*last, strict=True))

    return run


def _of(weights: Sequence[Tensor], which: int, biases: bool) -> Sequence[Tensor | None]:  # noqa: FBT001 - PyTorch's own
    """Return the two weights and two biases of one layer in one direction."""
    return weights[4 * which : 4 * which + 4] if biases else [*weights[2 * which : 2 * which + 2], None, None]


def _pass(
    tape: Tape, rows: Tensor, weights: Sequence[Tensor | None], memory: Memory, step: Step, backwards: int
) -> tuple[Tensor, Memory]:
    """Go through the positions of one layer in one direction; return all outputs, and what is remembered at the end."""
    of_inputs, of_memory, input_bias, memory_bias = weights
    from_inputs = _linear(tape, rows, of_inputs, input_bias)
    places = range(rows.shape[1])
    outputs = []
    for place in reversed(places) if backwards else places:
        memory = step(from_inputs[:, place], _linear(tape, memory[0], of_memory, memory_bias), memory)
        outputs.append(memory[0])
    return torch.stack(outputs[::-1] if backwards else outputs, 1), memory


def _linear(tape: Tape, inputs: Tensor, weight: Any, bias: Tensor | None) -> Tensor:
    if tape.knows(weight) or tape.knows(bias):
        return tape.use(LINEAR, inputs, weight, bias)
    return F.linear(inputs, weight, bias)


RULES: dict[Any, Callable[..., Any]] = {
    torch.lstm: _rule(torch.lstm, _lstm_step),
    torch.gru: _rule(torch.gru, _gru_step),
    torch.rnn_tanh: _rule(torch.rnn_tanh, _tanh_step),
    torch.rnn_relu: _rule(torch.rnn_relu, _relu_step),
}
