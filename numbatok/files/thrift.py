"""Thrift's compact protocol, the one that the metadata of a Parquet file is written in.

Source: the specification of the protocol, thrift/doc/specs/thrift-compact-protocol.md. The package
`thrift` is not used because its readers drop the fields that they do not know, such as those of a
newer Parquet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
STOP = 0
LONG_LIST = 15  # its length does not fit the first byte


class Value(NamedTuple):
    """A field of a struct, or all items of a list.

    Numbers are int, BINARY and DOUBLE bytes as they stand, a struct dict[int, Value] by number of
    the field, a list the kind of its items and the items.
    """

    kind: int
    content: Any


Struct = dict[int, Value]


def read(data: bytes) -> Struct:
    """Return the struct that some bytes hold. Errors: ValueError if they hold none."""
    try:
        return _Reader(data).struct()
    except IndexError:
        raise ValueError("the metadata ends too early") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def _take(self, n: int) -> bytes:
        self._at += n
        if self._at > len(self._data):
            raise IndexError
        return self._data[self._at - n : self._at]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._take(1)[0]
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def _zigzag(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while (head := self._take(1)[0]) != STOP:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            fields[number] = Value(kind, None if kind in (TRUE, FALSE) else self._content(kind))
        return fields

    def _content(self, kind: int) -> Any:
        if kind in (I16, I32, I64):
            return self._zigzag()
        if kind == STRUCT:
            return self.struct()
        if kind == BINARY:
            return self._take(self._varint())
        if kind == DOUBLE:
            return self._take(8)
        if kind in (BYTE, TRUE, FALSE):  # a truth in a list takes a byte
            return self._take(1)[0]
        if kind in (LIST, SET):
            head = self._take(1)[0]
            size = head >> 4 if head >> 4 != LONG_LIST else self._varint()
            return Value(head & 15, [self._content(head & 15) for _ in range(size)])
        raise ValueError(f"the metadata has a field of the kind {kind}, which Parquet has not")


def write(fields: Struct) -> bytes:
    """Return a struct as bytes; `read` gives it back."""
    out = bytearray()
    _write_struct(out, fields)
    return bytes(out)


def _write_struct(out: bytearray, fields: Struct) -> None:
    before = 0
    for number, value in sorted(fields.items()):
        if 0 < number - before < 16:
            out.append((number - before) << 4 | value.kind)
        else:
            out.append(value.kind)
            _write_zigzag(out, number)
        before = number
        if value.kind not in (TRUE, FALSE):
            _write_content(out, value.kind, value.content)
    out.append(STOP)


def _write_content(out: bytearray, kind: int, content: Any) -> None:
    if kind in (I16, I32, I64):
        _write_zigzag(out, content)
    elif kind == STRUCT:
        _write_struct(out, content)
    elif kind == BINARY:
        out += varint(len(content))
        out += content
    elif kind == DOUBLE:
        out += content
    elif kind in (BYTE, TRUE, FALSE):
        out.append(content)
    else:
        size = len(content.content)
        out.append(min(size, LONG_LIST) << 4 | content.kind)
        if size >= LONG_LIST:
            out += varint(size)
        for item in content.content:
            _write_content(out, content.kind, item)


def varint(number: int) -> bytes:
    """Return a natural number, seven bits to a byte, the lowest first."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _write_zigzag(out: bytearray, number: int) -> None:
    out += varint(number << 1 if number >= 0 else ~number << 1 | 1)
