"""Does the workload keep the seed that every generator was given?"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np

from npueval.language import Text
from npueval.measuring import sentences
from npueval.sessions import LARGEST_NUMPY_SEED


@contextlib.contextmanager
def watched(found: list[Text], seed: int) -> Iterator[None]:
    """Add to ``found`` every generator that is given another seed inside, once each, with the first such seed."""
    torch = sys.modules.get("torch")
    homes = [(random, "random"), (np.random, "numpy"), *([(torch, "torch")] if torch else [])]
    with contextlib.ExitStack() as stack:
        for home, name in homes:
            function = "manual_seed" if name == "torch" else "seed"
            original = getattr(home, function)
            setattr(home, function, _reporting(original, name, found, {seed, seed % LARGEST_NUMPY_SEED}))
            stack.callback(setattr, home, function, original)
        yield


def _reporting(original: Callable[..., Any], name: str, found: list[Text], known: set[int]) -> Callable[..., Any]:
    told = False

    def seed(*arguments: Any, **named: Any) -> Any:
        nonlocal told
        if not told:
            value = next(iter((*arguments, *named.values())), None)
            if not (isinstance(value, Integral) and int(value) in known):
                told = True
                found.append(sentences.SEEDS_ITSELF.filled({"name": name, "value": f"{value!s:.40}"}))
        return original(*arguments, **named)

    return seed
