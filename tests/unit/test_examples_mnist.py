"""The pieces of the example on MNIST: features are what they say, runs are paid for, kept, and not made twice."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("mnist", "mnist_plans", "mnist_report", "scattering")


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(EXAMPLES))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        import mnist

        yield mnist
    finally:
        torch.set_num_threads(threads)
        sys.path.remove(str(EXAMPLES))
        for name in NAMES:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def pictures():
    return torch.from_numpy(np.random.default_rng(0).random((6, 28, 28), np.float32))


@pytest.fixture
def small(example, monkeypatch, tmp_path):
    """Make a folder with 200 and 50 pictures that show nothing, in the files' own format, and settings to match."""
    generator = np.random.default_rng(1)
    for name in sys.modules["mnist_plans"].FILES:
        count = 200 if name.startswith("train") else 50
        shape = (count, 28, 28) if "images" in name else (count,)
        values = generator.integers(0, 256 if "images" in name else 10, shape, np.uint8)
        head = bytes([0, 0, 8, len(shape)]) + b"".join(side.to_bytes(4, "big") for side in shape)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(head + values.tobytes()))
    few = sys.modules["mnist_plans"].Settings(batch_size=20, iterations=3, clip=0.3, rate=1.0, decay=1e-4)
    for model in ("linear", "cnn"):
        monkeypatch.setitem(example.SETTINGS, model, {3.0: few})
    return tmp_path


def told(example, folder, *more):
    kept = folder / "runs.json"
    example.main(["--data", str(folder), "--kept", str(kept), "--picture", str(folder / "p.png"), *more])
    return json.loads(kept.read_text())


def test_features_are_convolutions_moduli_and_averages_written_out_plainly(example, pictures):
    """At full resolution, without folding; coarse parts are read at every other point, as the features are."""
    parts = sys.modules["scattering"]
    waves = torch.fft.fft2(torch.nn.functional.pad(pictures, (2, 2, 2, 2)))
    smooth = parts._gabor(1.6, 0.0, 0.0, 1.0)

    def average(picture, step):
        thin = torch.zeros_like(picture)
        thin[..., ::step, ::step] = picture[..., ::step, ::step] * step**2
        return torch.fft.ifft2(torch.fft.fft2(thin) * smooth).real[..., 4::4, 4::4]

    def modulus(picture, scale, angle):
        return torch.fft.ifft2(torch.fft.fft2(picture) * parts._morlet(scale, angle)).abs()

    padded = torch.fft.ifft2(waves).real
    fine = [modulus(padded, 0, angle) for angle in range(8)]
    expected = [average(padded, 1), *(average(one, 1) for one in fine)]
    expected += [average(modulus(one, 1, angle), 2) for one in (padded, *fine) for angle in range(8)]
    found = parts.scattering(pictures)
    assert found.shape == (6, 81, 7, 7)
    # Folding takes what is above half the band for what is below it: little, and not nothing.
    assert (found - torch.stack(expected, 1)).abs().max() < 0.02 * found.abs().max()


def test_the_features_of_a_picture_hang_on_no_other(example, pictures):
    features = sys.modules["scattering"].features
    together = features(pictures)
    assert together.shape == (6, 3969)
    alone = torch.cat([features(pictures[place : place + 1]) for place in range(6)])
    assert (together - alone).abs().max() < 1e-4  # floats, in another order


def test_a_plan_of_every_row_keeps_the_epsilon_that_it_names(example):
    for model, rows in example.SETTINGS.items():
        for epsilon, how in rows.items():
            training = example.plan(model, epsilon, how, 60_000, sums="exact", run=0)
            assert 0.98 * epsilon < training.epsilon_after(training.checkpoints) <= epsilon
            assert sum(segment.iterations for segment in training.segments) == how.iterations


def test_runs_are_paid_kept_and_not_made_twice(example, small, capsys):
    report = small / "mnist.md"
    first = told(example, small, "--runs", "2", "--report", str(report), "--cache", str(small / "cache"))
    assert [(run["model"], run["run"]) for run in first] == [("linear", 0), ("linear", 1), ("cnn", 0), ("cnn", 1)]
    assert all(0 <= run["accuracy"] <= 1 and "ε" in run["guarantee"] for run in first)
    shown = capsys.readouterr().out
    assert "[2/2] linear, ε = 3" in shown
    assert "network from scratch" in shown
    assert (small / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "| scattering, linear | 3 | 2 |" in report.read_text(encoding="utf-8")
    again = told(example, small, "--runs", "3", "--model", "linear", "--cache", str(small / "cache"))
    assert again[:4] == first
    assert [(run["model"], run["run"]) for run in again[4:]] == [("linear", 2)]


def test_runs_with_other_settings_are_other_runs(example, small, monkeypatch):
    told(example, small, "--runs", "1", "--model", "cnn")
    other = sys.modules["mnist_plans"].Settings(batch_size=20, iterations=2, clip=0.3, rate=1.0)
    monkeypatch.setitem(example.SETTINGS, "cnn", {3.0: other})
    runs = told(example, small, "--runs", "1", "--model", "cnn")
    assert [run["settings"]["iterations"] for run in runs] == [3, 2]
    assert [len(some) for some in sys.modules["mnist_report"].groups(runs).values()] == [1]


def test_without_the_files_it_says_what_to_pass(example, tmp_path):
    with pytest.raises(SystemExit, match="--data FOLDER"):
        told(example, tmp_path, "--runs", "1")


def test_an_epsilon_without_settings_is_refused_with_those_that_have_them(example, tmp_path):
    with pytest.raises(SystemExit, match=r"linear 0\.5, 1, 2, 3; cnn 3"):
        told(example, tmp_path, "--epsilon", "5")
