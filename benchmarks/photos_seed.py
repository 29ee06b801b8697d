"""The seed's program for photos under TensorFlow: `python -m benchmarks.photos_seed OUT FOLDER`.

It is `build` of `examples/seeds/photos.py` with its import line changed; names and labels as its `main` has them.
"""

from __future__ import annotations

import glob
import os
import sys
from pathlib import Path

from benchmarks.rivals import tensorflow

PROGRAM = Path(__file__).parent.parent / "examples" / "seeds" / "photos.py"


def main() -> None:
    """Write one file of all photos."""
    out, folder = sys.argv[1:]
    tensorflow()
    names: dict[str, object] = {"__name__": "photos"}
    source = PROGRAM.read_text("utf-8").replace("from tfrkit import tf\n", "import tensorflow as tf\n")
    exec(compile(source, str(PROGRAM), "exec"), names)
    classes = sorted(os.listdir(folder))
    filenames = sorted(glob.glob(f"{folder}/*/*.jpg"))
    place = {name: number for number, name in enumerate(classes)}
    labels = [place[os.path.basename(os.path.dirname(name))] for name in filenames]
    names["build"](f"{out}/train.tfrecord", filenames, labels)  # type: ignore[operator]
    sys.stdout.flush()
    os._exit(0)  # TensorFlow's threads can hold up a normal exit


if __name__ == "__main__":
    main()
