"""Output streams that cannot show every character: plain signs instead of a failure."""

from __future__ import annotations

import codecs
import logging
import os
import sys

_PLAIN_SIGNS = {
    "█": "#",
    "▉": "#",
    "▊": "#",
    "▋": "#",
    "▌": "#",
    "▍": " ",
    "▎": " ",
    "▏": " ",
    "±": "+-",
    "…": ".",  # one sign for one, as it ends a cell of a table
    "–": "-",
    "·": "*",
    "•": "*",
}
_HANDLER = "cobayes.plain"

# Control characters could move the cursor, recolour or rename the window; marks of direction
# could reorder what is read. Line breaks and tabs are harmless.
_CONTROLS = [c for c in (*range(0x20), *range(0x7F, 0xA0)) if c not in (0x09, 0x0A)]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_VISIBLE = dict.fromkeys((*_CONTROLS, *_DIRECTIONS), "�")
_ESCAPED = {code: f"\\u{code:04x}" for code in (*_CONTROLS, *_DIRECTIONS)}


def printable(text: str) -> str:
    """Return a text that a terminal shows and does not obey: a sign for each control character."""
    return text.translate(_VISIBLE)


def printable_json(text: str) -> str:
    """Return JSON with the control characters of its strings escaped."""
    return text.translate(_ESCAPED)


def never_fail_to_encode() -> None:
    """Let stdout and stderr write a plain sign for each character that they cannot encode."""
    codecs.register_error(_HANDLER, _plain)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # a notebook's stream has none
        if reconfigure is not None:
            reconfigure(errors=_HANDLER)


class _Notices(logging.Handler):
    """Writes the library's notices to whatever stderr is at the time, each kind of them once."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "is_detail", False) or record.msg in self._said:
            return
        self._said.add(record.msg)
        # A terminal may show a line of progress, which is written anew every second.
        start = "\r\x1b[2K" if sys.stderr.isatty() else ""
        print(start + record.getMessage(), file=sys.stderr)


def show_notices() -> None:
    """Let the library's notices, such as one about a long compilation, appear on stderr."""
    logger = logging.getLogger("cobayes")
    if not any(isinstance(handler, _Notices) for handler in logger.handlers):
        logger.addHandler(_Notices())
        logger.setLevel(logging.INFO)


def can_write(text: str) -> bool:
    """Tell whether stdout can encode a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def wants_color() -> bool:
    """Tell whether colours are welcome: a NO_COLOR that is not empty says that they are not."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(_PLAIN_SIGNS.get(sign, "?") for sign in found), error.end
