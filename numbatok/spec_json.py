"""A TokenizerSpec without its model, as JSON: the part of a table image that is not arrays."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from numbatok import spec as spec_module
from numbatok.spec import BpeModel, TokenizerSpec

NO_MODEL = BpeModel(tokens={}, merges=())


def to_json(spec: TokenizerSpec) -> str:
    """Return the spec, its model's vocabulary and merges left out, as canonical JSON."""
    model = dataclasses.replace(
        spec.model, tokens={}, opaque={}, merges=None if spec.model.merges is None else ()
    )
    plain = _to_plain(dataclasses.replace(spec, model=model))
    return json.dumps(plain, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def from_json(text: str) -> TokenizerSpec:
    """Return the spec that `to_json` wrote; its model has no tokens."""
    value = _from_plain(json.loads(text))
    assert isinstance(value, TokenizerSpec)
    return value


def _to_plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, tuple):
        return [_to_plain(item) for item in value]
    if hasattr(value, "items"):
        return {"type": "mapping", "items": [[k, _to_plain(v)] for k, v in value.items()]}
    return value


def _from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_plain(item) for item in value)
    if not isinstance(value, dict):
        return value
    fields = dict(value)
    kind = fields.pop("type")
    if kind == "mapping":
        return {key: _from_plain(item) for key, item in fields["items"]}
    return getattr(spec_module, kind)(**{k: _from_plain(v) for k, v in fields.items()})
