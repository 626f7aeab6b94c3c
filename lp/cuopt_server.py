"""The server that cuOpt's client asks: how it is named, and the variables through which the client learns of it.

The client takes host and port from `CUOPT_REMOTE_HOST` and `CUOPT_REMOTE_PORT`, both of which must be set, and looks at
them whenever it solves. They are set for that moment only: what the user has set is there again afterwards.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

HOST, PORT = "CUOPT_REMOTE_HOST", "CUOPT_REMOTE_PORT"
DEFAULT_PORT = 5001
"""The port on which cuOpt's server listens unless it is told otherwise."""


@dataclass(frozen=True)
class Server:
    """A host, and a port where one was given."""

    host: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Server:
        """`HOST`, `HOST:PORT`, `[IPV6]:PORT`; raises `ValueError` for anything else."""
        host, colon, port = text.strip().rpartition(":")
        if not colon or (text.count(":") > 1 and not host.endswith("]")):
            host, port = text.strip(), ""
        if not host.strip("[]") or any(c.isspace() or c == "/" for c in host):
            raise ValueError(f"{text!r} is not a server such as gpu.example or gpu.example:{DEFAULT_PORT}")
        if colon and port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise ValueError(f"{port!r} is not a port")
        return cls(host.strip("[]"), int(port) if port else None)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Server | None:
        """The server that the user has set for cuOpt itself, None where there is none."""
        if not environment.get(HOST):
            return None
        server = cls.parse(environment[HOST])
        return cls(server.host, server.port_in(environment))

    def port_in(self, environment: Mapping[str, str]) -> int:
        """Its own port, else the user's, else the default."""
        return self.port or Server.parse(f"host:{environment.get(PORT) or DEFAULT_PORT}").port or DEFAULT_PORT

    @property
    def address(self) -> str:
        """The host as it stands before a port."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def problem(self, seconds: float = 2.0) -> str | None:
        """Why nobody answers there, None if somebody does; nothing is sent."""
        port = self.port or DEFAULT_PORT
        try:
            socket.create_connection((self.host, port), timeout=seconds).close()
        except OSError as fault:
            return f"no server answers at {self.address}:{port} ({fault.strerror or type(fault).__name__})"
        return None


@contextmanager
def asking(server: Server | None) -> Iterator[None]:
    """While this lasts cuOpt asks the server; without one, whatever the user has set stays."""
    if server is None:
        yield
        return
    before = {name: os.environ.get(name) for name in (HOST, PORT)}
    os.environ[HOST], os.environ[PORT] = server.address, str(server.port_in(os.environ))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
