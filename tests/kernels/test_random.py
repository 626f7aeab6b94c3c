"""Philox gives its published answers, and streams depend on their seed and on what was drawn, nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from gpuga.kernels import Stream
from gpuga.kernels.random import philox_blocks

# Known answers of the Random123 library: counter words, key words, result.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_philox_gives_its_published_answers(counter: tuple[int, ...], key: tuple[int, ...], words: str) -> None:
    block = np.array([counter[0] | counter[1] << 32], np.uint64)
    found = philox_blocks(key[0] | key[1] << 32, block, counter[2] | counter[3] << 32)
    assert " ".join(f"{word:08x}" for word in found[0]) == words


def test_a_stream_resumes_from_its_position() -> None:
    whole, first = Stream(5), Stream(5)
    drawn = whole.words(10)
    first.words(7)
    np.testing.assert_array_equal(Stream(5, 0, first.position).words(3), drawn[7:])


def test_spawned_streams_are_reproducible_and_different() -> None:
    a, b = Stream(1).spawn(0), Stream(1).spawn(1)
    np.testing.assert_array_equal(a.words(4), Stream(1).spawn(0).words(4))
    assert (Stream(1).spawn(0).words(4) != b.words(4)).any()


def test_draws_keep_to_their_range_and_are_even() -> None:
    stream = Stream(3)
    drawn = stream.integers(-2, 5, 70_000)
    counts = np.bincount(drawn + 2, minlength=7)
    assert drawn.min() == -2
    assert drawn.max() == 4
    assert abs(counts - 10_000).max() < 500
    uniform = stream.uniform(100_000)
    assert 0 <= uniform.min() < uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.005


def test_permutations_hold_every_number_once() -> None:
    stream = Stream(4)
    assert sorted(stream.permutation(50)) == list(range(50))


def test_choice_follows_the_weights_and_never_takes_a_zero() -> None:
    drawn = Stream(6).choice([0, 1, 3, 0], 20_000)
    counts = np.bincount(drawn, minlength=4)
    assert counts[0] == counts[3] == 0
    assert abs(counts[2] / counts[1] - 3) < 0.2


@pytest.mark.parametrize("draw", [lambda s: s.integers(3, 3, 1), lambda s: s.choice([0.0], 1)])
def test_impossible_draws_are_refused(draw: object) -> None:
    with pytest.raises(ValueError, match=r"draw|choice"):
        draw(Stream(0))  # type: ignore[operator]
