"""Ctrl-C that never strikes while the ledger is being written."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any


class InterruptGuard:
    """Within it, Ctrl-C raises KeyboardInterrupt only inside `interruptible`.

    Elsewhere it is remembered until the next such block. In threads other than the main one,
    which never see Ctrl-C, it does nothing.
    """

    def __init__(self) -> None:
        self._may_raise = False
        self._is_pending = False
        self._before: Any = None

    def __enter__(self) -> InterruptGuard:
        if threading.current_thread() is threading.main_thread():
            # None stands for a handler that was not set from Python and cannot be put back.
            self._before = signal.signal(signal.SIGINT, self._handle) or signal.default_int_handler
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._is_pending and exc_info[0] is None:
                signal.raise_signal(signal.SIGINT)

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Allow KeyboardInterrupt in the block, at once if one is pending."""
        self._may_raise = True
        try:
            if self._is_pending:
                self._is_pending = False
                raise KeyboardInterrupt
            yield
        finally:
            self._may_raise = False

    def _handle(self, *_: object) -> None:
        if not self._may_raise:
            self._is_pending = True
            return
        raise KeyboardInterrupt
