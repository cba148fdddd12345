//! The handshake: what the server says first, and whether a client knows the password, by
//! `mysql_native_password`: the client sends SHA1(password) XOR SHA1(nonce ‖ SHA1(SHA1(password))),
//! so that the server needs to keep no more than SHA1(SHA1(password)).

use super::answer::status;
use super::config::MysqlConfig;
use super::error::MysqlError;
use super::frontend::{Greeting, capability};
use super::packet::{End, Wire, Wired};
use pgwire::api::auth::sasl::scram::random_nonce;
use sha1::{Digest, Sha1};
use std::fmt;
use std::time::Instant;

const PLUGIN: &str = "mysql_native_password";
/// The length of a nonce.
const NONCE_BYTES: usize = 20;

/// What the server can do, beside TLS.
const CAPABILITIES: u32 = capability::LONG_PASSWORD
    | capability::FOUND_ROWS
    | capability::LONG_FLAG
    | capability::CONNECT_WITH_DB
    | capability::PROTOCOL_41
    | capability::TRANSACTIONS
    | capability::SECURE_CONNECTION
    | capability::MULTI_STATEMENTS
    | capability::MULTI_RESULTS
    | capability::PS_MULTI_RESULTS
    | capability::PLUGIN_AUTH
    | capability::CONNECT_ATTRS
    | capability::PLUGIN_AUTH_LENENC
    | capability::DEPRECATE_EOF;

/// A password, hashed twice.
#[derive(Clone)]
pub struct NativePassword([u8; 20]);

impl fmt::Debug for NativePassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NativePassword(…)")
    }
}

fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut hash = Sha1::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

impl NativePassword {
    /// Hashes a password.
    pub fn new(text: &str) -> NativePassword {
        NativePassword(sha1(&[&sha1(&[text.as_bytes()])]))
    }

    /// Whether a client that sends this knows the password.
    fn is_proved(&self, nonce: &[u8], proof: &[u8]) -> bool {
        let mask = sha1(&[nonce, &self.0]);
        let Ok(proof) = <[u8; 20]>::try_from(proof) else { return false };
        let mut once = proof;
        once.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
        // In a time that does not depend on where they differ.
        let differs = sha1(&[&once]).iter().zip(self.0).fold(0, |sum, (a, b)| sum | (a ^ b));
        differs == 0
    }
}

/// Bytes that cannot be guessed, none of them 0 or `$`.
fn nonce() -> [u8; NONCE_BYTES] {
    let mut made = sha1(&[random_nonce().as_bytes()]);
    made.iter_mut().for_each(|byte| *byte = b'0' + *byte % 10);
    let text = random_nonce();
    for (byte, letter) in made.iter_mut().zip(text.bytes().filter(u8::is_ascii_alphanumeric)) {
        *byte = letter;
    }
    made
}

fn greeting(number: u32, nonce: &[u8; NONCE_BYTES], has_tls: bool) -> Vec<u8> {
    let capabilities = CAPABILITIES | if has_tls { capability::SSL } else { 0 };
    let [low_1, low_2, high_1, high_2] = capabilities.to_le_bytes();
    let mut body = vec![10];
    // Clients know MariaDB by this prefix.
    body.extend_from_slice(format!("5.5.5-{}\0", super::VERSION).as_bytes());
    body.extend_from_slice(&number.to_le_bytes());
    body.extend_from_slice(&nonce[..8]);
    body.push(0);
    body.extend_from_slice(&[low_1, low_2, 46]);
    body.extend_from_slice(&status::AUTOCOMMIT.to_le_bytes());
    body.extend_from_slice(&[high_1, high_2, NONCE_BYTES as u8 + 1]);
    body.extend_from_slice(&[0; 10]);
    body.extend_from_slice(&nonce[8..]);
    body.push(0);
    body.extend_from_slice(PLUGIN.as_bytes());
    body.push(0);
    body
}

/// Greets a client and lets it prove that it knows the password, if there is one.
pub(super) fn welcome(
    wire: &mut Wire,
    config: &MysqlConfig,
    number: u32,
    until: Instant,
) -> Wired<Greeting> {
    let nonce = nonce();
    wire.put(&greeting(number, &nonce, config.tls.is_some()))?;
    wire.flush()?;
    let mut body = wire.body(Some(until))?;
    if let Some(tls) = config.tls.as_ref().filter(|_| Greeting::asks_for_tls(&body)) {
        wire.encrypt(tls.config())?;
        body = wire.body(Some(until))?;
    }
    let told = Greeting::read(&body).ok_or_else(|| End::Fatal(MysqlError::handshake()))?;
    prove(wire, config, &told.user, &told.proof, told.plugin.as_deref(), &nonce, until)?;
    Ok(told)
}

/// Checks a proof; a client that made it in another way is asked for another one.
fn prove(
    wire: &mut Wire,
    config: &MysqlConfig,
    user: &str,
    proof: &[u8],
    plugin: Option<&str>,
    nonce: &[u8; NONCE_BYTES],
    until: Instant,
) -> Wired<()> {
    let mut proof = proof.to_vec();
    if plugin.is_some_and(|plugin| plugin != PLUGIN) {
        let mut body = vec![0xfe];
        body.extend_from_slice(PLUGIN.as_bytes());
        body.push(0);
        body.extend_from_slice(nonce);
        body.push(0);
        wire.put(&body)?;
        wire.flush()?;
        proof = wire.body(Some(until))?.to_vec();
    }
    match &config.password {
        Some(password) if !password.is_proved(nonce, &proof) => {
            Err(End::Fatal(MysqlError::access_denied(user, !proof.is_empty())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_password_is_proved() {
        let (password, nonce) = (NativePassword::new("secret"), nonce());
        let prove = |text: &str| {
            let once = sha1(&[text.as_bytes()]);
            let mask = sha1(&[&nonce, &sha1(&[&once])]);
            let mut proof = once;
            proof.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
            proof
        };
        assert!(password.is_proved(&nonce, &prove("secret")));
        assert!(!password.is_proved(&nonce, &prove("Secret")));
        assert!(!password.is_proved(&nonce, b""));
    }
}
