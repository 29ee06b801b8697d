"""tf.train and tf.errors."""

from __future__ import annotations

from typing import Final

from tfrkit import errors
from tfrkit.tf import error_codes
from tfrkit.tf.entry import Absent, Entry, Raw

_MESSAGES: Final = (
    "BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List SequenceExample"
)
_BATCHES: Final = Absent(
    "Use tf.data: dataset.batch(n), or dataset.shuffle(m).batch(n), and iterate over it."
)
_RUNNERS: Final = Absent(
    "There are no queue runners: queues of file names fill themselves, and everything runs when it is called. Leave "
    "it out, or use tf.data."
)

NAMES: Final[dict[str, Entry]] = {
    **{f"train.{name}": Raw(f"model.messages:{name}") for name in _MESSAGES.split()},
    **{
        f"errors.{name}": Raw(f"errors:{name}")
        for name in errors.__all__
        if name.endswith("Error") and issubclass(getattr(errors, name), errors.OpError)
    },
    **{f"errors.{name}": Raw(f"tf.error_codes:{name}") for name in error_codes.__all__ if name.isupper()},
    "compat.v1.errors.error_code_from_exception_type": Raw("tf.error_codes:error_code_from_exception_type"),
    "compat.v1.errors.exception_type_from_error_code": Raw("tf.error_codes:exception_type_from_error_code"),
    "OpError": Raw("errors:OpError"),
    "train.Checkpoint": Raw("tf.data.checkpoint:Checkpoint"),
    "train.CheckpointOptions": Raw("tf.data.checkpoint:CheckpointOptions"),
    "train.CheckpointManager": Raw("tf.data.checkpoint:CheckpointManager"),
    "train.latest_checkpoint": Raw("tf.data.checkpoint_files:latest_checkpoint"),
    "train.string_input_producer": Raw("tf.v1.queues:string_input_producer"),
    "train.match_filenames_once io.match_filenames_once": Raw("tf.v1.queues:match_filenames_once"),
    "train.Coordinator train.QueueRunner train.start_queue_runners train.add_queue_runner": _RUNNERS,
    "train.batch train.batch_join train.maybe_batch train.maybe_batch_join": _BATCHES,
    "train.shuffle_batch train.shuffle_batch_join train.maybe_shuffle_batch": _BATCHES,
    "train.slice_input_producer train.input_producer train.range_input_producer": Absent(
        "Use tf.data.Dataset.from_tensor_slices(...), with shuffle(n) and repeat(n)."
    ),
    "train.Saver": Absent("There are no variables. Use tf.train.Checkpoint for iterators."),
    "train.MonitoredSession train.MonitoredTrainingSession": Absent(
        "There are no sessions: everything runs when it is called."
    ),
}
