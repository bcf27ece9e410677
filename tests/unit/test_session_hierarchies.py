"""What a hierarchy would cost and how far off it would be is told before anything is paid."""

import pytest

import discreet
from clinic import opened
from discreet.core import InvalidInput

PATHS = [(ward,) for ward in "ABC"]


def test_a_preview_of_a_hierarchy_is_free_and_tells_the_errors_that_come(tmp_path):
    with opened(tmp_path, limit=discreet.Limit(groups=1, rows_per_group=3)) as clinic:
        preview = clinic.preview_hierarchy(("ward",), PATHS, epsilon=1, confidence=0.9)
        assert clinic.ledger.state.payments == 0
        assert preview.fits
        assert preview.saving is None
        found = clinic.hierarchy(("ward",), PATHS, epsilon=1, confidence=0.9)
        told = [one.error for each in preview.predicted for one in each]
        assert told == pytest.approx([level.error.max() for level in found.levels])
        assert "fits the remaining budget" in repr(preview)
        assert "all: ±" in repr(preview)
        assert clinic.preview_hierarchy(("ward",), PATHS, epsilon=1).price.stored is not None


def test_a_preview_of_a_hierarchy_hears_what_the_hierarchy_would(tmp_path):
    with opened(tmp_path, limit=discreet.Limit(groups=1, rows_per_group=3)) as clinic:

        def error(**how):
            return clinic.preview_hierarchy(("ward",), PATHS, rho=0.01, **how).predicted[0][0].error

        assert error(weights=[100, 1]) < error() < error(simultaneous=True)
        assert error(people=True) < error()
        assert error(total=61) == 0
        assert "age" in clinic.preview_hierarchy(("ward",), PATHS, rho=0.01, where="age > 40").price.what
        assert not clinic.preview_hierarchy(("ward",), PATHS, epsilon=9).fits
        with pytest.raises(InvalidInput):
            clinic.preview_hierarchy(("ward",), PATHS, within=5)
        with pytest.raises(InvalidInput):
            clinic.preview_hierarchy(("ward",), PATHS, rho=0.01, table="patients")
