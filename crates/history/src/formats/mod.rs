//! The file formats, one file each, and how an input's format is recognised.
