"""The back end of a run: the one of a name, or one sentence why it cannot be had here."""

from __future__ import annotations

from gpuga.errors import InputError
from gpuga.kernels import Backend, get_backend
from gpuga.kernels.backend import BackendUnavailable


def chosen_backend(name: str) -> Backend:
    """The back end that `name` stands for here; `auto` is CUDA where a device works, else the CPU."""
    try:
        return get_backend(name)
    except BackendUnavailable as fault:
        raise InputError(str(fault), field="--backend") from None
