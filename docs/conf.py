"""Sphinx settings: `make docs` runs every example and then writes HTML; a warning is an error."""

import doctest

from sphinx.application import Sphinx

from discreet import __version__

project = "discreet"
author = "the discreet authors"
copyright = "the discreet authors, Apache-2.0"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.doctest"]
exclude_patterns = ["_build"]
default_role = "code"  # a docstring's `name` is code
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # or the default stream would be shown as an address in memory

# The same rules as pytest has for these files, so that an example passes both or neither.
doctest_default_flags = doctest.NORMALIZE_WHITESPACE
doctest_test_doctest_blocks = ""

html_theme = "furo"
html_title = f"discreet {release}"
html_static_path = ["_static"]
html_copy_source = False


def escape_bars(_app: Sphinx, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Escape the bars of absolute values, which reStructuredText would read as substitutions."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def setup(app: Sphinx) -> None:
    """Connect what autodoc needs."""
    app.connect("autodoc-process-docstring", escape_bars)
