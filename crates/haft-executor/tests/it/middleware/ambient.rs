//! Ambient values follow a call to the tasks and threads that are started for it, and no further.

use haft_core::ToolCall;
use haft_executor::{Ambient, Cx, Middleware, Next, Request, Tool, Toolkit};

use super::WAYS;

struct Depth(u32);

fn depth() -> u32 {
    Ambient::current().get::<Depth>().map_or(0, |depth| depth.0)
}

/// A middleware that runs everything inside of it one level deeper.
fn deeper() -> impl Middleware<Services = ()> {
    |request: Request, next: Next| Ambient::current().with(Depth(depth() + 1)).scope(next.run(request))
}

fn tools() -> [Tool; 3] {
    let spawning = |(), _: Cx| async { tokio::spawn(async { depth() }).await.unwrap() };
    [
        Tool::new("future").handler(|(), _: Cx| async { depth() }).unwrap(),
        Tool::new("blocking").blocking_handler(|(), _: Cx| depth()).unwrap(),
        Tool::new("spawning").handler(spawning).unwrap(),
    ]
}

fn kit() -> Toolkit {
    Toolkit::from_iter(tools()).wrap(deeper())
}

#[tokio::test]
async fn values_reach_the_handler_in_every_way_it_runs() {
    for way in WAYS {
        for (name, expected) in [("future", "1"), ("blocking", "1"), ("spawning", "0")] {
            let result = way.run(&kit(), &ToolCall::new("c1", name, "")).await;
            assert_eq!(result.to_model_text(), expected, "{name}, {way:?}");
        }
        assert_eq!(depth(), 0);
    }
}

#[tokio::test]
async fn values_reach_calls_that_a_handler_makes() {
    for inner in WAYS {
        let outer = Tool::new("outer").handler(move |name: String, _: Cx| async move {
            inner.run(&kit(), &ToolCall::new("c2", name, "")).await.to_model_text()
        });
        let outer: Toolkit = Toolkit::from_iter([outer.unwrap()]).wrap(deeper());
        for way in WAYS {
            for name in ["future", "blocking"] {
                let result = way.run(&outer, &ToolCall::new("c1", "outer", format!("{name:?}"))).await;
                assert_eq!(result.to_model_text(), "2", "{name}, {way:?}, {inner:?}");
            }
        }
    }
}
