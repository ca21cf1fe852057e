//! Answers that an async block writes.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_core::Stream;
use futures_util::stream::{FuturesUnordered, StreamExt};
use haft_core::{Delta, Finish, Item, Turn, TurnRequest};
use haft_executor::Toolkit;
use haft_model::{LanguageModel, LoopEnd, LoopError, ModelError, ModelInfo, TurnLoop, TurnStream};
use haft_schema::isolation::isolated;

fn turn(text: &str) -> Turn {
    Turn::new(vec![Item::assistant(text)], Finish::Stop)
}

fn number(delta: Delta) -> usize {
    let Delta::TextDelta { text, .. } = delta else { panic!("{delta:?}") };
    text.parse().unwrap()
}

/// Reads all deltas, each as its text, `turn` or the kind of an error.
async fn read(mut stream: TurnStream) -> Vec<String> {
    let mut read = Vec::new();
    while let Some(delta) = stream.next().await {
        read.push(match delta {
            Ok(Delta::TextDelta { text, .. }) => text,
            Ok(Delta::TurnComplete(turn)) => format!("turn {}", turn.text()),
            Ok(other) => panic!("{other:?}"),
            Err(error) => error.kind().to_owned(),
        });
    }
    read
}

#[tokio::test]
async fn deltas_arrive_in_order_and_the_turn_is_the_last() {
    let stream = TurnStream::spawn(|out| async move {
        out.send(Delta::text("a")).await?;
        tokio::task::yield_now().await;
        out.send_all(["b", "c"].map(Delta::text)).await?;
        Ok(turn("abc"))
    });
    assert_eq!(read(stream).await, ["a", "b", "c", "turn abc"]);
}

#[tokio::test]
async fn a_turn_that_was_sent_ends_the_answer() {
    let stream = TurnStream::spawn(|out| async move {
        out.send(Delta::complete(turn("first"))).await?;
        out.send(Delta::text("unread")).await?;
        Ok(turn("second"))
    });
    assert_eq!(read(stream).await, ["turn first"]);

    let inner = TurnStream::of([Ok(Delta::text("a")), Ok(Delta::complete(turn("a")))]);
    let relayed = TurnStream::spawn(|out| async move {
        let mut inner = inner;
        while let Some(delta) = inner.next().await {
            out.send(delta?).await?;
        }
        Ok(())
    });
    assert_eq!(read(relayed).await, ["a", "turn a"]);
}

#[tokio::test]
async fn an_end_without_a_turn_is_an_incomplete_turn() {
    let stream = TurnStream::spawn(|out| async move { out.send(Delta::text("a")).await });
    assert_eq!(read(stream).await, ["a", "incomplete_turn"]);
}

#[tokio::test]
async fn an_error_is_read_after_the_deltas_before_it() {
    let stream = TurnStream::spawn(|out| async move {
        out.send(Delta::text("a")).await?;
        Err::<(), _>(ModelError::ContentFiltered { message: "no".into() })
    });
    assert_eq!(read(stream).await, ["a", "content_filtered"]);
}

