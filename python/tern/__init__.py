"""Low-bit language models on any CPU and GPU.

    import tern

    with tern.Engine() as engine:
        for piece in engine.generate("Once upon a time", max_tokens=100):
            print(piece, end="", flush=True)
"""

from ._engine import Engine, Generation, Grammar, Session, default_model_path, pull
from ._errors import Code, Error
from ._library import version as __version__
from ._types import Finish, GenerateOptions, Message, ModelInfo, OnProgress, Progress, Prompt, Stats

__all__ = [
    "Code",
    "Engine",
    "Error",
    "Finish",
    "GenerateOptions",
    "Generation",
    "Grammar",
    "Message",
    "ModelInfo",
    "OnProgress",
    "Progress",
    "Prompt",
    "Session",
    "Stats",
    "__version__",
    "default_model_path",
    "pull",
]
