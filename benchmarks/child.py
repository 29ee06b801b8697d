"""The process in which one group of contenders runs: pins itself, imports, measures, prints one line of JSON.

Not for people: `harness.in_child` starts it. It ends without tearing down, since TensorFlow's threads can
hold up a normal exit for seconds.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import asdict
from typing import Any

from benchmarks.harness import Contender, Settings, measure, pin


def main() -> None:
    """Answer the request in the first argument."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    pin(request["cores"])  # before any import that counts cores
    settings = Settings(**request["settings"])
    function = getattr(importlib.import_module(f"benchmarks.{request['module']}"), request["function"])
    value = function(settings, **request["arguments"])
    if isinstance(value, list) and value and isinstance(value[0], Contender):
        answer = {"results": [asdict(result) for result in measure(value, settings.repeat)]}
    else:
        answer = {"value": value}
    print("\n" + json.dumps(answer), flush=True)
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
