"""The views of the page, a module for each: grid, features, record, files, comparison."""
