"""tf.data.experimental: what became verbs of Dataset under its earlier names, and small things beside datasets."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from tfrkit.data.elements.structure import map_structure
from tfrkit.model.spec_json import spec_to_data
from tfrkit.tf.data.data_iterator import OwnedIterator
from tfrkit.tf.data.file_datasets import TFRecordDataset
from tfrkit.tf.data.tensor_dataset import Dataset
from tfrkit.tf.functions.lift import unwrap
from tfrkit.tf.io.parsers import parse_example
from tfrkit.tf.io.record_files import TFRecordWriter as _Writer

__all__ = [
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "ExternalStatePolicy",
    "TFRecordWriter",
    "assert_cardinality",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "counter",
    "enumerate_dataset",
    "from_list",
    "get_next_as_optional",
    "get_output_classes",
    "get_output_shapes",
    "get_output_types",
    "get_single_element",
    "get_structure",
    "make_batched_features_dataset",
    "make_initializable_iterator",
    "make_one_shot_iterator",
    "map_and_batch",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "random_dataset",
    "sample_from_datasets",
    "shuffle_and_repeat",
    "verb",
]

Transformation = Callable[[Dataset], Any]


class AutoShardPolicy(enum.IntEnum):
    """How TensorFlow spreads a dataset over machines; kept, without effect."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow tunes; kept, without effect."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """What TensorFlow does about state outside of a dataset; kept, without effect."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


def verb(name: str) -> Callable[..., Transformation]:
    """A function that takes the arguments of a verb, and gives one that does it to a dataset."""

    def make(*args: Any, **options: Any) -> Transformation:
        return lambda dataset: getattr(dataset, name)(*args, **options)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Give a function for `Dataset.apply` that does `{name}`."
    return make


assert_cardinality = verb("assert_cardinality")
bucket_by_sequence_length = verb("bucket_by_sequence_length")
dense_to_ragged_batch = verb("ragged_batch")
dense_to_sparse_batch = verb("sparse_batch")
group_by_window = verb("group_by_window")
ignore_errors = verb("ignore_errors")
scan = verb("scan")
take_while = verb("take_while")
unbatch = verb("unbatch")
unique = verb("unique")


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Transformation:
    """Return a function for `Dataset.apply` that maps and puts together.

    Raises:
        ValueError: both numbers are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but "
            f"`num_parallel_batches` was set to {num_parallel_batches} and `num_parallel_calls` as set to "
            f"{num_parallel_calls}."
        )
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """Return a function for `Dataset.apply` that shuffles and repeats."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool | None = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """Return a function for `Dataset.apply` that interleaves."""
    deterministic = None if sloppy is None else not sloppy
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, num_parallel_calls=cycle_length, deterministic=deterministic
    )


def enumerate_dataset(start: Any = 0) -> Transformation:
    """Return a function for `Dataset.apply` that numbers elements."""
    return lambda dataset: dataset.enumerate(start)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """Return a function for `Dataset.apply` that prefetches; there is only one device."""
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device: Any, source_device: str = "/cpu:0") -> Transformation:
    """Return a function for `Dataset.apply` that does nothing; there is only one device."""
    return lambda dataset: dataset


class _ParseExamples:
    """A function of map that parses batches."""

    def __init__(self, features: Any) -> None:
        self.features = features

    def __call__(self, serialized: Any) -> Any:
        """Parse one."""
        return parse_example(serialized, self.features)

    def signature(self) -> Any:
        """What states know it by."""
        return spec_to_data(self.features)


def parse_example_dataset(
    features: Any, num_parallel_calls: int | None = 1, deterministic: bool | None = None
) -> Transformation:
    """Return a function for `Dataset.apply` that parses batches of Examples.

    Raises:
        ValueError: there are no features.
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")
    return lambda dataset: dataset.map(_ParseExamples(features), num_parallel_calls, deterministic)


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Callable[..., Any] | None = None,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Any:
    """Batches of features of all Examples in files: listed, read, shuffled, repeated, put together and parsed.

    Args:
        file_pattern: patterns of files; see `Dataset.list_files`.
        batch_size: how many Examples make a batch.
        features: the spec.
        reader: makes a dataset of a file's name; by default TFRecordDataset.
        label_key: this feature becomes the second part of the elements.
        reader_args: further arguments for `reader`.
        num_epochs: how often all Examples come; None: without end.
        shuffle: files and Examples.
        shuffle_buffer_size: see `Dataset.shuffle`.
        shuffle_seed: for both.
        prefetch_buffer_size: see `Dataset.prefetch`.
        reader_num_threads: how many files are read in turn; by default 1.
        parser_num_threads: by default 2.
        sloppy_ordering: the order is free.
        drop_final_batch: leave out a last batch that is smaller; without `num_epochs` there is none.

    Raises:
        ValueError: there is no feature `label_key`.
    """
    if label_key and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key}) must be one of the `features` keys: {features.keys()}."
        )
    read, args = reader or TFRecordDataset, tuple(reader_args or ())
    turns = reader_num_threads or 1
    dataset: Any = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    dataset = dataset.interleave(
        lambda name: read(name, *args), None if turns == -1 else turns, 1, turns, not sloppy_ordering
    )
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_final_batch or num_epochs is None)
    dataset = parse_example_dataset(features, parser_num_threads or 2)(dataset)
    if label_key:
        dataset = dataset.map(
            lambda row: ({key: row[key] for key in row if key != label_key}, row[label_key])
        )
    return dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)


