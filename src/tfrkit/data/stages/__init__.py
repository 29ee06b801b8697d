"""Stages that change, choose, repeat or combine elements: a file for each verb."""
