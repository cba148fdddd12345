//! Connections: accepted up to a limit, given up when they stall, and brought to an end when the
//! server stops.

use super::stalled::Stalled;
use crate::contained::contained_future;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Fewer than the files that a process may usually open; others wait to be accepted.
const CONNECTIONS_MAX: usize = 512;
/// How long the head of a request may take, counted from the end of the one before it.
const HEAD_WAIT_MAX: Duration = Duration::from_secs(120);
/// How long a client may read nothing of its answer.
const WRITE_WAIT_MAX: Duration = Duration::from_secs(30);
/// How long requests may take to end when the server stops.
const END_WAIT_MAX: Duration = Duration::from_secs(5);
/// When accepting fails (no file is left, say): how long until it is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until `stop` is true; requests that have arrived by then are answered. The
/// connections that are left after that are dropped with what this returns.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    mut stop: watch::Receiver<bool>,
) -> JoinSet<()> {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stopped(&mut stop) => break,
            // Those that have ended make room.
            Some(_) = connections.join_next() => {}
            (stream, place) = next(&listener, &places) => {
                let converse = converse(stream, place, router.clone(), stop.clone());
                connections.spawn(contained_future(converse));
            }
        }
    }
    drop(listener);
    // The rest has had its chance.
    let _ = timeout(END_WAIT_MAX, async { while connections.join_next().await.is_some() {} }).await;
    connections
}

/// Ends also if the sender that could say stop is gone: that says it, too.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|&stop| stop).await;
}

/// The next connection, and its place among those that are allowed.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed, so there is a place.
    let place = Arc::clone(places).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn converse(
    stream: TcpStream,
    place: Option<OwnedSemaphorePermit>,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    // Answers are small and waited for; if the option cannot be set they are merely late.
    let _ = stream.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_WAIT_MAX);
    let stream = TokioIo::new(Stalled::new(stream, WRITE_WAIT_MAX));
    let mut connection = pin!(builder.serve_connection(stream, TowerToHyperService::new(router)));
    // How a connection ends is the client's business: errors are disconnects and malformed heads,
    // which hyper has answered.
    let ended = tokio::select! {
        _ = connection.as_mut() => true,
        () = stopped(&mut stop) => false,
    };
    if !ended {
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }
    drop(place);
}
