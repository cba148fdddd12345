//! Hashes and random bytes of the extension pgcrypto.

use super::arguments::Entry;
use super::random;
use crate::error::{Result, SqlError, code};
use crate::types::Datum;
use sha2::Digest;

/// The hash of a name.
fn digest(bytes: &[u8], name: &str) -> Result<Vec<u8>> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "md5" => md5::Md5::digest(bytes).to_vec(),
        "sha1" => sha1::Sha1::digest(bytes).to_vec(),
        "sha224" => sha2::Sha224::digest(bytes).to_vec(),
        "sha256" => sha2::Sha256::digest(bytes).to_vec(),
        "sha384" => sha2::Sha384::digest(bytes).to_vec(),
        "sha512" => sha2::Sha512::digest(bytes).to_vec(),
        other => return Err(no_such_hash(other)),
    })
}

fn no_such_hash(name: &str) -> SqlError {
    let message = format!("Cannot use \"{name}\": No such hash algorithm");
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// The length of the blocks that a hash works on.
fn block_length(name: &str) -> usize {
    match name.to_ascii_lowercase().as_str() {
        "sha384" | "sha512" => 128,
        _ => 64,
    }
}

/// HMAC (RFC 2104) of data with a key.
fn hmac(data: &[u8], key: &[u8], name: &str) -> Result<Vec<u8>> {
    let length = block_length(name);
    let mut block = if key.len() > length { digest(key, name)? } else { key.to_vec() };
    block.resize(length, 0);
    let masked = |mask: u8| block.iter().map(move |byte| byte ^ mask);
    let inner: Vec<u8> = masked(0x36).chain(data.iter().copied()).collect();
    let outer: Vec<u8> = masked(0x5c).chain(digest(&inner, name)?).collect();
    digest(&outer, name)
}

fn random_bytes(count: i32) -> Result<Vec<u8>> {
    if !(1..=1024).contains(&count) {
        return Err(SqlError::new("39000", "Length not in range"));
    }
    let bytes = std::iter::repeat_with(|| random::next().to_be_bytes()).flatten();
    Ok(bytes.take(count as usize).collect())
}

/// Text is hashed as its bytes.
fn bytes(datum: &Datum) -> &[u8] {
    match datum {
        Datum::Text(text) => text.as_bytes(),
        Datum::Bytea(bytes) => bytes,
        _ => &[],
    }
}

pub(super) const TABLES: &[&[Entry]] = &[functions! {
    "pg_digest", (a: &Datum, name: &str) => digest(bytes(a), name);
    "pg_hmac", (a: &Datum, key: &Datum, name: &str) => hmac(bytes(a), bytes(key), name);
    "pg_random_bytes", (count: i32) => random_bytes(count);
}];
