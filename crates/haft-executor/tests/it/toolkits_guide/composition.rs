//! Toolkits from different sources, combined.

use haft_executor::Toolkit;

use super::says;
use crate::executing::{calls, kit, tell};

#[tokio::test]
async fn two_sources_of_one_name_collide_until_one_has_a_namespace() {
    let github = kit([says("search", "github"), says("issue", "issue")]);
    let linear = kit([says("search", "linear")]);

    let error = Toolkit::compose([github.clone(), linear.clone()]).unwrap_err();
    assert_eq!(error.collisions.len(), 1);
    assert_eq!(error.collisions[0].name, "search");
    assert_eq!(error.collisions[0].sources, ["toolkit-0", "toolkit-1"]);

    let both = Toolkit::compose([github.namespace("github").unwrap(), linear]).unwrap();
    let run = both.run(calls([("github__search", ""), ("search", ""), ("github__issue", ""), ("issue", "")]));
    assert_eq!(
        tell(run).await,
        ["c1 output \"github\"", "c2 output \"linear\"", "c3 output \"issue\"", "c4 output unknown_tool"]
    );
}

#[tokio::test]
async fn tools_are_created_in_a_namespace_in_one_step_and_called_by_the_full_name() {
    let kit: Toolkit = Toolkit::make_namespaced("fs", [says("read", "read").unwrap()]).unwrap();
    let results = kit.run(calls([("fs__read", ""), ("read", "")])).collect_results().await;
    assert_eq!(results[0].tool, "fs__read");
    assert!(results[0].is_ok());
    assert_eq!(results[1].failure().unwrap().kind.as_str(), "unknown_tool");
}

/// A namespace does not affect the declared failures and the services of a tool.
#[tokio::test]
async fn a_namespace_keeps_failures_and_services() {
    use haft_executor::{Cx, HandlerError, Services, Tool};

    let tell_key = Tool::new("tell").depends_on::<&'static str>().try_handler_mixed(|wrong: bool, cx: Cx| async move {
        let key = *cx.service::<&'static str>()?;
        if wrong { Err(HandlerError::Declared(format!("{key} is wrong"))) } else { Ok(key) }
    });
    let kit = kit([tell_key]).with_services(Services::new().with("key")).namespace("a").unwrap().namespace("b");
    let results = kit.unwrap().run(calls([("b__a__tell", "false"), ("b__a__tell", "true")])).collect_results().await;
    assert_eq!(results[0].value().unwrap().as_str(), "\"key\"");
    assert_eq!(results[1].failure().unwrap().message, "key is wrong");
}
