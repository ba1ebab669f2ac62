"""Where checks keep what all checkouts of a user share."""

import os
import pathlib


def user_cache():
    """The folder, which may not exist yet: Tern's below $XDG_CACHE_HOME or ~/.cache."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tern"
