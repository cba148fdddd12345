//! The JSON Schemas (draft 2020-12) of what machines read and write, as files that `seriatim
//! schema` prints.

/// Of one line of `seriatim check --format json`.
pub const CHECK: &str = include_str!("../schema/check.schema.json");
/// Of one line of a certificate.
pub const CERTIFICATE: &str = include_str!("../schema/certificate.schema.json");
/// Of one line of `seriatim fuzz --format json` and of `seriatim replay RUN --format json`.
pub const FUZZ: &str = include_str!("../schema/fuzz.schema.json");
/// Of one line of `seriatim fuzz --format json -- CMD`.
pub const TRIAL: &str = include_str!("../schema/trial.schema.json");
/// Of one line of `seriatim replay RUN --format json -- CMD`.
pub const RETRIAL: &str = include_str!("../schema/retrial.schema.json");
/// Of one line of `seriatim audit --format json`.
pub const AUDIT: &str = include_str!("../schema/audit.schema.json");
/// Of one line of `seriatim replay PREDICTION APP --format json`.
pub const REPLAY: &str = include_str!("../schema/replay.schema.json");
/// Of one line of a history in our JSON Lines.
pub const HISTORY: &str = include_str!("../schema/history.schema.json");
/// Of one line of `seriatim stats --format json`.
pub const STATS: &str = include_str!("../schema/stats.schema.json");
/// Of the line of `seriatim explore --format json`.
pub const EXPLORE: &str = include_str!("../schema/explore.schema.json");
/// Of the object of `seriatim predict --format json`.
pub const PREDICT: &str = include_str!("../schema/predict.schema.json");
