//! Panics that end what a client began and nothing else.
//!
//! A panic is a mistake of ours, but others are connected, too. The hook of a program that ends
//! with the first panic asks [`is_contained`] and lets those pass that are caught here.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread, now, ends no more than a connection.
pub fn is_contained() -> bool {
    IS_CONTAINED.get()
}

/// A panic of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Panicked;

/// Runs code whose state is thrown away if it panics.
pub(crate) fn contained<T>(code: impl FnOnce() -> T) -> Result<T, Panicked> {
    let before = IS_CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(code));
    IS_CONTAINED.set(before);
    result.map_err(|_| Panicked)
}

/// The same for what is awaited: it is over when it panics.
pub(crate) async fn contained_future(future: impl Future<Output = ()>) {
    let mut future = Box::pin(future);
    std::future::poll_fn(|context: &mut Context<'_>| {
        let future: Pin<&mut _> = future.as_mut();
        contained(|| future.poll(context)).unwrap_or(Poll::Ready(()))
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_contained_while_the_code_runs_and_not_afterwards() {
        assert!(!is_contained());
        assert_eq!(contained(|| (is_contained(), contained(is_contained))), Ok((true, Ok(true))));
        assert_eq!(contained(|| std::panic::resume_unwind(Box::new(()))), Err::<(), _>(Panicked));
        assert!(!is_contained());
    }

    #[test]
    fn a_future_that_panics_is_over() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let future = async { std::panic::resume_unwind(Box::new(())) };
        runtime.block_on(contained_future(future));
        assert!(!is_contained());
    }
}
