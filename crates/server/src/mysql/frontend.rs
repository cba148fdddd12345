//! What clients send, read from bytes that are not trusted: lengths are checked before anything is
//! taken, and what does not fit is `None`.

/// Capabilities of client and server, as bits.
pub mod capability {
    #![allow(missing_docs)]
    pub const LONG_PASSWORD: u32 = 1;
    pub const FOUND_ROWS: u32 = 1 << 1;
    pub const LONG_FLAG: u32 = 1 << 2;
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    pub const PROTOCOL_41: u32 = 1 << 9;
    pub const SSL: u32 = 1 << 11;
    pub const TRANSACTIONS: u32 = 1 << 13;
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    pub const MULTI_STATEMENTS: u32 = 1 << 16;
    pub const MULTI_RESULTS: u32 = 1 << 17;
    pub const PS_MULTI_RESULTS: u32 = 1 << 18;
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    pub const CONNECT_ATTRS: u32 = 1 << 20;
    pub const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
    pub const DEPRECATE_EOF: u32 = 1 << 24;
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'b>(pub &'b [u8]);

impl<'b> Reader<'b> {
    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of up to eight bytes, the lowest first.
    pub fn number(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes)?;
        Some(taken.iter().rev().fold(0, |sum, &byte| (sum << 8) | u64::from(byte)))
    }

    /// A number with its own length.
    pub fn length(&mut self) -> Option<u64> {
        match self.number(1)? {
            0xfc => self.number(2),
            0xfd => self.number(3),
            0xfe => self.number(8),
            small @ 0..=0xfa => Some(small),
            _ => None,
        }
    }

    /// Bytes with their length before them.
    pub fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.length()?).ok()?;
        self.take(length)
    }

    /// Bytes up to a zero, which is taken too.
    pub fn until_zero(&mut self) -> Option<&'b [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let taken = self.take(end);
        self.take(1)?;
        taken
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// How a client introduces itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Greeting {
    /// What it can do.
    pub capabilities: u32,
    /// Its user.
    pub user: String,
    /// What shows that it knows the password.
    pub proof: Vec<u8>,
    /// The database that it wants.
    pub database: Option<String>,
    /// How the proof is made.
    pub plugin: Option<String>,
}

impl Greeting {
    /// Whether the client only asks for encryption yet; its capabilities are the first four bytes.
    pub fn asks_for_tls(body: &[u8]) -> bool {
        let capabilities = Reader(body).number(4).unwrap_or(0) as u32;
        body.len() == 32 && capabilities & capability::SSL != 0
    }

    /// Reads it.
    pub fn read(body: &[u8]) -> Option<Greeting> {
        let mut rest = Reader(body);
        let capabilities = rest.number(4)? as u32;
        let has = |bit: u32| capabilities & bit != 0;
        if !has(capability::PROTOCOL_41) {
            return None;
        }
        // The largest packet, a character set and what is reserved.
        rest.take(4 + 1 + 23)?;
        let user = text(rest.until_zero()?);
        let proof = if has(capability::PLUGIN_AUTH_LENENC) {
            rest.bytes()?
        } else if has(capability::SECURE_CONNECTION) {
            let length = rest.number(1)? as usize;
            rest.take(length)?
        } else {
            rest.until_zero()?
        };
        let proof = proof.to_vec();
        let database = match has(capability::CONNECT_WITH_DB) {
            true => rest.until_zero().map(text).filter(|name| !name.is_empty()),
            false => None,
        };
        let plugin = match has(capability::PLUGIN_AUTH) {
            true => rest.until_zero().map(text),
            false => None,
        };
        Some(Greeting { capabilities, user, proof, database, plugin })
    }
}

