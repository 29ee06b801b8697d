"""What TensorFlow does with tensors, their types and shapes, and the functions on arrays."""

from __future__ import annotations

SECTION_6_TENSOR = {
    "6 tensor constants": "tf.constant makes int32 (int64 if a value does not fit), float32, bool, complex128 or string of Python values and keeps numpy's types; with a type given, integers wrap round, floats become no integers, and truth values become int32, int64, uint64 and floats only.",
    "6 tensor operands": "Beside a tensor, a Python value takes its type or is an error (`Cannot convert 1.5 to EagerTensor of dtype int32`), a numpy value is cast to it, and another tensor must have it (`cannot compute AddV2 as input #1(zero-based) was expected to be a int32 tensor but is a float tensor`); `+`, `/` and `@` fall back to the value's own type first.",
    "6 tensor operators": "Operators on numbers, truth values and strings give these values and types, or refuse the type with the list of those allowed.",
    "6 tensor equality": "`==` compares element by element, is False for None, and False for shapes that do not fit.",
    "6 tensor broadcasting": "Shapes that do not fit: `Incompatible shapes: [2] vs. [3]`.",
    "6 tensor indexing": "Integers, slices, an ellipsis, new axes, scalar tensors and masks index; what is out of range and what is no index raise these errors.",
    "6 tensor text": "repr() and str() of tensors of every type and rank, and format().",
    "6 tensor as a value": "len, iteration, bool, int, float, index, hash and numpy's functions on tensors, and the attributes that eager tensors have not.",
    "6 types": "Types are objects: tf.int32 equals its name, its number and numpy's type; repr is tf.int32, str is <dtype: 'int32'>; min, max, limits, size and the questions is_floating and so on; what names no type is a TypeError.",
    "6 shapes": "TensorShape: making, indexing, joining, merging, comparing with lists and tuples, the assertions and their errors; Dimension in compat.v1.",
    "6 specs": "TensorSpec, RaggedTensorSpec and SparseTensorSpec: repr, equality, what is compatible and what two have in common.",
    "6 reshape": "reshape with -1 and of empty tensors, shape, size, rank, squeeze, expand_dims, broadcast_to, repeat: results, types and errors.",
    "6 stack and split": "stack, concat, unstack, split and tile convert literals to the type of the first tensor and check shapes; stack of literals alone is one constant.",
    "6 transpose and pad": "transpose, reverse, roll and pad (constant, reflect, symmetric), for strings too.",
    "6 make": "range takes the widest of int32, int64, float32, float64 and sums floats step by step; linspace, eye, zeros, ones, fill, one_hot, sequence_mask, meshgrid.",
    "6 cast": "cast cuts floats off, wraps integers round and refuses strings; saturate_cast clips; bitcast, complex, identity.",
    "6 gather": "gather, gather_nd, slice, strided_slice, boolean_mask, where, scatter_nd: places out of range are errors that name them.",
    "6 order": "sort, argsort (stable), top_k, unique (in order of first occurrence, every NaN another), searchsorted.",
    "6 reductions": "reduce_* over given axes; integer means are cut off and summed in 64 bits; the extremes of nothing are the type's limits; argmax passes over NaN; cumsum, clip_by_value, softmax. Float sums agree to 2e-6.",
    "6 counts": "bincount and histogram_fixed_width.",
    "6 nest and its errors": "tf.nest: flatten, map_structure, pack_sequence_as, assert_same_structure and is_nested take lists as structures; dicts are flattened by sorted keys and keep their order; the texts of the errors.",
    "6 names": "docs/tensorflow_names.txt holds TensorFlow's public names, from which docs/names.md is made.",
    "6 segments": "segment_* and unsorted_segment_*, dynamic_partition, dynamic_stitch, reverse_sequence, tensor_scatter_nd_*: what empty segments give, and places out of range.",
    "6 activations": "leaky_relu, gelu, silu, selu, softsign, erfc, lgamma and others agree to 1e-6.",
    "6 matrices": "inv, det, cross, set_diag, tensor_diag and normalize agree to 1e-5.",
    "6 compat": "tf.compat's as_bytes and as_text; names of TensorFlow 1 such as div (integers round down), to_int64 and diag.",
    "6 functions": "Functions of numbers by type: sums, products, quotients, roots, roundings and comparisons to the bit, exponentials and angles within 1e-6 (float32); types that a function does not take are refused with the list of those it takes.",
    "6 making errors": "Errors are made with node_def, op and message, OpError with its number too, and a dict of details behind them; they are pickled and copied.",
}
