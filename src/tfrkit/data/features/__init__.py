"""Stages that know the features of elements: parsing, casting, decoding images, adding columns."""
