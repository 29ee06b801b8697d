"""Imports go down the layers only, in no circle and never into `tf`; optional packages come through one door."""

from __future__ import annotations

import ast

from tools.layers import (
    Import,
    all_imports,
    breaches_of_the_wall,
    computed_imports,
    core_packages,
    import_circles,
    imports_of,
    imports_past_the_door,
    module_trees,
    parts_without_layer,
    upward_imports,
)


def down(module, target, *, typing_only=False):
    return Import(module, target, 1, typing_only)


def test_there_is_something_to_check():
    assert len(module_trees()) > 100
    assert sum(found.is_own for found in all_imports()) > 100


def test_every_part_has_a_layer():
    assert not list(parts_without_layer(module_trees()))


def test_imports_go_down():
    assert not list(upward_imports(all_imports()))


def test_nothing_outside_imports_into_tf():
    assert not list(breaches_of_the_wall(all_imports()))


def test_imports_make_no_circle():
    assert not list(import_circles(module_trees(), all_imports()))


def test_optional_packages_come_through_one_door():
    assert not list(imports_past_the_door(all_imports(), core_packages()))


def test_modules_are_imported_by_name():
    assert not list(computed_imports(module_trees()))


def test_part_without_a_layer_is_found():
    assert [*parts_without_layer(["tfrkit.records.x", "tfrkit.helpers.x"])] == [
        "src/tfrkit/helpers has no layer: put it into LAYERS, or its modules into another part"
    ]


def test_import_upwards_is_found():
    wrong = down("tfrkit.records.x", "tfrkit.data.y")
    assert [*upward_imports([wrong, down("tfrkit.data.y", "tfrkit.records.x")])] == [
        "tfrkit.records.x (line 1) imports tfrkit.data.y, which is not a lower layer"
    ]


def test_import_over_the_wall_is_found_also_for_types_and_from_the_command_line():
    wrong = [
        down("tfrkit.data.x", "tfrkit.tf.y", typing_only=True),
        down("tfrkit.cli.x", "tfrkit.tf"),
        down("tfrkit", "tfrkit.tf"),
    ]
    assert len([*breaches_of_the_wall([*wrong, down("tfrkit.tf.y", "tfrkit.tf.z")])]) == 3


def test_circle_is_found_unless_an_import_is_for_types():
    there, back = down("tfrkit.data.x", "tfrkit.data.y"), down("tfrkit.data.y", "tfrkit.data.x")
    assert "circle" in next(import_circles(["tfrkit.data.x", "tfrkit.data.y"], [there, back]))
    typed = down("tfrkit.data.y", "tfrkit.data.x", typing_only=True)
    assert not list(import_circles(["tfrkit.data.x", "tfrkit.data.y"], [there, typed]))


def test_optional_package_past_the_door_is_found():
    found = imports_past_the_door(
        [down("tfrkit.data.x", "torch.utils"), down("tfrkit.data.x", "os")], {"numpy"}
    )
    assert [*found] == [
        "tfrkit.data.x (line 1) imports torch.utils, an optional package, which comes through tfrkit.optional only"
    ]


def test_imports_inside_functions_and_of_names_are_seen():
    source = "def f():\n    from tfrkit.data import node\n    from tfrkit.data.node import Node\n"
    found = imports_of("tfrkit.tf.x", ast.parse(source), {"tfrkit.data.node"})
    assert [(each.target, each.line) for each in found] == [("tfrkit.data.node", 2), ("tfrkit.data.node", 3)]


def test_import_by_computed_name_is_found():
    tree = ast.parse("import importlib\nimportlib.import_module(name)\n")
    assert [*computed_imports({"tfrkit.data.x": tree})] == ["tfrkit.data.x (line 2) imports by computed name"]
