"""Image files to arrays and back: one file or folder for each format, and the choice between them."""
