"""Values of operations: conversion, casting, type rules, seeds and random numbers.

What pipelines, images and TensorFlow's names share. Operations that only the names need are in `tfrkit.tf.ops`.
"""
