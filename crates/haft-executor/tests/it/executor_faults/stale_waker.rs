//! A waker may be kept long after its call has ended. It must keep nothing else alive.

use std::sync::{Arc, Mutex, Weak};
use std::task::{Poll, Waker};

use haft_core::ToolCall;
use haft_executor::{Cx, RunOptions, Services, Tool, Toolkit};

/// A notification that keeps the waker of the last task that waited.
#[derive(Default)]
struct Bell(Mutex<Option<Waker>>);

impl Bell {
    /// Waits once without being notified: the waker is kept.
    async fn wait(&self) {
        let mut waited = false;
        std::future::poll_fn(|task| {
            *self.0.lock().unwrap() = Some(task.waker().clone());
            if std::mem::replace(&mut waited, true) {
                return Poll::Ready(());
            }
            task.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

fn waiting() -> Tool {
    let run = |(), cx: Cx| async move { cx.service::<Bell>().unwrap().wait().await };
    Tool::new("wait").depends_on::<Bell>().handler(run).unwrap()
}

async fn run(kit: Toolkit, services: Option<Services>) {
    let options = services.into_iter().fold(RunOptions::new(), RunOptions::services);
    let run = kit.run_with([ToolCall::new("c1", "wait", "")], options);
    assert!(run.collect_results().await[0].is_ok());
}

#[tokio::test]
async fn a_stale_waker_keeps_no_service_alive() {
    let bell = Arc::new(Bell::default());
    let gone: Weak<Bell> = Arc::downgrade(&bell);
    run(Toolkit::from_iter([waiting()]), Some(Services::new().with_shared(bell))).await;
    assert_eq!(gone.strong_count(), 0, "given to the run");

    let bell = Arc::new(Bell::default());
    let gone = Arc::downgrade(&bell);
    run(Toolkit::from_iter([waiting()]).with_services(Services::new().with_shared(bell)), None).await;
    assert_eq!(gone.strong_count(), 0, "given to the toolkit");
}

#[tokio::test]
async fn a_stale_waker_keeps_no_tool_alive() {
    let bell = Arc::new(Bell::default());
    let gone = Arc::downgrade(&bell);
    let tool = Tool::new("wait").handler(move |(), _cx| {
        let bell = Arc::clone(&bell);
        async move { bell.wait().await }
    });
    run(Toolkit::from_iter([tool.unwrap()]), None).await;
    assert_eq!(gone.strong_count(), 0);
}
