"""An event loop whose clock jumps to the next timer: waiting takes no time, and times are exact."""

import asyncio


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop for tests without threads and processes."""

    def __init__(self):
        super().__init__()
        self._moment = 0.0
        select = self._selector.select

        def jump(timeout=None):
            events = select(0)
            if not events and timeout:
                self._moment += timeout
            return events

        self._selector.select = jump

    def time(self):
        return self._moment


def run_virtually(coroutine):
    """Return what a coroutine returns, by a virtual clock."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)
