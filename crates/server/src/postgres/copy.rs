//! COPY: rows that the client sends, and rows that it gets, as bytes in messages of any size.
//!
//! While a client sends rows, its connection reads nothing but these: a Sync or Flush among them
//! means nothing, because clients send one right after the Execute that begins the COPY.

use super::connection::Connection;
use super::frontend::Frontend;
use super::wire::{End, Wired};
use pgwire::messages::copy::{CopyData, CopyDone, CopyInResponse, CopyOutResponse};
use pgwire::messages::response::CommandComplete;
use seriatim_sql::error::code;
use seriatim_sql::session::{CopyFormat, CopyIn, CopyOut};
use seriatim_sql::{Result, SqlError};

/// Clients send a message for each row; the session gets them together.
const PIECE_BYTES: usize = 1 << 16;

/// Takes rows from the client until it says that there are no more.
pub(super) fn from_client(connection: &mut Connection<'_>, mut copy: CopyIn) -> Wired<Result<()>> {
    let (format, columns, formats) = formats(&copy.format, copy.columns.len());
    connection.wire.put(&CopyInResponse::new(format, columns, formats))?;
    connection.wire.flush()?;
    let mut piece = Vec::new();
    loop {
        let (kind, body) = connection.next_message()?;
        let message = match Frontend::decode(kind, body) {
            Ok(message) => message,
            Err(error) => return Ok(Err(error)),
        };
        let is_last = match message {
            Frontend::CopyData(bytes) => {
                piece.extend_from_slice(&bytes);
                false
            }
            Frontend::CopyDone => true,
            Frontend::CopyFail(why) => return Ok(Err(copy.abort(&why))),
            Frontend::Flush | Frontend::Sync => false,
            Frontend::Terminate => return Err(End::Gone),
            _ => return Ok(Err(unexpected(kind))),
        };
        if is_last || piece.len() >= PIECE_BYTES {
            if let Err(error) = copy.feed(&mut connection.session, &piece) {
                return Ok(Err(error));
            }
            piece.clear();
        }
        if is_last {
            break;
        }
    }
    match copy.finish(&mut connection.session) {
        Ok(tag) => connection.wire.put(&CommandComplete::new(tag)).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

fn unexpected(kind: u8) -> SqlError {
    let message = format!("unexpected message type 0x{kind:02X} during COPY from stdin");
    SqlError::new(code::PROTOCOL_VIOLATION, message)
}

/// The format of all and of each column.
fn formats(format: &CopyFormat, columns: usize) -> (i8, i16, Vec<i16>) {
    let code = i16::from(format.binary);
    (code as i8, i16::try_from(columns).unwrap_or(i16::MAX), vec![code; columns])
}

/// Sends rows to the client.
pub(super) fn to_client(connection: &mut Connection<'_>, copy: CopyOut) -> Wired<Result<()>> {
    let (format, columns, formats) = formats(&copy.format, copy.columns.len());
    connection.wire.put(&CopyOutResponse::new(format, columns, formats))?;
    let env = connection.session.env();
    for chunk in copy.chunks(&env) {
        connection.wire.put(&CopyData::new(chunk.into()))?;
    }
    connection.wire.put(&CopyDone::new())?;
    connection.wire.put(&CommandComplete::new(copy.tag()))?;
    Ok(Ok(()))
}
