"""Sphinx settings: `make docs` runs every example and then writes HTML; a warning is an error."""

import doctest

from sphinx.application import Sphinx

from discreet import Session, __version__

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


def hide_sources_of_listed_options() -> None:
    """Let autodoc show signatures that list options as they are: it would look for all defaults in the source."""
    for method in vars(Session).values():
        if "__signature__" in getattr(method, "__dict__", {}):
            method.__code__ = method.__code__.replace(co_filename="")


def setup(app: Sphinx) -> None:
    """Connect what autodoc needs."""
    hide_sources_of_listed_options()
    app.connect("autodoc-process-docstring", escape_bars)
