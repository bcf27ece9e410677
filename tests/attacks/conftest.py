"""Settings that all attacks share."""

import pytest


@pytest.fixture(autouse=True)
def state(tmp_path_factory, monkeypatch):
    """Keep anchors out of the user's state."""
    place = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("DISCREET_STATE", str(place))
    return place
