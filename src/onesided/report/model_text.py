"""What a stored model file says of itself; read as data, never as a model."""

import tomllib

from onesided.base.errors import visible


def title_of(model: str) -> str:
    """The title, or nothing."""
    return _text(model, "title")


def description_of(model: str) -> str:
    """The description, or nothing."""
    return _text(model, "description")


def _text(model: str, key: str) -> str:
    try:
        value = tomllib.loads(model).get(key, "")
    except (ValueError, RecursionError):
        return ""
    return visible(value) if isinstance(value, str) else ""
