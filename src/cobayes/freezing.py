"""Results that cannot be changed by accident."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def freeze(result: Any) -> None:
    """Make the arrays of a frozen dataclass read-only, like its attributes."""
    for field in fields(result):
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
