//! Makes histories with known properties.
