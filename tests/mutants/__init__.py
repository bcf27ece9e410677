"""Planted bugs, each of which some test must catch: `make mutants`.

`planted` lists them, by topics in the modules beside it; `choice` chooses those of a quick run; `changed_code` makes
bugs at random where code has changed; `trials` plants a bug in a copy of the package and runs the tests that guard its
claim.
"""
