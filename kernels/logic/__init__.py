"""The operations' logic, written once: compiled by numba for the CPU, and for CUDA where a CUDA kernel
calls it.

Rules that keep one source valid for both: no allocation (scratch comes in as arguments), unsigned 64-bit
words are never mixed with signed integers in one expression, shift counts are cast, no warp operations.
"""
