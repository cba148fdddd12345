//! What is known about each anomaly and each level.
