"""Files and folders that only their owner may read and write: how they are created, opened and narrowed.

The mode is set on the open file, so that it does not depend on the umask, and before anything is written. A symbolic
link is never followed at the last step of a path: otherwise any process that may write to a folder could choose
which file of ours is read, overwritten or given another mode.
"""

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from discreet.core.errors import InvalidInput

#: For the owner alone.
PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
#: The permissions of other users, by mode.
OTHERS = 0o077
#: The variable that names the folder of this user's state, if it is not that of the system.
STATE = "DISCREET_STATE"
#: How the names of folders begin in which something is being made.
WORKING = ".discreet-"


def state_folder() -> Path:
    """Return the folder of this user's state: anchors, the log of the command line, and imports that it keeps."""
    state = os.environ.get(STATE) or os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "discreet"


def open_private(path: Path, flags: int) -> int:
    """Return an open regular file, whose mode becomes 0600. A symbolic link, a device or a pipe is refused.

    With `os.O_EXCL` in the flags only a new file is opened.
    """
    handle = open_regular(path, flags)
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) != PRIVATE:
            with suppress(PermissionError):  # another owner's file is left as it is
                os.fchmod(handle, PRIVATE)
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_regular(path: Path, flags: int) -> int:
    """Return an open regular file, with the mode that it has; a new one is its owner's, as far as the umask allows."""
    try:
        handle = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, PRIVATE)
    except OSError:
        if path.is_symlink():
            raise _no_file(path) from None
        raise
    try:
        _need_regular(handle, path)
        os.set_blocking(handle, True)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _need_regular(handle: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise _no_file(path)


def create_private(path: Path) -> None:
    """Create an empty file of mode 0600 where there is none; raises `FileExistsError` where there is one."""
    os.close(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def narrow_files(paths: Iterable[Path]) -> list[Path]:
    """Take from others what they may do with files that exist; return those for which it was not possible.

    Symbolic links are not followed, and folders become 0700.
    """
    wider = []
    for path in paths:
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode) or not mode & OTHERS:
            continue
        try:
            _narrow_path(path, mode)
        except FileNotFoundError:
            continue
        except OSError:
            wider.append(path)
    return wider


def _narrow_path(path: Path, mode: int) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        current = os.fstat(handle).st_mode
        if stat.S_IFMT(current) == stat.S_IFMT(mode):
            os.fchmod(handle, stat.S_IMODE(current) & ~OTHERS)
    finally:
        os.close(handle)


@contextmanager
def working_folder(parent: Path) -> Iterator[Path]:
    """Make a folder for its owner alone, which goes at the end; until then, no `discard_abandoned` takes it away."""
    with TemporaryDirectory(dir=parent, prefix=WORKING) as name:
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield Path(name)
        finally:
            os.close(handle)


def discard_abandoned(parent: Path) -> None:
    """Delete what processes that were killed have left of their working folders. Those in use are not touched."""
    for place in parent.glob(f"{WORKING}*"):
        try:
            handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # gone meanwhile, or no folder
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(place, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(handle)


def _no_file(path: Path) -> InvalidInput:
    return InvalidInput(
        f"{path.name!r} is a symbolic link or no regular file.",
        fix="name the file itself, in a folder that only its owner may write to",
    )
