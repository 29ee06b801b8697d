"""tf.nest in TensorFlow and in tfrkit.tf."""

from __future__ import annotations

import collections

from tests.oracle.support.tf_scenarios import same_lines
from tests.support.rules import tf_rule

P = collections.namedtuple("P", "x y")  # noqa: PYI024


@tf_rule("6 nest and its errors")
def test_nest():
    same_lines(
        """
        n.flatten([1, (2, {"b": 3, "a": 4})])
        n.flatten(1)
        n.flatten(None)
        n.flatten("ab")
        n.flatten([])
        n.flatten(P(1, [2, 3]))
        n.flatten({"b": 1, "a": 2})
        n.flatten({1: 1, "a": 2})
        n.flatten(tf.constant([1, 2]))
        n.flatten([tf.constant([1, 2]), [3]])
        n.flatten(np.array([1, 2]))
        n.flatten({1, 2})
        n.flatten(range(3))
        n.flatten([1, [2]], expand_composites=True)
        n.map_structure(lambda x: x + 1, [1, (2, {"a": 3})])
        n.map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)])
        n.map_structure(lambda x, y: x + y, [1, 2], [1])
        n.map_structure(lambda x, y: x + y, [1, 2], (1, 2))
        n.map_structure(lambda x, y: x + y, [1, 2], (1, 2), check_types=False)
        n.map_structure(lambda x: x, P(1, 2))
        n.map_structure(5, [1])
        n.map_structure(lambda x: x)
        n.map_structure(lambda: 1)
        n.map_structure(lambda x, y: 1, {"a": 1}, {"b": 1})
        n.map_structure(lambda x, y: 1, [1], 1)
        n.map_structure(lambda x, y: 1, [1, [2]], [1, 2])
        n.map_structure(lambda x: x, [1], foo=1)
        n.pack_sequence_as([1, (2, {"a": 3})], [4, 5, 6])
        n.pack_sequence_as([1, 2], [1])
        n.pack_sequence_as(1, [5])
        n.pack_sequence_as(1, [5, 6])
        n.pack_sequence_as([1], 5)
        n.pack_sequence_as({"b": 1, "a": 2}, [7, 8])
        n.pack_sequence_as(P(1, 2), [7, 8])
        n.pack_sequence_as([], [])
        n.pack_sequence_as([1, 2], (7, 8))
        n.assert_same_structure([1, 2], [3, 4])
        n.assert_same_structure([1, 2], (3, 4))
        n.assert_same_structure([1, 2], (3, 4), check_types=False)
        n.assert_same_structure([1, [2]], [3, 4])
        n.assert_same_structure([1], 1)
        n.assert_same_structure({"a": 1}, {"b": 1})
        n.assert_same_structure(P(1, 2), (1, 2))
        n.assert_same_structure({"a": 1}, collections.OrderedDict(a=1))
        n.assert_same_structure([1, 2], [1])
        n.is_nested([1])
        n.is_nested({})
        n.is_nested("a")
        n.is_nested(tf.constant([1]))
        n.is_nested((1,))
        n.is_nested({1})
        n.is_nested(np.zeros(2))
        n.is_nested(P(1, 2))
        n.map_structure(lambda x: x, collections.OrderedDict([("b", 1), ("a", 2)]))
        n.flatten(collections.defaultdict(int, a=1))
        n.map_structure(lambda x: x, [])
        n.map_structure(lambda x: None, {"a": [1, 2]})
        n.flatten([None, 1])
        n.flatten({"a": {}})
        n.pack_sequence_as(flat_sequence=[1], structure=[0])
        """,
        n=lambda tf: tf.nest,
        collections=collections,
        P=P,
    )
