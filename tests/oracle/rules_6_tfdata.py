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
    # functions
    "6 cond": "cond calls one of two functions, which must be callable.",
    "6 case": "case calls the function of the first condition that holds; switch_case that of a number, and the last one for a number that is out of range.",
    "6 while_loop": "while_loop goes on with what its body gives, at most maximum_iterations times; the result has the structure of the variables.",
    "6 map_fn": "map_fn, vectorized_map, foldl, foldr and scan call a function with each row, in any structure, and check types and shapes.",
    "6 map_fn ragged": "map_fn takes and gives RaggedTensors.",
    "6 py_function": "py_function calls a function with tensors and converts what it gives to the types announced; its exceptions become InvalidArgumentError (ValueError, TypeError), UnknownError and so on.",
    "6 numpy_function": "numpy_function calls a function with arrays that it may write to, bytes for a string. In a pipeline the number and types of what it gives must be those announced, else InvalidArgumentError `0-th value returned by pyfunc_0 is int64, but expects int32`; outside they are as they are.",
    "6 function": "A tf.function gives tensors for numbers and strings, in any structure, also as a method and with an input_signature.",
    "6 nest": "tf.nest flattens, maps and packs lists, tuples, named tuples and dicts (by sorted keys).",
    "6 print": "tf.print shows the first and last three elements of each dimension, shortest floats, quoted strings inside of tensors and structures.",
    "6 scopes": "name_scope, device, control_dependencies and init_scope change nothing.",
}
