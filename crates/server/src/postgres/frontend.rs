//! What clients send, read with every length checked.
//!
//! The decoder of `pgwire` trusts the counts and lengths inside of a message (it panics on bytes
//! that are missing), and it replaces what is no UTF-8; a server must refuse both and go on.

use bytes::{Buf, Bytes};
use seriatim_sql::error::code;
use seriatim_sql::{Oid, Result, SqlError};

/// A message of a client after its session has begun.
#[derive(PartialEq, Eq, Debug)]
pub enum Frontend {
    /// Statements, to be run at once.
    Query(String),
    /// A statement to be prepared.
    Parse {
        /// Its name, empty for the unnamed one.
        name: String,
        /// Its text.
        text: String,
        /// The types of parameters, as far as the client knows them.
        types: Vec<Oid>,
    },
    /// Parameters for a statement.
    Bind(Bind),
    /// What are its columns?
    Describe(Target),
    /// Run it.
    Execute {
        /// The portal.
        portal: String,
        /// How many rows to return, 0 for all.
        rows_max: usize,
    },
    /// Forget it.
    Close(Target),
    /// Send what there is.
    Flush,
    /// The end of a series of messages.
    Sync,
    /// The end of the session.
    Terminate,
    /// Bytes of a COPY.
    CopyData(Bytes),
    /// The end of a COPY.
    CopyDone,
    /// The end of a COPY that the client gives up, and why.
    CopyFail(String),
    /// The call of a function by its number, which no client sends any more.
    FunctionCall,
}

/// Parameters for a statement.
#[derive(PartialEq, Eq, Debug)]
pub struct Bind {
    /// What the statement with its parameters is called, empty for the unnamed one.
    pub portal: String,
    /// The statement.
    pub statement: String,
    /// The formats of the parameters: none, one for all, or one for each.
    pub formats: Vec<i16>,
    /// The parameters.
    pub values: Vec<Option<Bytes>>,
    /// The formats of the columns of the result.
    pub result_formats: Vec<i16>,
}

/// A statement or a portal by its name.
#[derive(PartialEq, Eq, Debug)]
pub enum Target {
    /// A statement.
    Statement(String),
    /// A portal.
    Portal(String),
}

impl Frontend {
    /// Whether an error in this kind of message lets the others be skipped until Sync.
    pub fn is_extended(kind: u8) -> bool {
        matches!(kind, b'P' | b'B' | b'D' | b'E' | b'C' | b'H')
    }

    /// Reads a message of a kind that is known to exist.
    pub fn decode(kind: u8, body: Bytes) -> Result<Frontend> {
        let mut body = Body(body);
        let message = match kind {
            b'Q' => Frontend::Query(body.text()?),
            b'P' => Frontend::Parse {
                name: body.text()?,
                text: body.text()?,
                types: body.many(|body| body.int4().map(|oid| Oid(oid as u32)))?,
            },
            b'B' => Frontend::Bind(Bind {
                portal: body.text()?,
                statement: body.text()?,
                formats: body.many(Body::int2)?,
                values: body.many(Body::value)?,
                result_formats: body.many(Body::int2)?,
            }),
            b'D' => Frontend::Describe(body.target("DESCRIBE")?),
            b'C' => Frontend::Close(body.target("CLOSE")?),
            b'E' => Frontend::Execute {
                portal: body.text()?,
                rows_max: usize::try_from(body.int4()?).unwrap_or(0),
            },
            b'H' => Frontend::Flush,
            b'S' => Frontend::Sync,
            b'X' => return Ok(Frontend::Terminate),
            b'd' => return Ok(Frontend::CopyData(body.0)),
            b'c' => Frontend::CopyDone,
            b'f' => Frontend::CopyFail(body.text()?),
            b'F' => return Ok(Frontend::FunctionCall),
            other => {
                let message = format!("invalid frontend message type {other}");
                return Err(SqlError::new(code::PROTOCOL_VIOLATION, message));
            }
        };
        if !body.0.is_empty() {
            return Err(SqlError::new(code::PROTOCOL_VIOLATION, "invalid message format"));
        }
        Ok(message)
    }
}

/// What is left of a message.
pub(super) struct Body(pub Bytes);

