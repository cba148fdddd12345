//! Verdicts as text for people, JSON for machines and DOT for pictures.
