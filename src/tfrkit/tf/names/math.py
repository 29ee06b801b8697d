"""Arithmetic, comparisons and functions of numbers: names, and the table that elementwise functions are made from.

`ops.math.elementwise` makes a function of each row of SINGLES and PAIRS, named after the last part of its first name.
Ragged arguments work entry by entry in all of them. `v1.` stands for `compat.v1.`. The columns:

- TensorFlow's names
- TensorFlow's kernel, which error texts name
- the types that it takes, in the order of the error text; words such as "real" are those of `values.types.WORDS`
- the function of numpy, or the one in `ops.math.elementwise` with an underscore before its name
- the names of the arguments where they are not `x` (and `y`); or "sparse" if 0 stays 0, so that sparse arguments work
"""

from __future__ import annotations

from typing import Final

from tfrkit.tf.entry import Absent, Entry

SINGLES: Final = """
negative math.negative                       | Neg        | real ints complex       | negative    | sparse
sign math.sign                               | Sign       | real ints complex       | _sign       | sparse
square math.square                           | Square     | real ints uints complex | square      | sparse
math.reciprocal v1.reciprocal                | Reciprocal | real ints complex       | reciprocal
sqrt math.sqrt                               | Sqrt       | real complex            | sqrt        | sparse
math.rsqrt v1.rsqrt                          | Rsqrt      | real complex            | _rsqrt
exp math.exp                                 | Exp        | real complex            | exp
math.expm1 v1.expm1                          | Expm1      | real complex            | expm1
math.log v1.log                              | Log        | real complex            | log
math.log1p v1.log1p                          | Log1p      | real complex            | log1p
sin math.sin                                 | Sin        | real complex            | sin         | sparse
cos math.cos                                 | Cos        | real complex            | cos
tan math.tan                                 | Tan        | real complex            | tan         | sparse
asin math.asin                               | Asin       | real complex            | arcsin      | sparse
acos math.acos                               | Acos       | real complex            | arccos
atan math.atan                               | Atan       | real complex            | arctan      | sparse
sinh math.sinh                               | Sinh       | real complex            | sinh
cosh math.cosh                               | Cosh       | real complex            | cosh
tanh math.tanh nn.tanh                       | Tanh       | real complex            | tanh        | sparse
asinh math.asinh                             | Asinh      | real complex            | arcsinh     | sparse
acosh math.acosh                             | Acosh      | real complex            | arccosh
atanh math.atanh                             | Atanh      | real complex            | arctanh     | sparse
sigmoid math.sigmoid nn.sigmoid              | Sigmoid    | real complex            | _sigmoid
math.erf v1.erf                              | Erf        | real                    | _erf        | sparse
floor math.floor                             | Floor      | real                    | floor
math.ceil v1.ceil                            | Ceil       | real                    | ceil
math.rint v1.rint                            | Rint       | real                    | rint
math.is_nan v1.is_nan v1.debugging.is_nan    | IsNan      | real                    | isnan
math.is_inf v1.is_inf v1.debugging.is_inf    | IsInf      | real                    | isinf
math.is_finite v1.is_finite v1.debugging.is_finite | IsFinite | real                | isfinite
math.softplus nn.softplus                    | Softplus   | half bfloat16 float double | _softplus | features
nn.elu                                       | Elu        | half bfloat16 float double | _elu     | features
nn.relu                                      | Relu       | ordered qint8           | _relu       | features
nn.relu6                                     | Relu6      | ordered                 | _relu6      | features
bitwise.invert                               | Invert     | ints uints              | invert
logical_not math.logical_not                 | LogicalNot | bool                    | logical_not
"""
PAIRS: Final = """
subtract math.subtract           | Sub      | real uint8 int8 uint16 int16 int32 int64 complex uint32 uint64 | subtract
multiply math.multiply           | Mul         | complete                    | multiply
v1.div                           | Div         | complete                    | _div
math.floordiv floordiv v1.floor_div | FloorDiv | complete                    | _floor_div
math.floormod floormod math.mod v1.mod | FloorMod | ints uints real           | _floor_mod
pow math.pow                     | Pow         | bfloat16 float half double ints complex | _power
maximum math.maximum             | Maximum     | real int8 uint8 int16 uint16 int32 uint32 int64 uint64 | maximum
minimum math.minimum             | Minimum     | real int8 uint8 int16 uint16 int32 uint32 int64 uint64 | minimum
math.squared_difference v1.squared_difference | SquaredDifference | real int32 int64 complex | _squared_difference
math.atan2 atan2                 | Atan2       | real                        | arctan2     | y x
bitwise.bitwise_and              | BitwiseAnd  | ints uints                  | bitwise_and
bitwise.bitwise_or               | BitwiseOr   | ints uints                  | bitwise_or
bitwise.bitwise_xor              | BitwiseXor  | ints uints                  | bitwise_xor
bitwise.left_shift               | LeftShift   | ints uints                  | _left_shift
bitwise.right_shift              | RightShift  | ints uints                  | _right_shift
equal math.equal                 | Equal       |                             | equal
not_equal math.not_equal         | NotEqual    |                             | not_equal
less math.less                   | Less        | ordered                     | less
less_equal math.less_equal       | LessEqual   | ordered                     | less_equal
greater math.greater             | Greater     | ordered                     | greater
greater_equal math.greater_equal | GreaterEqual | ordered                    | greater_equal
logical_and math.logical_and     | LogicalAnd  | bool                        | logical_and
logical_or math.logical_or       | LogicalOr   | bool                        | logical_or
math.logical_xor v1.logical_xor  | LogicalOr   | bool                        | logical_xor
"""

