"""Making arrays and changing their types and shapes."""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Absent, Entry, Raw

_FUNCTIONS: Final = {  # modules with functions that have TensorFlow's names
    "ops.arrays.make": "fill zeros ones zeros_like ones_like",
    "ops.arrays.shapes": (
        "identity identity_n shape size rank reshape expand_dims squeeze transpose reverse roll broadcast_to "
        "ensure_shape"
    ),
    "ops.arrays.join": "stack unstack concat split tile repeat",
    "ops.arrays.gather": (
        "boolean_mask where gather gather_nd scatter_nd tensor_scatter_nd_update tensor_scatter_nd_add "
        "tensor_scatter_nd_sub tensor_scatter_nd_max tensor_scatter_nd_min unravel_index"
    ),
    "ops.arrays.pad": "pad",
    "ops.arrays.sequences": "linspace one_hot sequence_mask meshgrid",
    "ops.math.order": "sort argsort unique unique_with_counts searchsorted",
    "ops.math.segments": "dynamic_partition",
}
_OLD: Final = "squeeze expand_dims shape size zeros_like ones_like transpose pad gather boolean_mask where"
_CASTS: Final = "float int32 int64 double bfloat16 complex64 complex128"
_TEXT_TYPES: Final = (
    "as_bytes as_str_any as_text bytes_or_text_types complex_types forward_compatible integral_types path_to_str "
    "real_types"
)

NAMES: Final[dict[str, Entry]] = {
    **{name: f"tf.{module}:{name}" for module, names in _FUNCTIONS.items() for name in names.split()},
    **{f"compat.v1.{name}": f"tf.v1.old_arguments:{name}" for name in _OLD.split()},
    **{f"compat.v1.to_{name}": f"tf.v1.old_arguments:to_{name}" for name in _CASTS.split()},
    **{f"compat.{name}": Raw(f"tf.text_types:{name}") for name in _TEXT_TYPES.split()},
    "compat.as_str": Raw("tf.text_types:as_text"),
    "is_symbolic_tensor": Raw("tf.text_types:is_symbolic_tensor"),
    "get_current_name_scope": Raw("tf.text_types:get_current_name_scope"),
    "constant": Raw("tf.tensors.conversion:constant"),
    "compat.v1.constant": Raw("tf.tensors.conversion:constant_v1"),
    "compat.v1.convert_to_tensor": Raw("tf.tensors.conversion:convert_to_tensor_v1"),
    "compat.v1.convert_to_tensor_or_sparse_tensor": Raw(
        "tf.tensors.conversion:convert_to_tensor_or_sparse_tensor"
    ),
    "get_static_value": Raw("tf.tensors.conversion:get_static_value"),
    "convert_to_tensor": Raw("tf.tensors.conversion:convert_to_tensor"),
    "is_tensor": Raw("tf.tensors.conversion:is_tensor"),
    "broadcast_static_shape": Raw("tf.tensors.tensor_shape:broadcast_static_shape"),
    "cast dtypes.cast": "values.cast:cast",
    "saturate_cast dtypes.saturate_cast": "values.cast:saturate_cast",
    "bitcast": "values.cast:bitcast",
    "complex dtypes.complex": "values.cast:make_complex",
    "stop_gradient guarantee_const": "tf.ops.arrays.shapes:identity",
    "tuple": "tf.ops.arrays.shapes:identity_n",
    "slice": "tf.ops.arrays.gather:slice_value",
    "strided_slice": "tf.ops.arrays.strided_slice:masked_slice",
    "nn.embedding_lookup": "tf.ops.arrays.gather:embedding_lookup",
    "compat.v1.batch_gather": "tf.ops.arrays.gather:batch_gather",
    "range": "tf.ops.arrays.sequences:value_range",
    "eye linalg.eye": "tf.ops.arrays.sequences:eye",
    "linalg.band_part compat.v1.matrix_band_part": "tf.ops.arrays.sequences:band_part",
    "math.top_k nn.top_k": "tf.ops.math.order:top_k",
    "math.in_top_k nn.in_top_k": "tf.ops.math.order:in_top_k",
    "nn.space_to_depth compat.v1.space_to_depth": "tf.ops.arrays.blocks:space_to_depth",
    "nn.depth_to_space compat.v1.depth_to_space": "tf.ops.arrays.blocks:depth_to_space",
    "parallel_stack": Absent("Use tf.stack."),
    "shape_n": Absent("Use tf.shape of each."),
    "dynamic_stitch": Absent("Use tf.scatter_nd, or tf.tensor_scatter_nd_update."),
    "broadcast_dynamic_shape": Absent("Use tf.broadcast_static_shape, or tf.shape of a sum."),
    "linalg.matrix_transpose compat.v1.matrix_transpose": Absent("Use tf.transpose with `perm`."),
    "math.invert_permutation compat.v1.invert_permutation": Absent("Use tf.argsort."),
    "reverse_sequence": Absent("Use tf.reverse of a part of each row, or numpy on `tensor.numpy()`."),
    "compat.v1.setdiff1d": Absent("Use numpy.setdiff1d on `tensor.numpy()`."),
}
