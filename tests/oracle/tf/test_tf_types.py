"""Types, shapes and specs in TensorFlow and in tfrkit.tf."""

from __future__ import annotations

import pickle

import pytest

from tests.oracle.support.tf_scenarios import same_lines
from tests.support.rules import tf_rule

TYPES = [
    "float32", "float64", "float16", "half", "double", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16",
    "uint32", "uint64", "bool", "string", "complex64", "complex128", "qint8", "quint8", "qint16", "quint16", "qint32",
    "resource", "variant", "int4", "uint4", "float8_e5m2", "float8_e4m3fn",
]  # fmt: skip


@tf_rule("6 types")
@pytest.mark.parametrize("name", TYPES)
def test_attributes_of_a_type(name):
    same_lines(
        """
        x, repr(x), str(x), x.name, x.as_datatype_enum, x.size, hash(x)
        [x.is_floating, x.is_integer, x.is_bool, x.is_complex, x.is_quantized, x.is_unsigned]
        [x.is_numpy_compatible, x.is_numeric]
        str(x.as_numpy_dtype)
        x.base_dtype, x.real_dtype
        float(x.min)
        float(x.max)
        x.min
        type(x.max).__name__
        x.limits
        x == x.name, x != x.name, x == x.as_datatype_enum, x == None, x == "nope", bool(x), isinstance(x, tf.DType)
        pickle.loads(pickle.dumps(x)) is x
        x.is_compatible_with(tf.int32)
        np.zeros(2, x.as_numpy_dtype).shape
        """,
        x=lambda tf: tf.as_dtype(name),
        pickle=pickle,
    )


@tf_rule("6 types")
def test_what_names_a_type():
    same_lines(
        """
        tf.as_dtype(int)
        tf.as_dtype(float)
        tf.as_dtype(str)
        tf.as_dtype(bytes)
        tf.as_dtype(object)
        tf.as_dtype(bool)
        tf.as_dtype(complex)
        tf.as_dtype(3)
        tf.as_dtype(200)
        tf.as_dtype("float")
        tf.as_dtype("nope")
        tf.as_dtype("bytes")
        tf.as_dtype("<i4")
        tf.as_dtype(None)
        tf.as_dtype([1])
        tf.as_dtype(np.dtype("U3"))
        tf.as_dtype(np.str_)
        tf.as_dtype(np.int16)
        tf.as_dtype(np.dtype(">f4"))
        tf.as_dtype(np.datetime64)
        tf.as_dtype(tf.int32)
        tf.int32 == np.int32, tf.int32 == np.dtype("int32"), tf.int32 == int, tf.string == str, tf.string == object
        np.int32 == tf.int32, np.dtype("int32") == tf.int32, "int32" == tf.int32, tf.int32 != tf.int64
        tf.double is tf.float64, tf.half is tf.float16, tf.dtypes.int32 is tf.int32, tf.dtypes.DType is tf.DType
        tf.DType(3), tf.dtypes.as_dtype("int8")
        np.dtype(tf.int32)
        f"{tf.int32}"
        {tf.int32: 1}[tf.as_dtype("int32")]
        """
    )


@tf_rule("6 shapes")
def test_making_shapes():
    same_lines(
        """
        S([1, None])
        repr(S([1, None])), repr(S(None)), repr(S(3)), repr(S([])), repr(S((2, 3))), str(S([1, None])), str(S(None))
        repr(S(S([1]))), repr(S(np.array([1, 2]))), repr(S(tf.constant([1, 2]))), repr(S([np.int64(3)]))
        S("x")
        S([1.5])
        S([-1])
        S([[1]])
        f"{S([1, 2])}"
        """,
        S=lambda tf: tf.TensorShape,
    )