#[tokio::test]
async fn a_block_runs_only_while_it_is_read_and_at_most_a_few_deltas_ahead() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let mut stream = TurnStream::spawn(|out| async move {
        for number in 0..1_000 {
            out.send(Delta::text(number.to_string())).await?;
            counter.fetch_add(1, Ordering::Relaxed);
        }
        Ok(turn("done"))
    });
    assert_eq!(sent.load(Ordering::Relaxed), 0);
    for expected in 0..1_000 {
        assert_eq!(number(stream.next().await.unwrap().unwrap()), expected);
        let ahead = sent.load(Ordering::Relaxed) - expected;
        assert!(ahead <= 17, "{ahead} ahead");
    }
    assert!(matches!(stream.next().await, Some(Ok(Delta::TurnComplete(_)))));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn dropping_the_stream_drops_the_block() {
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let mut stream = TurnStream::spawn(|out| async move {
        out.send(Delta::text("a")).await?;
        std::future::pending::<()>().await;
        drop(inside);
        Ok(())
    });
    assert!(stream.next().await.unwrap().is_ok());
    assert_eq!(Arc::strong_count(&held), 2);
    drop(stream);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[tokio::test]
async fn a_panic_reaches_the_reader_once() {
    let mut stream = TurnStream::spawn(|out| async move {
        out.send(Delta::text("a")).await?;
        assert!(std::hint::black_box(false), "broken");
        Ok(())
    });
    let mut task = Context::from_waker(Waker::noop());
    let panicked = isolated(|| Pin::new(&mut stream).poll_next(&mut task).map(|_| ())).unwrap_err();
    assert_eq!(panicked.into_text(), "broken");
    // The block is not polled again.
    assert_eq!(read(stream).await, ["a"]);
}

#[tokio::test]
async fn a_loop_ends_with_the_panic_of_a_block() {
    struct Broken;

    impl LanguageModel for Broken {
        fn info(&self) -> ModelInfo {
            ModelInfo::new("test")
        }

        fn stream_turn(&self, _request: &TurnRequest) -> TurnStream {
            TurnStream::spawn(|_out| async move {
                assert!(std::hint::black_box(false), "broken");
                Ok(())
            })
        }
    }

    let outcome =
        TurnLoop::new(Broken, Toolkit::new()).start(TurnRequest::new("m", vec![Item::user("?")])).finish().await;
    let LoopEnd::Failed(LoopError::ModelPanicked { message }) = outcome.end else { panic!("{:?}", outcome.end) };
    assert_eq!(message, "broken");
}

#[tokio::test]
async fn several_parts_of_a_block_may_send_at_once() {
    let stream = TurnStream::spawn(|out| async move {
        // Polls only the parts that were woken.
        let out = &out;
        let mut parts: FuturesUnordered<_> = (0..50).map(|number| out.send(Delta::text(number.to_string()))).collect();
        while let Some(sent) = parts.next().await {
            sent?;
        }
        Ok(turn("done"))
    });
    let read = read(stream).await;
    assert_eq!(read.len(), 51);
    assert_eq!(read.last().unwrap(), "turn done");
}

#[tokio::test]
async fn another_task_may_send_and_its_reader_is_woken() {
    let stream = TurnStream::spawn(|out| async move {
        let sending = tokio::spawn(async move {
            for number in 0..100 {
                out.send(Delta::text(number.to_string())).await?;
                tokio::task::yield_now().await;
            }
            Ok::<_, ModelError>(())
        });
        sending.await.unwrap()?;
        Ok(turn("done"))
    });
    assert_eq!(read(stream).await.len(), 101);
}

#[tokio::test]
async fn a_task_that_outlives_the_stream_gets_an_error() {
    let (kept, received) = tokio::sync::oneshot::channel();
    let mut stream = TurnStream::spawn(|out| async move {
        out.send(Delta::text("a")).await?;
        kept.send(out).unwrap();
        std::future::pending::<Result<(), _>>().await
    });
    assert!(stream.next().await.unwrap().is_ok());
    let out = received.await.unwrap();
    // One that waits for room is woken.
    let waiting = tokio::spawn(async move {
        let ended = out.send_all((0..100).map(|_| Delta::text("b"))).await;
        (ended, out)
    });
    tokio::task::yield_now().await;
    drop(stream);
    let (ended, out) = waiting.await.unwrap();
    assert!(matches!(ended, Err(ModelError::Cancelled)));
    assert!(matches!(out.send(Delta::text("c")).await, Err(ModelError::Cancelled)));
}

/// Counts its wakes.
struct Counting(AtomicUsize);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn the_last_task_that_polled_is_woken() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let stream = TurnStream::spawn(|out| async move {
        let out_of_task = receiver.await.map_err(|_| ModelError::Cancelled)?;
        out.send(Delta::text(out_of_task)).await?;
        Ok(turn("done"))
    });
    let mut stream = pin!(stream);
    let wakers = [(); 2].map(|()| Arc::new(Counting(AtomicUsize::new(0))));
    for counting in &wakers {
        let waker = Waker::from(Arc::clone(counting));
        assert!(stream.as_mut().poll_next(&mut Context::from_waker(&waker)).is_pending());
    }
    sender.send("a").unwrap();
    assert_eq!(wakers.each_ref().map(|counting| counting.0.load(Ordering::Relaxed)), [0, 1]);
    let polled = stream.as_mut().poll_next(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Ready(Some(Ok(Delta::TextDelta { text, .. }))) if text == "a"));
}
