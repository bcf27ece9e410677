"""What came before differential privacy, and how it fails.

Still empty. k-anonymity and its kin. Nothing here carries a Guarantee, because none of it is one.
"""

__all__: list[str] = []