fn insufficient() -> SqlError {
    SqlError::new(code::PROTOCOL_VIOLATION, "insufficient data left in message")
}

impl Body {
    /// Text that ends with a zero byte.
    pub fn text(&mut self) -> Result<String> {
        let end = self.0.iter().position(|&byte| byte == 0);
        let end = end
            .ok_or_else(|| SqlError::new(code::PROTOCOL_VIOLATION, "invalid string in message"))?;
        let bytes = self.0.split_to(end);
        self.0.advance(1);
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(not_utf8(&bytes[error.valid_up_to()..])),
        }
    }

    pub fn int2(&mut self) -> Result<i16> {
        if self.0.len() < 2 { Err(insufficient()) } else { Ok(self.0.get_i16()) }
    }

    pub fn int4(&mut self) -> Result<i32> {
        if self.0.len() < 4 { Err(insufficient()) } else { Ok(self.0.get_i32()) }
    }

    /// Bytes with their length before them; -1 is null.
    pub fn value(&mut self) -> Result<Option<Bytes>> {
        match self.int4()? {
            -1 => Ok(None),
            length => match usize::try_from(length) {
                Ok(length) if length <= self.0.len() => Ok(Some(self.0.split_to(length))),
                _ => Err(insufficient()),
            },
        }
    }

    /// Things with their count before them.
    fn many<T>(&mut self, read: impl Fn(&mut Body) -> Result<T>) -> Result<Vec<T>> {
        // PostgreSQL reads the count without a sign, as the protocol allows 65535 parameters.
        let count = self.int2()? as u16;
        (0..count).map(|_| read(self)).collect()
    }

    fn target(&mut self, what: &str) -> Result<Target> {
        if self.0.is_empty() {
            return Err(SqlError::new(code::PROTOCOL_VIOLATION, "no data left in message"));
        }
        match self.0.get_u8() {
            b'S' => Ok(Target::Statement(self.text()?)),
            b'P' => Ok(Target::Portal(self.text()?)),
            other => Err(SqlError::new(
                code::PROTOCOL_VIOLATION,
                format!("invalid {what} message subtype {other}"),
            )),
        }
    }
}

/// PostgreSQL names the bytes of the character that is none.
fn not_utf8(bytes: &[u8]) -> SqlError {
    let length = match bytes.first() {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => 1,
    };
    let shown: Vec<String> = bytes.iter().take(length).map(|it| format!("0x{it:02x}")).collect();
    SqlError::new(
        code::CHARACTER_NOT_IN_REPERTOIRE,
        format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(kind: u8, body: &'static [u8]) -> String {
        Frontend::decode(kind, Bytes::from_static(body)).unwrap_err().message().to_owned()
    }

    #[test]
    fn lengths_inside_of_messages_are_checked() {
        assert_eq!(refused(b'Q', b"no end"), "invalid string in message");
        assert_eq!(refused(b'Q', b"SELECT\0more"), "invalid message format");
        assert_eq!(refused(b'P', b"\0SELECT 1\0\0\x09"), "insufficient data left in message");
        assert_eq!(
            refused(b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff"),
            "insufficient data left in message"
        );
        assert_eq!(refused(b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe"), refused(b'E', b"\0\0"));
        assert_eq!(refused(b'D', b"X\0"), "invalid DESCRIBE message subtype 88");
        assert_eq!(refused(b'D', b""), "no data left in message");
        assert_eq!(
            refused(b'Q', b"SELECT '\xe4bc'\0"),
            "invalid byte sequence for encoding \"UTF8\": 0xe4 0x62 0x63"
        );
    }

    #[test]
    fn a_bind_has_parameters_and_formats() {
        let body = b"p\0s\0\0\x01\0\x01\0\x02\xff\xff\xff\xff\0\0\0\x02hi\0\x01\0\x01";
        let expected = Bind {
            portal: "p".to_owned(),
            statement: "s".to_owned(),
            formats: vec![1],
            values: vec![None, Some(Bytes::from_static(b"hi"))],
            result_formats: vec![1],
        };
        let decoded = Frontend::decode(b'B', Bytes::from_static(body));
        assert_eq!(decoded, Ok(Frontend::Bind(expected)));
    }
}
