"""The statements about TensorFlow's messages.

Data only. Each entry is checked live against TensorFlow by the tests marked with its id. Texts of errors are those of
protobuf's upb; what its pure Python says instead is one statement of its own.
"""

from __future__ import annotations

SECTION_2: dict[str, str] = {
    # what the messages are
    "2 schema": "Nine proto3 messages: Example, SequenceExample, Features, FeatureLists, FeatureList, Feature, BytesList, FloatList and Int64List, with fixed names, numbers and types of their fields; two are maps by string, and the three lists of a Feature are a oneof.",
    "2 names": "The package is `tensorflow`: the full name of Example is `tensorflow.Example`; the classes live in example_pb2 and feature_pb2 of tensorflow.core.example.",
    # serialising
    "2 packed": "Numbers are always written packed.",
    "2 unset value in a map": "A Feature of no kind is written in its map entry as a value of length 0.",
    "2 empty list is written": "A list that is set and empty is written with length 0, and is not the same as no list.",
    "2 empty message": "Example() is no bytes; with features={} it is `0a 00`.",
    "2 negative int64": "A negative int64 takes ten bytes.",
    "2 map order": "The order of map entries in bytes is arbitrary: only deterministic=True promises the same bytes again.",
    "2 deterministic order": "With deterministic=True keys ascend bytewise, but in upb a longer key precedes its own prefix.",
    # text
    "2 text layout": "The text form indents by two spaces, one field a line.",
    "2 text floats": "Floats are the shorter of six and nine significant digits that reads back as the same float32; inf and nan are words.",
    "2 text bytes": "Bytes are C-escaped with octal numbers, also where they are UTF-8.",
    "2 text keys": "Keys are printed as UTF-8, as they are.",
    "2 text map order": "In text, upb's maps stand in the reverse of their deterministic order.",
    "2 text of the unset": "A Feature of no kind prints nothing; an empty list that is set prints empty braces.",
    # what the lists take
    "2 int64 iterables": "Int64List takes every iterable of whole numbers: lists, tuples, ranges, sets, keys, generators, arrays, tensors.",
    "2 int64 bytes": "Int64List takes bytes for the numbers of its bytes.",
    "2 list of None": "None for a list of values is the empty list.",
    "2 int64 floats": "Int64List refuses floats with a TypeError, even whole ones and numpy's.",
    "2 int64 bool": "Int64List refuses bool and numpy's bool with a TypeError.",
    "2 int64 others": "Int64List refuses str and None among its values with a TypeError.",
    "2 int64 range": "An int outside of 64 bits is a ValueError `Value out of range: N`.",
    "2 not iterable": "What cannot be iterated is a TypeError `must assign iterable`.",
    "2 float numbers": "FloatList takes ints, floats, bools and numpy's scalars.",
    "2 float rounding": "FloatList keeps values rounded to float32: 0.1 reads back as 0.10000000149011612.",
    "2 float overflow": "What is beyond float32 becomes infinite silently.",
    "2 float str": "A str in a FloatList is a TypeError `must be real number, not str`.",
    "2 float huge int": "An int that no double holds is an OverflowError.",
    "2 bytes types": "BytesList takes bytes, numpy's bytes and arrays of them, and refuses bytearray, memoryview and ints with a TypeError.",
    "2 bytes str": "A str in a BytesList is a TypeError `expected bytes, str found`.",
    "2 bytes one": "Bytes instead of a list of bytes are a TypeError: their items are ints.",
    # constructors
    "2 unknown keyword": 'A keyword that is no field is a ValueError `Protocol message Int64List has no "values" field.`',
    "2 positional": "A positional argument is a TypeError `No positional arguments allowed`.",
    "2 dict as message": "A message inside a message may be given as a dict.",
    "2 wrong class": "A message of another class is a TypeError.",
    "2 None is unset": "None for a message leaves it unset.",
    "2 several kinds": "Of several kinds given to the constructor of a Feature the last one stays.",
    # maps
    "2 map keys": "Keys of maps are str; bytes are taken if they are UTF-8, and are a UnicodeDecodeError if not.",
    "2 missing key": "Reading a missing key makes an unset Feature there; get() gives None and makes nothing.",
    "2 map assignment": "Assigning to a key is a ValueError that says `may not be assigned`; CopyFrom() of its value does it.",
    # attributes and the oneof
    "2 assignment": "Assigning to a field that is repeated, a map or a message is an AttributeError that names it.",
    "2 unknown attribute": "An attribute that is no field is an AttributeError.",
    "2 presence": "HasField of a repeated field is a ValueError `... does not have presence.`",
    "2 reading sets nothing": "Reading a list of a Feature does not set its kind.",
    "2 writing sets the kind": "Changing a list, or SetInParent() on it, sets the kind and clears the other ones.",
    "2 equality": "Messages are equal by value, and unhashable.",
    "2 message methods": "Messages have protobuf's methods: SerializeToString, SerializePartialToString, FromString, ParseFromString, MergeFromString, MergeFrom, CopyFrom, Clear, ClearField, ByteSize, HasField, WhichOneof, ListFields, IsInitialized, SetInParent, DESCRIPTOR.",
    "2 list methods": "Repeated fields have append, extend, insert, pop, remove, del, slices, sort and reverse.",
    "2 map methods": "Maps have in, len, iteration, items, get, pop, clear and update.",
    # parsing by protobuf
    "2 parse runs": "FromString joins all runs of a list's numbers, packed and unpacked in any mixture.",
    "2 parse same kind twice": "Two lists of the same kind in one Feature become one.",
    "2 parse last kind": "Of several kinds in one Feature the last one stays.",
    "2 parse duplicate key": "Of several map entries with one key the last replaces the others.",
    "2 parse concatenated": "Messages written one after another are merged.",
    "2 parse unknown fields": "Unknown fields, groups too, are kept and written again.",
    "2 parse entry defaults": "A map entry without key has the empty key; one without value an unset Feature.",
    "2 parse corrupt": "Damage is a DecodeError `Error parsing message with type 'tensorflow.Example': Wire format was corrupt`.",
    "2 parse bad utf-8": "A key that is not UTF-8 is a DecodeError `... String field had bad UTF-8`.",
    "2 parse entry with unknown field": "In upb a map entry that has an unknown field is not in the map; tfrkit's parsers keep it, as protobuf's C++ does.",
    "2 pure Python": "Where protobuf runs in pure Python the texts of floats and errors and the orders of maps are other ones; tfrkit's messages follow.",
}
