"""Frequency tables under a recoding of their fields: which bin a cell falls into."""

from __future__ import annotations

from ..layout import Int32, Int64
from .compile import Integer, device


@device
def recoded_bin(
    coordinate: Int32, fields: Int32, rules: Int32, image_start: Int64, image_size: Int64, image: Int32
) -> Integer:
    """The bin of a cell, given by its codes, when each field's codes go to their images."""
    at = image_size[0, 0] * 0
    for place in range(len(fields)):
        field = fields[place]
        if field >= 0:
            rule = rules[place]
            at = at * image_size[field, rule] + image[image_start[field, rule] + coordinate[place]]
    return at