/// What a client asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command<'b> {
    /// The end.
    Quit,
    /// Another database.
    UseDatabase(String),
    /// Statements.
    Query(&'b [u8]),
    /// The columns of a table.
    FieldList(String),
    /// Whether the server is there.
    Ping,
    /// A line about the server.
    Statistics,
    /// The end of another session.
    Kill(u32),
    /// Another user, on the same connection.
    ChangeUser(&'b [u8]),
    /// A statement to be executed later.
    Prepare(&'b [u8]),
    /// The statement of a number, with its parameters.
    Execute(u32, &'b [u8]),
    /// A part of a parameter.
    LongData(u32, u16, &'b [u8]),
    /// A statement is not needed any more.
    CloseStatement(u32),
    /// Parts of parameters are forgotten.
    ResetStatement(u32),
    /// Whether several statements may come at once.
    SetOption(u16),
    /// The session is as new.
    ResetConnection,
    /// Something else.
    Unknown(u8),
}

impl Command<'_> {
    /// Reads one.
    pub fn read(body: &[u8]) -> Option<Command<'_>> {
        let (&kind, rest) = body.split_first()?;
        let mut reader = Reader(rest);
        Some(match kind {
            0x01 => Command::Quit,
            0x02 => Command::UseDatabase(text(rest)),
            0x03 => Command::Query(rest),
            0x04 => Command::FieldList(text(reader.until_zero()?)),
            0x09 => Command::Statistics,
            0x0c => Command::Kill(reader.number(4)? as u32),
            0x0e => Command::Ping,
            0x11 => Command::ChangeUser(rest),
            0x16 => Command::Prepare(rest),
            0x17 => {
                let number = reader.number(4)? as u32;
                // Flags and how often, which is always once.
                reader.take(5)?;
                Command::Execute(number, reader.0)
            }
            0x18 => {
                let number = reader.number(4)? as u32;
                let place = reader.number(2)? as u16;
                Command::LongData(number, place, reader.0)
            }
            0x19 => Command::CloseStatement(reader.number(4)? as u32),
            0x1a => Command::ResetStatement(reader.number(4)? as u32),
            0x1b => Command::SetOption(reader.number(2)? as u16),
            0x1f => Command::ResetConnection,
            other => Command::Unknown(other),
        })
    }
}

/// The value of a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Param {
    /// NULL
    Null,
    /// A whole number.
    Int(i64),
    /// A whole number without sign.
    Unsigned(u64),
    /// A number.
    Float(f64),
    /// Text, a decimal or a time.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The types of parameters: their numbers, with the bit of those without sign.
pub type ParamTypes = Vec<(u8, bool)>;

/// Reads the parameters of an execution. `types` are those that the client has told before, and
/// afterwards those that hold now; `long` says whose values were sent apart.
pub fn parameters(
    body: &[u8],
    count: usize,
    types: &mut ParamTypes,
    long: impl Fn(usize) -> Option<Vec<u8>>,
) -> Option<Vec<Param>> {
    if count == 0 {
        return Some(Vec::new());
    }
    let mut rest = Reader(body);
    let nulls = rest.take(count.div_ceil(8))?;
    if rest.number(1)? == 1 {
        let told = rest.take(count.checked_mul(2)?)?;
        *types = told.chunks_exact(2).map(|pair| (pair[0], pair[1] & 0x80 != 0)).collect();
    }
    if types.len() != count {
        return None;
    }
    let mut found = Vec::with_capacity(count);
    for (place, &(ty, unsigned)) in types.iter().enumerate() {
        if let Some(bytes) = long(place) {
            found.push(of_bytes(ty, &bytes));
        } else if nulls[place / 8] & (1 << (place % 8)) != 0 {
            found.push(Param::Null);
        } else {
            found.push(value(&mut rest, ty, unsigned)?);
        }
    }
    Some(found)
}

fn value(rest: &mut Reader<'_>, ty: u8, unsigned: bool) -> Option<Param> {
    let mut whole = |bytes: usize| {
        let value = rest.number(bytes)?;
        let shift = 64 - 8 * bytes as u32;
        Some(match unsigned {
            true => Param::Unsigned(value),
            false => Param::Int(((value << shift) as i64) >> shift),
        })
    };
    match ty {
        0x01 => whole(1),
        0x02 | 0x0d => whole(2),
        0x03 | 0x09 => whole(4),
        0x08 => whole(8),
        0x04 => Some(Param::Float(f64::from(f32::from_bits(rest.number(4)? as u32)))),
        0x05 => Some(Param::Float(f64::from_bits(rest.number(8)?))),
        0x06 => Some(Param::Null),
        0x07 | 0x0a | 0x0c => date_time(rest),
        0x0b => time(rest),
        _ => rest.bytes().map(|bytes| of_bytes(ty, bytes)),
    }
}

/// Types of bytes are those of BLOBs; everything else is text, if it is text.
fn of_bytes(ty: u8, bytes: &[u8]) -> Param {
    match std::str::from_utf8(bytes) {
        Ok(text) if !(0xf9..=0xfc).contains(&ty) => Param::Text(text.to_owned()),
        _ => Param::Bytes(bytes.to_vec()),
    }
}

fn date_time(rest: &mut Reader<'_>) -> Option<Param> {
    let length = rest.number(1)? as usize;
    let mut fields = Reader(rest.take(length)?);
    let mut number = |bytes: usize| fields.number(bytes).unwrap_or(0);
    let (year, month, day) = (number(2), number(1), number(1));
    let date = format!("{year:04}-{month:02}-{day:02}");
    if length <= 4 {
        return Some(Param::Text(date));
    }
    let (hour, minute, second, micros) = (number(1), number(1), number(1), number(4));
    let fraction = if micros > 0 { format!(".{micros:06}") } else { String::new() };
    Some(Param::Text(format!("{date} {hour:02}:{minute:02}:{second:02}{fraction}")))
}

fn time(rest: &mut Reader<'_>) -> Option<Param> {
    let length = rest.number(1)? as usize;
    let mut fields = Reader(rest.take(length)?);
    let mut number = |bytes: usize| fields.number(bytes).unwrap_or(0);
    let (negative, days) = (number(1), number(4));
    let (hour, minute, second, micros) = (number(1), number(1), number(1), number(4));
    let sign = if negative != 0 { "-" } else { "" };
    let fraction = if micros > 0 { format!(".{micros:06}") } else { String::new() };
    let hours = days * 24 + hour;
    Some(Param::Text(format!("{sign}{hours:02}:{minute:02}:{second:02}{fraction}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_are_only_claimed_are_refused() {
        assert_eq!(Reader(&[0xfc, 0xff, 0xff, 1]).bytes(), None);
        assert_eq!(Reader(&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255]).bytes(), None);
        assert_eq!(Reader(&[2, b'a', b'b']).bytes(), Some(&b"ab"[..]));
        assert_eq!(Greeting::read(&[0; 10]), None);
        assert_eq!(Command::read(&[0x17, 1, 0]), None);
    }

    #[test]
    fn parameters_are_read_by_their_types() {
        let mut types = Vec::new();
        let body = [0b10, 1, 0x08, 0, 0x03, 0, 0xfd, 0, 255, 255, 255, 255, 255, 255, 255, 255];
        let body = [&body[..], &[2, b'h', b'i']].concat();
        let found = parameters(&body, 3, &mut types, |_| None);
        let expected = vec![Param::Int(-1), Param::Null, Param::Text("hi".to_owned())];
        assert_eq!(found, Some(expected));
        // The types hold for the next execution.
        assert_eq!(parameters(&[0b111, 0], 3, &mut types, |_| None), Some(vec![Param::Null; 3]));
    }
}
