"""The back end of a run: the one of a name, or one sentence why it cannot be had here."""

from __future__ import annotations

from gpuga.errors import InputError
from gpuga.kernels import Backend, get_backend
from gpuga.kernels.backend import BackendUnavailable, Choice, choose, device_of, kind_of


def chosen_backend(name: str) -> Backend:
    """The back end that `name` stands for here; `auto` is CUDA where a device works, else the CPU."""
    try:
        return get_backend(name)
    except BackendUnavailable as fault:
        raise InputError(str(fault), field="--backend") from None


def chosen_for(name: str, device: int | None, work: int | None = None) -> Choice:
    """The back end of a run with `work` cells of all patterns at once, on a device where one is named."""
    try:
        return choose(name, device, work)
    except BackendUnavailable as fault:
        raise InputError(str(fault), field="--backend" if device is None else "--device") from None


def device_used(name: str) -> str | None:
    """The device behind the name of a back end, for people; None where that is the CPU."""
    from gpuga.kernels.probe import device_name

    return device_name(device_of(name) or 0) if kind_of(name) == "cuda" else None
