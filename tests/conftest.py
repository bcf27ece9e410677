"""Settings that all tests share."""

from hypothesis import settings

# Derandomised, so that a red run is a change's fault; no deadline, as machines are shared.
settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("house")
