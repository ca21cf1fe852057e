//! Approval policies of a run that speak about some of its tools only.
//!
//! A policy of a whole run is asked about every call. One that reads the parameters of a single tool could not read those of
//! the others, and so would require approval for all of them; these ignore the calls of other tools.

use std::any::TypeId;
use std::future::ready;
use std::sync::Arc;

use crate::handler::ToolType;
use crate::tool::approval::{ApprovalCx, ApprovalNeed, ApprovalPolicy};

impl ApprovalPolicy {
    /// Requires approval for every call of these tools, given by their names or ids, and for no call of any other. A name
    /// is also found behind a namespace: `deploy` as `acme__deploy`.
    ///
    /// ```
    /// use haft_executor::{ApprovalPolicy, RunOptions};
    ///
    /// let options = RunOptions::new().policy(ApprovalPolicy::tools(["deploy", "rollback"]));
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn tools<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Self::always().among(move |cx| names.iter().any(|name| cx.is_about(name)))
    }

    /// Limits the policy to one tool's calls: it requires approval for no other. Use it in the policy of a whole run, whose
    /// tools have different parameters.
    ///
    /// ```
    /// use haft_executor::{ApprovalPolicy, NoFailure, RunOptions, ToolType};
    ///
    /// struct Transfer;
    ///
    /// impl ToolType for Transfer {
    ///     const NAME: &'static str = "transfer";
    ///     type Params = u64;
    ///     type Success = ();
    ///     type Failure = NoFailure;
    ///     type Services = ();
    /// }
    ///
    /// let large = ApprovalPolicy::when(|cents: u64, _cx| cents > 10_000).only::<Transfer>();
    /// let options = RunOptions::new().policy(large);
    /// # let _ = options;
    /// ```
    ///
    /// The tool is found by its type, and by [`NAME`](ToolType::NAME) if it was made without it: as its name, also behind
    /// a namespace, or its id. A function that can't read the tool's parameters requires approval for every call.
    #[must_use]
    pub fn only<T: ToolType>(self) -> Self {
        self.among(|cx| cx.is_of_type(TypeId::of::<T>()) || cx.is_about(T::NAME))
    }

    /// Limits the policy to some calls: the others require no approval.
    fn among(self, includes: impl Fn(&ApprovalCx) -> bool + Send + Sync + 'static) -> Self {
        Self::from_fn(Arc::new(move |arguments, cx| {
            if includes(&cx) { Box::pin(self.decide(arguments, cx)) } else { Box::pin(ready(ApprovalNeed::NotNeeded)) }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoFailure, Tool, Toolkit};
    use haft_core::ToolCall;

    struct Transfer;

    impl ToolType for Transfer {
        const NAME: &'static str = "transfer";
        type Params = u64;
        type Success = bool;
        type Failure = NoFailure;
        type Services = ();
    }

    /// Returns the ids of the calls that run without approval.
    async fn unasked(kit: &Toolkit, policy: ApprovalPolicy, calls: &[ToolCall]) -> Vec<String> {
        let results = kit.run_with(calls.to_vec(), policy).collect_results().await;
        results.iter().filter(|result| result.is_ok()).map(|result| result.call_id.to_string()).collect()
    }

    fn tools() -> (Toolkit, [ToolCall; 4]) {
        let transfer = Tool::of::<Transfer>().handler(|_, _cx| async { true }).unwrap();
        let greet = Tool::new("greet").handler(|name: String, _cx| async move { name }).unwrap();
        let moved = transfer.with_name("move_money").unwrap();
        let kit = Toolkit::new().with(transfer).unwrap().with(greet).unwrap().with(moved).unwrap();
        let calls = [
            ToolCall::new("small", "transfer", "1"),
            ToolCall::new("large", "transfer", "100"),
            ToolCall::new("renamed", "move_money", "100"),
            ToolCall::new("greeting", "greet", r#""Ada""#),
        ];
        (kit, calls)
    }

    #[tokio::test]
    async fn a_policy_about_one_tool_does_not_ask_about_others() {
        let (kit, calls) = tools();
        let large = ApprovalPolicy::when(|cents: u64, _cx| cents > 10).only::<Transfer>();
        assert_eq!(unasked(&kit, large, &calls).await, ["small", "greeting"]);
        assert_eq!(unasked(&kit, ApprovalPolicy::always().only::<Transfer>(), &calls).await, ["greeting"]);
    }

    #[tokio::test]
    async fn a_policy_finds_its_tool_behind_a_namespace() {
        let (kit, _) = tools();
        let kit = kit.namespace("bank").unwrap();
        let calls =
            [ToolCall::new("large", "bank__transfer", "100"), ToolCall::new("other", "bank__greet", r#""Ada""#)];
        assert_eq!(unasked(&kit, ApprovalPolicy::always().only::<Transfer>(), &calls).await, ["other"]);
    }

    #[tokio::test]
    async fn a_list_of_tools_finds_them_behind_a_namespace() {
        let (kit, _) = tools();
        let kit = kit.namespace("bank").unwrap().namespace("eu").unwrap();
        let calls = [
            ToolCall::new("large", "eu__bank__transfer", "100"),
            ToolCall::new("other", "eu__bank__greet", r#""Ada""#),
        ];
        for name in ["transfer", "bank__transfer", "eu__bank__transfer"] {
            assert_eq!(unasked(&kit, ApprovalPolicy::tools([name]), &calls).await, ["other"], "{name}");
        }
        for name in ["fer", "_transfer", "__transfer", "us__bank__transfer", ""] {
            assert_eq!(unasked(&kit, ApprovalPolicy::tools([name]), &calls).await.len(), 2, "{name}");
        }
    }

    #[tokio::test]
    async fn a_policy_finds_its_tool_under_another_name_and_id() {
        let transfer = Tool::of::<Transfer>().id("bank/7").handler(|_, _cx| async { true }).unwrap();
        let kit: Toolkit = Toolkit::new().with(transfer.with_name("move_money").unwrap()).unwrap();
        let calls = [ToolCall::new("large", "move_money", "100")];
        assert!(unasked(&kit, ApprovalPolicy::always().only::<Transfer>(), &calls).await.is_empty());
    }

    #[tokio::test]
    async fn a_list_of_tools_requires_approval_for_them_alone() {
        let (kit, calls) = tools();
        assert_eq!(unasked(&kit, ApprovalPolicy::tools(["greet"]), &calls).await, ["small", "large", "renamed"]);
        let none: [&str; 0] = [];
        assert_eq!(unasked(&kit, ApprovalPolicy::tools(none), &calls).await.len(), 4);
    }
}
