import pytest

from benchmarks.intervals import abba, interval, ratio


def test_passes_go_forward_and_back():
    assert abba(["a", "b", "c"], 2) == [["a", "b", "c"], ["c", "b", "a"]] * 2


def test_interval_holds_the_median_and_covers_the_middle_of_the_values():
    found = interval([1.0, 2.0, 3.0, 4.0, 100.0])

    assert found.median == 3.0
    assert 1.0 <= found.low < 3.0 < found.high <= 100.0
    assert interval([1.0, 2.0, 3.0, 4.0, 100.0]) == found
    assert interval([7.0]) == (7.0, 7.0, 7.0)


def test_ratio_compares_pass_by_pass():
    # each pass is twice as fast, though the machine slowed down tenfold between them
    assert ratio([20.0, 2.0, 200.0], [10.0, 1.0]) == pytest.approx((2.0, 2.0, 2.0))