@tf_rule("6 shapes")
@pytest.mark.parametrize("dims", [[2, 3], [2, None], [], [None], None, [1], [4, 5, 6]], ids=str)
def test_shapes(dims):
    same_lines(
        """
        s.as_list()
        s.rank
        s.ndims
        s.num_elements()
        s.is_fully_defined()
        str(s.dims)
        s[0]
        s[5]
        s[-1]
        repr(s[1:])
        repr(s[:2])
        repr(s[:-1])
        repr(s[::2])
        s["x"]
        len(s)
        list(s)
        tuple(s)
        bool(s)
        s == [2, 3], s == (2, 3), s == [2, None], s == None, s == "x", s == 1, s != [2, 3], s == tf.TensorShape(None)
        hash(s) == hash(tf.TensorShape(s))
        [s.is_compatible_with(other) for other in ([2, 3], [2], None, [None, None], [1], [])]
        [repr(s.most_specific_compatible_shape(other)) for other in ([2, 3], [2], None, [None, None], [1], [])]
        [s.is_subtype_of(tf.TensorShape(other)) for other in ([2, 3], [2], None, [None, None], [1], [None], [])]
        s.is_subtype_of([None])
        repr(s.most_specific_common_supertype([tf.TensorShape([2, 5])]))
        repr(s.merge_with([2, 3]))
        repr(s.merge_with([None, 7]))
        repr(s.merge_with(None))
        repr(s.concatenate([2])), repr(s + [2]), repr(s + tf.TensorShape([2])), repr([3] + s), repr((3,) + s)
        repr(s.concatenate(None))
        repr(s.with_rank(1))
        repr(s.with_rank(2))
        repr(s.with_rank_at_least(2))
        repr(s.with_rank_at_most(1))
        s.assert_has_rank(2)
        s.assert_same_rank([1, 2])
        s.assert_is_compatible_with([2, 3])
        s.assert_is_fully_defined()
        2 in s
        np.zeros(s).shape
        s == pickle.loads(pickle.dumps(s))
        """,
        s=lambda tf: tf.TensorShape(dims),
        pickle=pickle,
    )


@tf_rule("6 shapes")
def test_dimensions():
    same_lines(
        """
        repr(D(3)), str(D(3)), repr(D(None)), str(D(None)), D(3).value, int(D(3)), D(3) == 3, D(3) == D(3)
        repr(D(3) + 1), repr(D(3) * 2), repr(D(7) // 2), repr(D(7) - 2), repr(D(7) % 4)
        repr(2 + D(3)), repr(D(None) + 1)
        [1, 2, 3][D(1)]
        tf.compat.dimension_value(D(3)), tf.compat.dimension_value(3)
        repr(tf.compat.dimension_at_index(tf.TensorShape([2, 3]), 1))
        repr(tf.TensorShape([2]).dims[0].value)
        """,
        D=lambda tf: tf.compat.v1.Dimension,
    )


@tf_rule("6 specs")
def test_specs():
    same_lines(
        """
        T([1, None], tf.int32)
        T([1], "int32", "x"), repr(T(None)), str(T([2])), T(shape=tf.TensorShape([1]), dtype=np.float32)
        T([1], tf.int32) == T([1], tf.int32), T([1]) == T([1], name="a"), hash(T([1])) == hash(T([1])), T([1]) != T([2])
        repr(T([1]).shape), T([1]).dtype, T([1], name="q").name
        T.from_tensor(tf.constant([1, 2]))
        T.from_tensor(tf.constant(["a"]), name="x")
        T.from_tensor(np.zeros(2))
        T.from_spec(T([1])), T.from_spec(T([1]), name="q")
        T([1]).is_compatible_with(tf.constant([1.0])), T([None]).is_compatible_with(T([1]))
        T([1]).is_compatible_with(T([2]))
        T([1]).is_compatible_with(np.zeros(1))
        T([1], 5)
        T([1], "nope")
        T("x")
        T([None]).most_specific_compatible_type(T([1]))
        T([1]).most_specific_compatible_type(T([2]))
        T([1]).most_specific_compatible_type(T([2], tf.int32)) and None
        T([None]).is_subtype_of(T(None)), T(None).is_subtype_of(T([1]))
        T([1]).most_specific_common_supertype([T([2]), T([1])])
        T([1]).value_type is tf.Tensor
        R([None, None], tf.int32), R(ragged_rank=1), R([1, None]).ragged_rank, R([1, None]).row_splits_dtype
        R()
        R([1], ragged_rank=1)
        R([1, None]) == R([1, None]), R([1, None]).flat_values_spec, repr(R([1, None]).shape), R([1, None]).dtype
        P([None], tf.string), P(), repr(P([1]).shape), P([1]) == P([1])
        tf.type_spec_from_value(tf.constant(1)), tf.type_spec_from_value(1), tf.type_spec_from_value(np.zeros(2))
        tf.type_spec_from_value("a"), tf.type_spec_from_value([1, 2])
        isinstance(T([1]), tf.TypeSpec), isinstance(R([1, None]), tf.TypeSpec)
        pickle.loads(pickle.dumps(T([1]))), pickle.loads(pickle.dumps(R([1, None])))
        """,
        T=lambda tf: tf.TensorSpec,
        R=lambda tf: tf.RaggedTensorSpec,
        P=lambda tf: tf.SparseTensorSpec,
        pickle=pickle,
    )
