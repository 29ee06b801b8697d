"""The statements about the bytes of an Example as TensorFlow's parsing ops read them.

Data only. Each entry is checked live against TensorFlow by the tests marked with its id.
"""

from __future__ import annotations

SECTION_2_1: dict[str, str] = {
    # Example and Features
    "2.1 features again": "The field of Features may occur any number of times in an Example; all of its entries count.",
    "2.1 unknown fields": "Other fields of an Example are skipped if they are varints, fixed or length-delimited.",
    "2.1 groups": "A group in an Example makes it unparsable.",
    "2.1 overlong tag": "The tag of Features written with more bytes than it needs is an unknown field: the features are lost silently. In a map entry such tags are read.",
    "2.1 unparsable": "An Example that cannot be parsed is an InvalidArgumentError `Could not parse example input, value: '...'` with all of its bytes.",
    "2.1 foreign tag in Features": "Anything but a map entry in Features makes the Example unparsable.",
    "2.1 value before key": "In a map entry the value may stand before the key.",
    "2.1 entry without key": "A map entry without key makes the Example unparsable.",
    "2.1 entry without value": "A map entry without value makes the Example unparsable.",
    "2.1 entry with a third field": "So does a third field, known or unknown.",
    "2.1 two keys or two values": "Two keys, or two values, are two fields and pass: the second counts, and what is missing is empty.",
    "2.1 keys are bytes": "Keys are compared as bytes and never checked to be UTF-8.",
    # Feature
    "2.1 first tag is the kind": "The first tag of a Feature is its kind, and what follows that list is ignored: neither a second list nor a second kind counts.",
    "2.1 empty feature": "A Feature without content has no kind: it counts as missing.",
    "2.1 unsupported kind": "Any other first byte is an InvalidArgumentError `Unsupported datatype.`, if the key was asked for.",
    # lists
    "2.1 one packed run": "If a list of numbers begins packed, that run is all of it; what follows is ignored.",
    "2.1 unpacked only": "If it begins unpacked all of it must be: a packed run or an unknown field is an error.",
    "2.1 incomplete float": "Bytes at the end of a packed run of floats that make no whole one are dropped.",
    "2.1 long varints": "Varints may have up to ten bytes, bits beyond 64 are dropped; an eleventh byte is an error.",
    "2.1 bytes list tags": "A BytesList holds values only: an unknown field is an error.",
    "2.1 lengths": "Lengths are varints of up to ten bytes of which 32 bits count; one that goes beyond what holds it is an error.",
    "2.1 run beyond its list": "Except that of a packed run of int64: it ends with its list at the latest. A run of floats must be whole.",
    # duplicates
    "2.1 last duplicate": "Of entries with one key, in one map or in concatenated Examples, the last one counts.",
    "2.1 unset duplicate, dense": "For dense features a last entry of no kind is passed over, and an earlier one shows through.",
    "2.1 unset duplicate, single": "The op for one Example passes over it for features of variable length, too.",
    "2.1 unset duplicate, batch": "The op for a batch takes it for an empty list there.",
    # errors
    "2.1 last fault is reported": "Of several faulty keys the one last in the bytes is reported.",
    "2.1 first example is reported": "Of several faulty examples in a batch the first is reported.",
    "2.1 overlong unpacked floats": "TensorFlow 2.21 writes out of bounds when an unpacked FloatList has more values than a FixedLenFeature; tfrkit reports the number of values. (Not run in TensorFlow.)",
    "2.1 bytes of the message": "Where the bytes in the message are not UTF-8 TensorFlow fails with a UnicodeDecodeError while making its exception; tfrkit raises the InvalidArgumentError.",
}
