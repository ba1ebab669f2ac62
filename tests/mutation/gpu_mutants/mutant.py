"""One way of breaking a kernel."""

import dataclasses


@dataclasses.dataclass
class Mutant:
    name: str
    kernel: str
    find: str  # ECMAScript regular expression
    replace: str
    tests: str  # that should notice
    variant: str = "everything"
    smoke: bool = False  # part of the fast run
