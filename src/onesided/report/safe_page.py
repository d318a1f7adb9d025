"""What makes a page safe to open: data that cannot end its element, digests of the script and style allowed."""

import base64
import hashlib
import json
from typing import Any


def safe_json(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    plain = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def source_hash(text: str) -> str:
    """The digest by which a page names the script or style that may be used."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
