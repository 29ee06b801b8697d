"""Make the golden files of this folder with TensorFlow: python tests/golden/make.py

The files are kept in the repository, so that tfrkit is compared with TensorFlow's bytes also where TensorFlow cannot
be installed. Records and options are those of `tests/golden/contents.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))


def main() -> None:
    """Write every file anew."""
    import tensorflow as tf

    from tests.golden.contents import FILES, FLUSH_AFTER, RECORDS

    for name, (compression, options) in FILES.items():
        with tf.io.TFRecordWriter(str(HERE / name), tf.io.TFRecordOptions(compression, **options)) as writer:
            for number, record in enumerate(RECORDS if "empty" not in name else []):
                writer.write(record)
                if "flushed" in name and number in FLUSH_AFTER:
                    writer.flush()


if __name__ == "__main__":
    main()
