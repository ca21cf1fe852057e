//! Wakers are user code: no lock of ours is held while one is woken or dropped, and no panic of one reaches a run.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::Stream;
use haft_core::{ToolCall, ToolEvent};
use haft_executor::{Cx, Run, Tool, Toolkit};

/// The waker that a call was last polled with.
type CallWaker = Arc<Mutex<Option<Waker>>>;

/// Creates a tool that keeps the waker it is polled with, and ends at its fourth poll.
fn waiting(kept: &CallWaker) -> Tool {
    let kept = Arc::clone(kept);
    let run = move |(), _: Cx| {
        let (kept, mut polls) = (Arc::clone(&kept), 0);
        std::future::poll_fn(move |task| {
            *kept.lock().unwrap() = Some(task.waker().clone());
            polls += 1;
            // The first poll of the run polls it twice: without a separate waker, and with one.
            if polls < 4 { Poll::Pending } else { Poll::Ready(()) }
        })
    };
    Tool::new("wait").handler(run).unwrap()
}

fn start(kept: &CallWaker) -> Run {
    let kit: Toolkit = Toolkit::from_iter([waiting(kept)]);
    kit.run([ToolCall::new("c1", "wait", "")])
}

fn poll(run: &mut Run, waker: &Waker) -> Poll<Option<ToolEvent>> {
    Pin::new(run).poll_next(&mut Context::from_waker(waker))
}

/// A waker that wakes a call when it is woken, and when it is dropped.
struct Meddling(CallWaker);

impl Meddling {
    fn meddle(&self) {
        let waker = self.0.lock().unwrap().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Wake for Meddling {
    fn wake(self: Arc<Self>) {
        self.meddle();
    }
}

impl Drop for Meddling {
    fn drop(&mut self) {
        self.meddle();
    }
}

/// Runs code on a separate thread, which it must not block.
fn without_blocking(work: impl FnOnce() + Send + 'static) {
    let (done, is_done) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        work();
        done.send(()).unwrap();
    });
    let outcome = is_done.recv_timeout(std::time::Duration::from_secs(60));
    if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = outcome {
        panic!("a lock is held while a waker runs");
    }
    thread.join().unwrap();
}

#[test]
fn a_waker_that_wakes_a_call_when_it_is_dropped_blocks_nothing() {
    without_blocking(|| {
        let kept = CallWaker::default();
        let mut run = start(&kept);
        // Each poll replaces the waker of the previous one, which is the last reference by then.
        for _ in 0..8 {
            let waker = Waker::from(Arc::new(Meddling(Arc::clone(&kept))));
            if let Poll::Ready(Some(event)) = poll(&mut run, &waker) {
                assert!(event.result().unwrap().is_ok());
                return;
            }
        }
        panic!("the call was never woken");
    });
}

#[test]
fn a_waker_that_wakes_a_call_when_it_is_woken_blocks_nothing() {
    without_blocking(|| {
        let kept = CallWaker::default();
        let mut run = start(&kept);
        let waker = Waker::from(Arc::new(Meddling(Arc::clone(&kept))));
        for _ in 0..8 {
            if let Poll::Ready(Some(event)) = poll(&mut run, &waker) {
                assert!(event.result().unwrap().is_ok());
                return;
            }
            let call = kept.lock().unwrap().clone();
            call.unwrap().wake();
        }
        panic!("the call was never done");
    });
}

/// A waker that panics when it is woken, and when it is dropped.
struct Broken;

impl Wake for Broken {
    fn wake(self: Arc<Self>) {
        panic!("woken");
    }
}

impl Drop for Broken {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn a_waker_that_panics_affects_neither_the_run_nor_the_waking_task() {
    let kept = CallWaker::default();
    let mut run = start(&kept);
    for _ in 0..8 {
        let waker = Waker::from(Arc::new(Broken));
        let polled = poll(&mut run, &waker);
        if let Poll::Ready(Some(event)) = polled {
            // The run has not kept this one.
            std::mem::forget(waker);
            assert!(event.result().unwrap().is_ok());
            return;
        }
        // From here on the run holds the last reference, and drops it when the call wakes its task.
        drop(waker);
        let call = kept.lock().unwrap().clone();
        call.unwrap().wake();
    }
    panic!("the call was never done");
}

#[test]
fn a_waker_that_panics_when_it_is_dropped_does_not_affect_the_drop_of_the_run() {
    let kept = CallWaker::default();
    let mut run = start(&kept);
    let waker = Waker::from(Arc::new(Broken));
    assert!(poll(&mut run, &waker).is_pending());
    // The run holds the last reference.
    drop(waker);
    kept.lock().unwrap().take();
    drop(run);
}