_REDUCED: Final = "sum mean max min prod any all logsumexp"  # at the top, and in TensorFlow 1


def rows(table: str) -> list[list[str]]:
    """Return the columns of SINGLES or PAIRS, of which the fifth may be empty."""
    lines = [[column.strip() for column in line.split("|")] for line in table.strip().splitlines()]
    return [[line[0].replace("v1.", "compat.v1."), *line[1:], *[""] * (5 - len(line))] for line in lines]


def last_part(names: str) -> str:
    """Return the name of the function that stands for TensorFlow's names: "math.log v1.log" is `log`."""
    return names.split(maxsplit=1)[0].rpartition(".")[2]


_ELEMENTWISE: Final = {
    names: f"tf.ops.math.elementwise:{last_part(names)}" for names, *_ in rows(SINGLES) + rows(PAIRS)
}
_FUNCTIONS: Final = {
    names: f"tf.{module}:{last_part(names)}"
    for module, table in {
        "ops.math.activations": (
            "nn.gelu, nn.l2_loss, nn.bias_add, nn.softmax math.softmax, nn.log_softmax math.log_softmax"
        ),
        "ops.math.linear": "matmul linalg.matmul, tensordot linalg.tensordot, einsum linalg.einsum",
        "ops.math.reduce": (
            "math.reduce_std, math.reduce_variance, math.reduce_euclidean_norm, argmax math.argmax, "
            "argmin math.argmin, nn.moments, math.count_nonzero v1.count_nonzero, math.zero_fraction nn.zero_fraction, "
            "cumsum math.cumsum, math.cumprod v1.cumprod"
        ),
        "ops.math.clip": (
            "norm linalg.norm, clip_by_value, clip_by_norm, clip_by_global_norm, linalg.global_norm v1.global_norm, "
            "math.l2_normalize nn.l2_normalize linalg.l2_normalize"
        ),
        "ops.math.segments": (
            "math.bincount v1.bincount, math.segment_sum v1.segment_sum, math.segment_max v1.segment_max"
        ),
        "v1.old_arguments": "v1.argmax v1.math.argmax v1.arg_max, v1.argmin v1.math.argmin v1.arg_min",
    }.items()
    for names in table.replace("v1.", "compat.v1.").split(", ")
}
_NUMPY: Final = Absent("Few input programs need it: use numpy or SciPy on `tensor.numpy()`.")
_GONE: Final = (
    "math.angle math.conj math.cumulative_logsumexp math.erfc math.imag math.is_non_decreasing "
    "math.is_strictly_increasing math.lgamma math.log_sigmoid math.multiply_no_nan math.nextafter math.polyval "
    "math.real math.reciprocal_no_nan math.xdivy math.xlog1py math.xlogy "
    "math.segment_mean math.segment_min math.segment_prod math.unsorted_segment_max math.unsorted_segment_mean "
    "math.unsorted_segment_min math.unsorted_segment_prod math.unsorted_segment_sqrt_n math.unsorted_segment_sum "
    "linalg.adjoint linalg.cross linalg.det linalg.diag linalg.diag_part linalg.inv linalg.matvec linalg.normalize "
    "linalg.set_diag linalg.tensor_diag linalg.tensor_diag_part linalg.trace"
)

NAMES: Final[dict[str, Entry]] = {
    **_ELEMENTWISE,
    "abs math.abs": "tf.ops.math.elementwise:absolute",
    "round math.round": "tf.ops.math.elementwise:round_half_even",
    "add math.add": "tf.ops.math.elementwise:add",
    "divide math.divide truediv math.truediv": "tf.ops.math.elementwise:truediv",
    "math.divide_no_nan compat.v1.div_no_nan": "tf.ops.math.elementwise:divide_no_nan",
    "add_n math.add_n": "tf.ops.math.elementwise:add_n",
    **_FUNCTIONS,
    **{f"reduce_{word} math.reduce_{word}": f"tf.ops.math.reduce:reduce_{word}" for word in _REDUCED.split()},
    **{
        f"compat.v1.reduce_{word} compat.v1.math.reduce_{word}": f"tf.v1.old_arguments:reduce_{word}"
        for word in _REDUCED.split()
    },
    "histogram_fixed_width histogram_fixed_width_bins": Absent(
        "Use numpy.histogram on `tensor.numpy()`, or tf.math.bincount for integers."
    ),
    "math.confusion_matrix compat.v1.confusion_matrix": Absent(
        "Confusion matrices judge models: use sklearn.metrics.confusion_matrix on `tensor.numpy()`."
    ),
    "nn.leaky_relu nn.silu nn.swish nn.selu nn.crelu nn.softsign math.softsign": Absent(
        "Activations belong to the model: use those of PyTorch, JAX or Keras 3."
    ),
    "realdiv": Absent("Use tf.divide."),
    "truncatediv": Absent("Use tf.math.floordiv, or numpy.trunc of the quotient."),
    "truncatemod": Absent("Use tf.math.floormod, or numpy.fmod on `tensor.numpy()`."),
    "math.accumulate_n compat.v1.accumulate_n": Absent("Use tf.add_n."),
    "math.scalar_mul scalar_mul": Absent("Use tf.multiply."),
    **{f"{name} compat.v1.{last_part(name)}": _NUMPY for name in _GONE.split()},
    "compat.v1.matrix_inverse compat.v1.matrix_determinant compat.v1.matrix_set_diag compat.v1.matrix_diag": _NUMPY,
    "compat.v1.matrix_diag_part compat.v1.debugging.is_non_decreasing": _NUMPY,
    "compat.v1.debugging.is_strictly_increasing": _NUMPY,
}
