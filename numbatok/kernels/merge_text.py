"""Read the list of merges of a large JSON file: as Python objects they take a third of the load."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, u64
from numbatok.addresses import view_i64, view_u8, view_u32
from numbatok.tables import I64, U8, U32
from numbatok.vector import load_u64, natural

QUOTE, COMMA, OPEN, CLOSE, BACKSLASH, SLASH, SPACE = 0x22, 0x2C, 0x5B, 0x5D, 0x5C, 0x2F, 0x20
LETTER_U = ord("u")
CODES = 0x200  # of characters of at most two bytes up to U+01FF
VERSION = 8  # bytes of "#version", with which a comment begins
VERSION_WORD = u64(int.from_bytes(b"#version", "little"))
AT_TEXT, AT_BYTES, AT_PARTS = range(3)  # in `at`: where reading and writing are
ODD = -1


@entry
def read_merge_text(
    text_address: int, size: int, codes_address: int, bytes_address: int, lengths_address: int,
    at_address: int,
) -> int:  # fmt: skip
    """Read a list of merges from behind its bracket; return how many there are, or ODD.

    at[AT_TEXT] is where it begins and becomes where it ends, behind the other bracket. Part k has
    lengths[k] bytes of bytes[: at[AT_BYTES]]. codes: the byte of each character below CODES, or 256
    and more. ODD: it is no list of pairs of strings, nor of strings with one space; or it has
    escapes of controls, characters that stand for no byte, empty parts, comments.
    Bounds: as many bytes as text, a third as many lengths and two more.
    """
    text, codes = view_u8(text_address, size), view_u32(codes_address, CODES)
    spelled, lengths = view_u8(bytes_address, size), view_u32(lengths_address, size // 3 + 2)
    at = view_i64(at_address, 3)
    skip_white(text, at)
    in_lists = at[AT_TEXT] < size and text[natural(at[AT_TEXT])] == OPEN
    n = i64(0)
    while True:
        if not (
            read_pair(text, codes, spelled, lengths, at)
            if in_lists
            else read_string(text, codes, spelled, lengths, at, True)
        ):
            return i64(ODD)
        n += 1
        if take(text, at, CLOSE):
            return n
        if not take(text, at, COMMA):
            return i64(ODD)
        skip_white(text, at)


@kernel
def read_pair(text: U8, codes: U32, spelled: U8, lengths: U32, at: I64) -> bool:
    """Read a list of two strings."""
    if not take(text, at, OPEN):
        return False
    skip_white(text, at)
    if not read_string(text, codes, spelled, lengths, at, False) or not take(text, at, COMMA):
        return False
    skip_white(text, at)
    return read_string(text, codes, spelled, lengths, at, False) and take(text, at, CLOSE)


@kernel
def read_string(text: U8, codes: U32, spelled: U8, lengths: U32, at: I64, has_space: bool) -> bool:
    """Read a string as one part, or as two with a space between them."""
    pos, out, start = i64(at[AT_TEXT]), i64(at[AT_BYTES]), i64(at[AT_BYTES])
    size, n_spaces = text.size, i64(0)
    if pos >= size or text[natural(pos)] != QUOTE:
        return False
    pos += 1
    while pos + 1 < size:
        lead = i64(text[natural(pos)])
        if lead == QUOTE or (lead == SPACE and has_space):
            if out == start:
                return False
            lengths[natural(at[AT_PARTS])] = out - start
            at[AT_PARTS] += 1
            pos += 1
            if lead == QUOTE:
                at[AT_TEXT], at[AT_BYTES] = pos, out
                return n_spaces == i64(has_space)
            if n_spaces > 0 or is_version(spelled, start, out):
                return False
            n_spaces, start = i64(1), out
            continue
        if lead == BACKSLASH:
            pos += 1
            lead = i64(text[natural(pos)])
            if lead == LETTER_U:
                lead = code_of_digits(text, pos + 1)
                pos += 4
            elif lead != QUOTE and lead != BACKSLASH and lead != SLASH:
                return False
            if lead < 0 or lead >= CODES:
                return False
        elif lead >= 0x80:
            pos += 1
            last = i64(text[natural(pos)])
            if lead < 0xC2 or lead >= 0xC0 + (CODES >> 6) or last & 0xC0 != 0x80:
                return False
            lead = (lead & 0x1F) << 6 | last & 0x3F
        if codes[natural(lead)] > 0xFF:
            return False
        spelled[natural(out)] = codes[natural(lead)]
        out += 1
        pos += 1
    return False


@kernel
def code_of_digits(text: U8, pos: int) -> int:
    """Return what four hexadecimal digits mean, or -1."""
    code = i64(0)
    if pos + 4 > text.size:
        return i64(-1)
    for k in range(4):
        digit = i64(text[natural(pos + k)])
        if 0x30 <= digit <= 0x39:
            code = code << 4 | digit - 0x30
        elif 0x61 <= digit | 0x20 <= 0x66:
            code = code << 4 | (digit | 0x20) - 0x57
        else:
            return i64(-1)
    return code


@kernel
def is_version(spelled: U8, start: int, end: int) -> bool:
    """Tell whether a part begins a comment: `#version`."""
    if end - start < VERSION or spelled[natural(start)] != ord("#"):
        return False
    return load_u64(spelled, start) == VERSION_WORD


@kernel
def take(text: U8, at: I64, byte: int) -> bool:
    """Skip white space and a byte, if it is there."""
    skip_white(text, at)
    pos = at[AT_TEXT]
    if pos >= text.size or text[natural(pos)] != byte:
        return False
    at[AT_TEXT] = pos + 1
    return True


@kernel
def skip_white(text: U8, at: I64) -> None:
    """Skip white space of JSON."""
    pos = i64(at[AT_TEXT])
    while pos < text.size:
        byte = text[natural(pos)]
        if byte != 0x20 and byte != 0x0A and byte != 0x0D and byte != 0x09:
            break
        pos += 1
    at[AT_TEXT] = pos
