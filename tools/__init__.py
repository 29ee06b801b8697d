"""Scripts of the build: checks of the source tree, and wheels."""
