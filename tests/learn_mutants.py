"""Planted bugs in private training, and the tests that must catch each."""

from mutant import Mutant

LAYERS = "contracts/test_learn_layers.py"

LEARN_MUTANTS = [
    Mutant(
        "an example's gradient is not clipped",
        "learn/torch/sums.py",
        "return (float(self.bound) / norms).clamp(max=1)",
        "return (float(self.bound) / norms).clamp(min=1, max=1)",
        LAYERS,
    ),
    Mutant(
        "the norm of integers is not checked",
        "learn/torch/sums.py",
        "for each in integers]) <= bound * bound",
        "for each in integers]) >= 0",
        LAYERS,
    ),
    Mutant(
        "the norm of an outer product forgets one of its factors",
        "learn/torch/grid.py",
        "return integer_squares(self.gradient) * integer_squares(self.inputs)",
        "return integer_squares(self.gradient)",
        LAYERS,
    ),
    Mutant(
        "integers that are too long are kept as they are",
        "learn/torch/grid.py",
        "        self.gradient[~kept] = 0\n",
        "        self.gradient[~kept] += 0\n",
        LAYERS,
    ),
    Mutant(
        "products of integers are summed in 32 bits whatever their size",
        "learn/torch/grid.py",
        'narrow = len(self.inputs) * bound <= EXACT_32 and torch.get_float32_matmul_precision() == "highest"',
        "narrow = True",
        LAYERS,
    ),
    Mutant(
        "the bias is forgotten in the norm of a convolution",
        "learn/torch/convolution.py",
        "return gradient.flatten(2).sum(2)",
        "return gradient.flatten(2)[:, :, 0]",
        LAYERS,
    ),
    Mutant(
        "a word that an example repeats counts as several",
        "learn/torch/embedding.py",
        "places, which = self._places(inputs, weight).unique(return_inverse=True)",
        "places = self._places(inputs, weight); which = torch.arange(len(places))",
        LAYERS,
    ),
    Mutant(
        "only the first use of a shared weight is clipped",
        "learn/torch/gradients.py",
        "for use in self.uses[1:]:\n            total = total + use.each(some)",
        "for use in self.uses[1:1]:\n            total = total + use.each(some)",
        LAYERS,
    ),
    Mutant(
        "uses without a rule are lost",
        "learn/torch/passes.py",
        "if grad is not None or id(parameter) in strange)",
        "if id(parameter) in strange)",
        LAYERS,
    ),
    Mutant(
        "positions are taken for examples",
        "learn/torch/passes.py",
        "if grad is not None or id(parameter) in strange)",
        "if grad is not None)",
        LAYERS,
    ),
    Mutant(
        "models that mix examples are not probed",
        "learn/torch/passes.py",
        "if form not in self.probed and examples > 1:",
        "if form not in self.probed and examples > 10**9:",
        LAYERS,
    ),
    Mutant(
        "a pass of another form is not probed again",
        "learn/torch/passes.py",
        "if not self.careful and (odd or form not in self.probed):",
        "if not self.careful and odd:",
        LAYERS,
    ),
    Mutant(
        "gradients on the way to a parameter are dropped",
        "learn/torch/tape.py",
        "of_weight and not tape.knows(weight), of_bias and not tape.knows(bias)",
        "False, False",
        LAYERS,
    ),
    Mutant(
        "batch norm is let in while it learns its statistics",
        "learn/torch/refusals.py",
        "if module.training or module.running_mean is None:",
        "if module.running_mean is None:",
        LAYERS,
    ),
    Mutant(
        "running state carries private data past the noise",
        "learn/torch/refusals.py",
        "if buffer is not other or version != later:",
        "if buffer is not other:",
        LAYERS,
    ),
    Mutant(
        "an example that only fills up a batch is summed",
        "learn/torch/sums.py",
        "kept = within & counted",
        "kept = within",
        LAYERS,
    ),
    Mutant(
        "a gradient that is not a number is summed",
        "learn/torch/sums.py",
        "if not torch.isfinite(norms).all():",
        "if norms.isnan().all():",
        LAYERS,
    ),
]
