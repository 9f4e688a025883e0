"""Writes the damaged variants of scale_gfx942.co: one field of its kernel descriptor each."""

import pathlib
import struct

OBJECTS = pathlib.Path(__file__).parent.parent / "corpus" / "object"
# Name: offset in the descriptor, format, value.
DAMAGE = {
    "lds_of_odd_size": (0, "<I", 1),
    "scratch_of_4_gib": (4, "<I", 0xFFFFFFFF),
    "arguments_of_4_gib": (8, "<I", 0xFFFFFFF0),
    "preloads_127_arguments": (58, "<H", 127),
}

object_ = (OBJECTS / "scale_gfx942.co").read_bytes()
# The only 64-byte aligned place with no LDS, no scratch and 24 bytes of arguments.
start = next(
    at
    for at in range(0, len(object_), 64)
    if struct.unpack_from("<4I", object_, at) == (0, 0, 24, 0)
)
for name, (offset, form, value) in DAMAGE.items():
    damaged = bytearray(object_)
    struct.pack_into(form, damaged, start + offset, value)
    (OBJECTS / f"{name}.co").write_bytes(damaged)
