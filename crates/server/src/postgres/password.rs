//! The password, kept as SCRAM-SHA-256 needs it and never as it was written.

use super::tls::Tls;
use bytes::Bytes;
use pgwire::api::auth::sasl::scram::{
    SCRAM_ITERATIONS, ScramSecret, ScramServerAuth, ScramServerAuthWaitingForClientFinal,
    gen_salted_password, random_nonce,
};
use pgwire::api::auth::sasl::{SCRAM_SHA_256_METHOD, SCRAM_SHA_256_PLUS_METHOD};
use seriatim_sql::SqlError;
use seriatim_sql::error::code;
use std::fmt;

/// A password, salted.
#[derive(Clone)]
pub struct Password {
    salt: Vec<u8>,
    salted: Vec<u8>,
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

impl Password {
    /// Salts a password, with other salt each time.
    pub fn new(text: &str) -> Password {
        let salt = random_nonce().into_bytes();
        let salted = gen_salted_password(text, &salt, SCRAM_ITERATIONS);
        Password { salt, salted }
    }
}

/// A client that proves that it knows the password (RFC 5802).
pub(super) struct Proof<'p> {
    password: &'p Password,
    server: ScramServerAuth,
    waiting: Option<ScramServerAuthWaitingForClientFinal>,
    user: &'p str,
}

impl<'p> Proof<'p> {
    /// `tls` if the connection is encrypted: then the proof can be bound to the certificate.
    pub fn new(password: &'p Password, user: &'p str, tls: Option<&Tls>) -> Proof<'p> {
        let mut server = ScramServerAuth::new();
        if let Some(tls) = tls {
            // Certificates with a signature that has no hash of its own cannot be bound to.
            let _ = server.configure_certificate(tls.certificate());
        }
        Proof { password, server, waiting: None, user }
    }

    /// How it can be proved.
    pub fn methods(&self) -> Vec<String> {
        let mut methods = Vec::new();
        if self.server.supports_channel_binding() {
            methods.push(SCRAM_SHA_256_PLUS_METHOD.to_owned());
        }
        methods.push(SCRAM_SHA_256_METHOD.to_owned());
        methods
    }

    /// The first message of the client; what it is answered.
    pub fn first(&mut self, method: &str, message: &[u8]) -> Result<Bytes, SqlError> {
        if !self.methods().iter().any(|it| it == method) {
            return Err(SqlError::new(
                code::PROTOCOL_VIOLATION,
                "client selected an invalid SASL authentication mechanism",
            ));
        }
        let secret = ScramSecret::SaltedPassword {
            salt: self.password.salt.clone(),
            salted_password: self.password.salted.clone(),
        };
        let answer = self.server.on_client_first_message_with_secret(message, secret);
        let (answer, waiting) = answer.map_err(|_| malformed())?;
        self.waiting = Some(waiting);
        Ok(answer.into())
    }

    /// The last message of the client; what it is answered.
    pub fn last(&self, message: &[u8]) -> Result<Bytes, SqlError> {
        let waiting = self.waiting.as_ref().ok_or_else(malformed)?;
        waiting.on_client_final_message(message).map(Bytes::from).map_err(|_| {
            let message = format!("password authentication failed for user \"{}\"", self.user);
            SqlError::new(code::INVALID_PASSWORD, message)
        })
    }
}

fn malformed() -> SqlError {
    SqlError::new(code::PROTOCOL_VIOLATION, "malformed SCRAM message")
}
