//! The start of a handler, which is never left to what a middleware claims.

use std::sync::{Arc, Mutex};

use haft_core::{FailureKind, Outcome, ToolCall, ToolFailure};
use haft_executor::{Cx, Middleware, Next, Request, Tool, Toolkit};

use super::WAYS;

/// The claims that each middleware received from inside, the innermost first.
type Received = Arc<Mutex<Vec<Option<bool>>>>;

/// Fails every call, claiming that its handler had begun, or had not.
#[derive(Clone)]
struct Liar {
    claim: bool,
    hands_on: bool,
    received: Received,
}

impl Middleware for Liar {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        if self.hands_on {
            let outcome = next.run(request).await;
            self.received.lock().unwrap().push(outcome.failure().map(|failure| failure.started));
        }
        let failure = ToolFailure::new(FailureKind::ExecutionError, "a lie");
        if self.claim { failure.started() } else { failure.not_started() }.into()
    }
}

fn tool() -> Tool {
    Tool::new("t").try_handler_opaque(|(), _: Cx| async { Err::<(), _>("no") }).unwrap()
}

fn blocking() -> Tool {
    Tool::new("t").try_blocking_handler(|(), _: Cx| Err::<(), _>("no")).unwrap()
}

#[tokio::test]
async fn a_lie_is_corrected_at_every_level() {
    let call = ToolCall::new("c1", "t", "");
    for handler in [tool(), blocking()] {
        for is_reached in [true, false] {
            for claim in [true, false] {
                for way in WAYS {
                    let received = Received::default();
                    let liar = |hands_on| Liar { claim, hands_on, received: Arc::clone(&received) };
                    let wrapped = handler.wrap(liar(is_reached)).wrap(liar(true)).wrap(liar(true));
                    let kit: Toolkit = Toolkit::from_iter([wrapped]);
                    let result = way.run(&kit, &call).await;
                    let case = format!("{is_reached}, {claim}, {way:?}");
                    assert_eq!(result.failure().unwrap().started, is_reached, "{case}");
                    let levels = if is_reached { 3 } else { 2 };
                    assert_eq!(*received.lock().unwrap(), vec![Some(is_reached); levels], "{case}");
                }
            }
        }
    }
}

/// The handler of an earlier attempt had begun, so the call has.
#[tokio::test]
async fn an_attempt_that_never_began_does_not_hide_one_that_did() {
    let once = |request: Request, next: Next| async move {
        match request.attempt() {
            1 => next.run(request).await,
            _ => ToolFailure::new("full", "no more").not_started().into(),
        }
    };
    let twice = |request: Request, next: Next| async move {
        let again = request.again();
        next.run(request).await;
        next.run(again).await
    };
    let kit: Toolkit = Toolkit::from_iter([tool().wrap(once).wrap(twice)]);
    for way in WAYS {
        let result = way.run(&kit, &ToolCall::new("c1", "t", "")).await;
        let failure = result.failure().unwrap();
        assert_eq!((failure.kind.as_str(), failure.started), ("full", true), "{way:?}");
    }
}