def cardinality(dataset: Dataset) -> Any:
    """The number of elements."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """The only element."""
    return dataset.get_single_element()


def get_next_as_optional(iterator: OwnedIterator) -> Any:
    """The next element, or the end, as a value."""
    return iterator.get_next_as_optional()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The structure of an element.

    Raises:
        TypeError: it is not a dataset or iterator.
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "
            f"object, but got {type(dataset_or_iterator)}."
        ) from None


def from_list(elements: Any, name: str | None = None) -> Any:
    """The elements of a list.

    Raises:
        ValueError: there are none.
    """
    given = list(elements)
    if not given:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    columns = map_structure(lambda *leaves: list(leaves), *map(unwrap, given))
    return Dataset.from_tensor_slices(columns)


def choose_from_datasets(datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False) -> Any:
    """The next element of the dataset whose number comes next."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Any:
    """Elements of datasets at random."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def counter(start: Any = 0, step: Any = 1, dtype: Any = "int64") -> Any:
    """Count without end."""
    return Dataset.counter(start, step, dtype)


def random_dataset(
    seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
) -> Any:
    """Random numbers without end."""
    return Dataset.random(seed, rerandomize_each_iteration, name)


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._path = unwrap(filename)
        self._compression = unwrap(compression_type)

    def write(self, dataset: Dataset) -> None:
        """Write all elements.

        Raises:
            TypeError: it is not a dataset of single strings.
        """
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}."
            )
        types, shapes = dataset.output_types, dataset.output_shapes
        if getattr(types, "name", None) != "string" or tuple(shapes):
            raise TypeError(
                "Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, but got a dataset "
                f"which produces elements with shapes {shapes} and types {types!s}."
            )
        with _Writer(self._path, self._compression) as writer:
            for element in dataset:
                writer.write(element.value)


def make_one_shot_iterator(dataset: Dataset) -> OwnedIterator:
    """Run a dataset from the beginning."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Any:
    """There are no graphs in which an iterator could be initialised: RuntimeError."""
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The types in the structure of an element."""
    return map_structure(lambda spec: spec.dtype, get_structure(dataset_or_iterator))


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes in the structure of an element."""
    return map_structure(lambda spec: spec.shape, get_structure(dataset_or_iterator))


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes in the structure of an element."""
    return dataset_or_iterator.output_classes
