//! Panics inside of transactions: they are assertions that failed in one behaviour, not the end of
//! the exploration.
//!
//! The standard hook would print each of them, and there may be thousands. So a hook is put before
//! it, once, that stays silent on a thread while that thread runs the code of a transaction, and
//! keeps what the panic said and where. A hook that the program sets later replaces it; the message
//! of the panic is then all that is known.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Runs the code of a transaction; what it said and where, if it panicked.
pub(crate) fn caught(code: impl FnOnce()) -> Option<String> {
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_RUNNING.get() {
                MESSAGE.set(Some(told(info)));
            } else {
                usual(info);
            }
        }));
    });
    // A transaction may explore another program.
    let outer = IS_RUNNING.replace(true);
    // What the code leaves behind is thrown away: its transaction is taken back.
    let result = panic::catch_unwind(AssertUnwindSafe(code));
    IS_RUNNING.set(outer);
    result.err().map(|payload| MESSAGE.take().unwrap_or_else(|| text(payload.as_ref())))
}

fn told(info: &PanicHookInfo<'_>) -> String {
    let message = text(info.payload());
    match info.location() {
        Some(place) => format!("{message} ({}:{})", place.file(), place.line()),
        None => message,
    }
}

/// What a panic said.
fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    // What `assert_eq!` says has several lines.
    let lines = text.unwrap_or("it does not say why").lines().map(str::trim);
    lines.collect::<Vec<_>>().join(", ")
}
