"""Planted bugs of the registry of people; see `mutants`."""

from mutants.mutant import Mutant

PEOPLE = "unit/test_service_people.py"

PEOPLE_MUTANTS = [
    Mutant(
        "a token is known by its identity alone",
        "service/tokens.py::TokenKey.is_token",
        "return hmac.compare_digest(self.hash_token(token), digest)",
        "return bool(digest)",
        f"{PEOPLE}::test_a_token_admits_its_owner_and_no_other_text_does",
    ),
    Mutant(
        "a token is compared sign by sign",
        "service/tokens.py::TokenKey.is_token",
        "return hmac.compare_digest(self.hash_token(token), digest)",
        "return self.hash_token(token) == digest",
        f"{PEOPLE}::test_an_unknown_identity_is_compared_too",
    ),
    Mutant(
        "a server that runs keeps what it has read, and a revoked token is accepted",
        "service/registry.py::Registry._snapshot",
        "if self._kept is None or self._kept.stamp != stamp:",
        "if self._kept is None:",
        f"{PEOPLE}::test_a_revoked_token_is_refused_at_once_by_a_server_that_has_read_the_file",
    ),
    Mutant(
        "a token is accepted after its end",
        "service/registry.py::StoredToken.is_valid",
        "return self.expires is None or now < self.expires",
        "return True",
        f"{PEOPLE}::test_a_token_is_refused_from_the_second_in_which_it_expires",
    ),
    Mutant(
        "a token that was replaced lives on",
        "service/registry.py::Registry.rotate",
        "replace(old, expires=end if old.expires is None else min(end, old.expires))",
        "replace(old, expires=old.expires)",
        f"{PEOPLE}::test_an_old_token_is_valid_for_the_overlap_and_not_longer_than_before",
    ),
    Mutant(
        "an unknown name has another salt each time",
        "service/tokens.py::TokenKey.salt_of",
        'return self._hash(b"salt", name)[:SALT_BYTES]',
        "return os.urandom(SALT_BYTES)",
        f"{PEOPLE}::test_an_unknown_name_looks_like_a_known_one_until_its_proof_is_wrong",
    ),
    Mutant(
        "the token itself is stored",
        "service/tokens.py::TokenKey.hash_token",
        'return self._hash(b"token", token.write())',
        "return token.write().encode()",
        f"{PEOPLE}::test_a_file_of_tokens_admits_nobody_under_another_key",
    ),
    Mutant(
        "a share is set for a name that is taken",
        "cli/registry.py::add_person",
        "    registry.need_free(principal.name)\n",
        "",
        "unit/test_cli_people.py::test_a_taken_name_gets_no_share_and_refusals_name_a_fix",
    ),
]
