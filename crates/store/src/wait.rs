//! Waits for the turn to begin a transaction, without blocking the thread.
//!
//! Nothing else in the store ever waits: reads, writes and commits answer at once and may be called
//! from asynchronous code as they are.

use crate::store::{Session, StoreError, Txn};
use futures_timer::Delay;
use seriatim_isolation::Level;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

impl<V> Session<V> {
    /// Like [`Session::begin`], for asynchronous code of any runtime.
    ///
    /// ```
    /// use seriatim_isolation::Level;
    /// use seriatim_store::{Store, StoreError};
    ///
    /// async fn work(store: &Store<i64>) -> Result<(), StoreError> {
    ///     let mut txn = store.session().begin_async().await?;
    ///     txn.write("x", 1)?;
    ///     txn.commit()
    /// }
    /// # futures_executor::block_on(work(&Store::new(Level::Causal).unwrap())).unwrap();
    /// ```
    pub async fn begin_async(&self) -> Result<Txn<V>, StoreError> {
        self.begin_at_async(self.store_level()).await
    }

    /// Like [`Session::begin_at`], for asynchronous code of any runtime.
    pub async fn begin_at_async(&self, level: Level) -> Result<Txn<V>, StoreError> {
        if let Some(time) = self.next_delay() {
            Delay::new(time).await;
        }
        let Some(patience) = self.patience() else { return self.begin_now(level) };
        let limit = pin!(Delay::new(patience));
        Turn { session: self, level, limit }.await
    }
}

/// Waits until no other transaction is open.
struct Turn<'a, V> {
    session: &'a Session<V>,
    level: Level,
    limit: Pin<&'a mut Delay>,
}

impl<V> Future for Turn<'_, V> {
    type Output = Result<Txn<V>, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(result) = self.session.try_begin(self.level, context.waker()) {
            return Poll::Ready(result);
        }
        let patience = self.session.patience().unwrap_or_default();
        self.limit.as_mut().poll(context).map(|()| Err(StoreError::WaitedTooLong(patience)))
    }
}
