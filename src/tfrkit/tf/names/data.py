"""tf.data."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Entry, Raw

_EXPERIMENTAL: Final = (
    "AutoShardPolicy AutotuneAlgorithm ExternalStatePolicy TFRecordWriter assert_cardinality "
    "bucket_by_sequence_length cardinality choose_from_datasets copy_to_device dense_to_ragged_batch "
    "dense_to_sparse_batch enumerate_dataset from_list get_next_as_optional get_single_element "
    "get_structure group_by_window ignore_errors make_batched_features_dataset map_and_batch "
    "parallel_interleave parse_example_dataset prefetch_to_device sample_from_datasets scan "
    "shuffle_and_repeat take_while unbatch unique"
)
_OLD: Final = (
    "get_output_classes get_output_shapes get_output_types make_initializable_iterator make_one_shot_iterator"
)
_OPTIONS: Final = ("AutotuneOptions", "DistributeOptions", "OptimizationOptions")

NAMES: Final[dict[str, Entry]] = {
    "data.Dataset": Raw("tf.data.tensor_dataset:Dataset"),
    "data.TFRecordDataset": Raw("tf.data.file_datasets:TFRecordDataset"),
    "data.TextLineDataset": Raw("tf.data.file_datasets:TextLineDataset"),
    "data.FixedLengthRecordDataset": Raw("tf.data.file_datasets:FixedLengthRecordDataset"),
    "data.Options": Raw("data.options:Options"),
    "data.ThreadingOptions data.experimental.ThreadingOptions": Raw("data.options:ThreadingOptions"),
    "data.DatasetSpec": Raw("model.element_spec:DatasetSpec"),
    "data.Iterator": Raw("tf.data.data_iterator:OwnedIterator"),
    "data.NumpyIterator": Raw("tf.data.data_iterator:NumpyIterator"),
    "experimental.Optional data.experimental.Optional": Raw("tf.data.data_iterator:Optional"),
    "data.AUTOTUNE data.experimental.AUTOTUNE": Raw("data.engine.node:AUTOTUNE"),
    "data.INFINITE_CARDINALITY data.experimental.INFINITE_CARDINALITY": Raw(
        "data.engine.node:INFINITE_CARDINALITY"
    ),
    "data.UNKNOWN_CARDINALITY data.experimental.UNKNOWN_CARDINALITY": Raw(
        "data.engine.node:UNKNOWN_CARDINALITY"
    ),
    "data.experimental.Counter": Raw("tf.data.experimental_functions:counter"),
    "data.experimental.RandomDataset": Raw("tf.data.experimental_functions:random_dataset"),
    **{f"data.experimental.{name}": Raw(f"data.options:{name}") for name in _OPTIONS},
    **{
        f"data.experimental.{name}": Raw(f"tf.data.experimental_functions:{name}")
        for name in _EXPERIMENTAL.split()
    },
    **{f"compat.v1.data.{name}": Raw(f"tf.data.experimental_functions:{name}") for name in _OLD.split()},
}
