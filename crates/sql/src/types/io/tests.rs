//! Expected results are those of a PostgreSQL 15.
