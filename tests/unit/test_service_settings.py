"""`[service]` of a `discreet.toml`: what it may say, and how a dataset is called."""

from fractions import Fraction

import pytest

from discreet.core import DiscreetError
from discreet.service.settings import ServiceSettings, dataset_name, read_service_settings

SAID = """\
[service]
name = "clinic"
workers = 3
slot = "250ms"
memory = "2GB"
certificate = "tls.pem"
key = "tls.key"
origins = ["https://tools.example.org"]
pay_off = ["grafana"]
requests_per_minute = 10
questions_at_once = 2
epsilon_per_hour = 0.1
"""


def written(folder, text, name="discreet.toml"):
    (folder / name).write_text(text)
    return folder / name


def test_settings_are_read_exactly_and_files_are_beside_them(tmp_path):
    found = read_service_settings(written(tmp_path, SAID))
    assert (found.name, found.workers, found.slot, found.memory) == ("clinic", 3, Fraction(1, 4), 2 * 10**9)
    assert (found.certificate, found.key) == (tmp_path / "tls.pem", tmp_path / "tls.key")
    assert (found.origins, found.pay_off) == (("https://tools.example.org",), {"grafana"})
    limits = found.limits
    assert (limits.requests, limits.at_once, limits.epsilon_per_hour) == (10, 2, Fraction(1, 10))
    assert read_service_settings(written(tmp_path, "")) == ServiceSettings()


@pytest.mark.parametrize(
    "said",
    [
        "service = 1",
        "[service]\nworker = 1",
        "[service]\nworkers = 0",
        "[service]\nworkers = 1.5",
        "[service]\nslot = 3",
        '[service]\ncertificate = "a.pem"',
        '[service]\nhost = ""',
        '[service]\nname = "a/b"',
        '[service]\norigins = "https://a"',
        '[service]\norigins = ["javascript:alert(1)"]',
        '[service]\npay_off = ["a b"]',
        "[service]\nepsilon_per_hour = 0",
        "[service]\nrequests_per_minute = 0",
    ],
)
def test_wrong_settings_are_refused_with_a_fix(tmp_path, said):
    with pytest.raises(DiscreetError) as refused:
        read_service_settings(written(tmp_path, said))
    assert refused.value.fix


def test_a_dataset_is_called_as_it_says_or_as_its_file_or_its_folder(tmp_path):
    folder = tmp_path / "clinic"
    folder.mkdir()
    assert dataset_name(folder / "discreet.toml", ServiceSettings()) == "clinic"
    assert dataset_name(folder / "census.toml", ServiceSettings()) == "census"
    assert dataset_name(folder / "census.toml", ServiceSettings(name="other")) == "other"
    with pytest.raises(DiscreetError, match="cannot stand in an address"):
        dataset_name(tmp_path / "a b.toml", ServiceSettings())
