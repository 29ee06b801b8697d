"""The statements about tf.data, tf.io, tf.train and functions as programs use them: with tensors, through their names.

Data only. Each entry is checked live against TensorFlow by the tests marked with its id.
"""

from __future__ import annotations

SECTION_6_TFDATA: dict[str, str] = {
    # tf.train.Checkpoint
    "6 Checkpoint": "Checkpoint(it=iterator).save(prefix) writes `<prefix>-<n>`, counts, and notes it as the folder's latest; restore goes back to where the iterator stood, also into a fresh iterator of an equal dataset; write and read take the path as it is.",
    "6 Checkpoint structure": "Checkpoints, lists of iterators and datasets may be in a Checkpoint.",
    "6 Checkpoint deferred": "An iterator that is added after restore goes to where it stood, too.",
    "6 Checkpoint errors": "Anything without state is a ValueError, a missing checkpoint a NotFoundError; assert_consumed and its kin tell what was not restored.",
    "6 Checkpoint of another dataset": "Restoring an iterator of another dataset is a NotFoundError `... Failed to restore dataset iterator from checkpoint ...`.",
    "6 CheckpointManager": "CheckpointManager keeps the last checkpoints of a folder, knows those that are there, and restores the latest.",
    "6 numpy iterator state": "An as_numpy_iterator can be saved and restored.",
    # tf.io
    "6 parsing gives tensors": "The parsers take strings and tensors and give Tensors, SparseTensors for VarLenFeature, RaggedTensors for RaggedFeature; defaults may be tensors.",
    "6 parsing order": "The features of a result come sparse ones first, then dense, ragged and composed ones, each sorted by name.",
    "6 parsing in pipelines": "Records of a file, parsed one by one and then batched, or batched and then parsed, give the same tensors.",
    "6 sequences": "SequenceExamples give context and lists as tensors of all kinds.",
    "6 arguments of TensorFlow 1": "The parsers and decode_raw of compat.v1 have their arguments in another order.",
    "6 decoding": "decode_raw, serialize_tensor, parse_tensor, base64, decode_compressed, decode_json_example and decode_proto take and give tensors.",
    "6 writer": "tf.io.TFRecordWriter writes TensorFlow's bytes, for every compression.",
    "6 writer arguments": "Names and options that TensorFlow refuses are refused in its words; names of files may be nested lists or a dataset.",
    "6 messages": "tf.train's messages have protobuf's interface.",
    "6 errors": "tf.errors has all classes and their codes.",
    # tf.data
    "6 elements": "Functions of a pipeline get tensors, iterators give them, and reduce, get_single_element and cardinality too; arguments may be tensors.",
    "6 elements of other kinds": "SparseTensors and RaggedTensors go through pipelines; as_numpy_iterator makes dense arrays of the former and arrays of arrays of the latter.",
    "6 as_numpy_iterator": "as_numpy_iterator gives numpy scalars, bytes, None and arrays that cannot be written to.",
    "6 element_spec": "element_spec has TensorSpecs with dtypes and TensorShapes, of datasets and iterators.",
    "6 repr": "A dataset is shown as `<_MapDataset element_spec=TensorSpec(...)>`.",
    "6 from_generator": "Generators may give tensors of all kinds; their arguments are numpy's, bytes for a string.",
    "6 structures of functions": "What functions give is converted: lists at the top become tuples, lists in them tensors, Python's values tensors.",
    "6 map and batch": "A map and the batch right after it run as one: an error takes a place in its batch, the whole batch is lost with it, and the next one begins where it would have begun.",
    "6 map and batch between": "Stages that do nothing between the two do not count; any other stage does.",
    "6 map and batch kinds": "Not so with num_parallel_calls of batch and with padded_batch; ragged_batch is like batch, and has a map of its own where sizes are not known.",
    "6 map and batch options": "experimental_optimization.map_and_batch_fusion and apply_default_optimizations turn it off.",
    "6 shuffle and repeat": "A shuffle and the repeat right after it run as one, which refuses counts of 0 and below -1 when it begins: InvalidArgumentError `count must be greater than zero or equal to -1.`",
    "6 map and batch shapes": "Of elements of different shapes only the number of values counts then: else InvalidArgumentError `Cannot add tensor to the batch: number of elements does not match. Shapes are: ...`.",
    "6 stateful functions": "A map without num_parallel_calls calls a function with a stateful operation in order, one call after another.",
    "6 data.experimental": "The names of tf.data.experimental do what the verbs of today do.",
    "6 data.experimental files": "tf.data.experimental.TFRecordWriter writes a dataset of strings; parse_example_dataset parses batches.",
    "6 make_batched_features_dataset": "make_batched_features_dataset lists, reads, shuffles, repeats, batches and parses, in an order that the seed decides.",
    "6 FixedLengthRecordDataset": "FixedLengthRecordDataset cuts files into records between header and footer; a plain file that does not go up is an InvalidArgumentError for ever, a compressed one a DataLossError after its records.",
    "6 Optional": "An Optional has a value or none, and an element_spec.",
    "6 iterators of TensorFlow 1": "make_one_shot_iterator gives an iterator; make_initializable_iterator is a RuntimeError.",
    # functions
    "6 cond": "cond calls one of two functions, which must be callable.",
    "6 case": "case calls the function of the first condition that holds; switch_case that of a number, and the last one for a number that is out of range.",
    "6 while_loop": "while_loop continues with what its body gives, at most maximum_iterations times; the result has the structure of the variables.",
    "6 map_fn": "map_fn, vectorized_map, foldl, foldr and scan call a function with each row, in any structure, and check types and shapes.",
    "6 map_fn ragged": "map_fn takes and gives RaggedTensors.",
    "6 py_function": "py_function calls a function with tensors and converts what it gives to the types announced; its exceptions become InvalidArgumentError (ValueError, TypeError), UnknownError and so on.",
    "6 numpy_function": "numpy_function calls a function with arrays that it may write to, bytes for a string. In a pipeline the number and types of what it gives must be those announced, else InvalidArgumentError `0-th value returned by pyfunc_0 is int64, but expects int32`; outside they are as they are.",
    "6 function": "A tf.function gives tensors for numbers and strings, in any structure, also as a method and with an input_signature.",
    "6 print": "tf.print shows the first and last three elements of each dimension, shortest floats, quoted strings inside of tensors and structures.",
    "6 scopes": "name_scope, device, control_dependencies and init_scope change nothing.",
}
