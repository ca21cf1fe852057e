//! Combining two sets of options: those of a loop or a server, and those of one conversation.
//!
//! Nothing that protects the first set may be lost by the second. So permits, policies, observers, auditors and
//! cancellations add up, the stricter of two limits applies, and everything else is a value that the second set
//! replaces if it has one. Both sets are destructured whole: an option that is added does not compile until it is
//! decided about here.

use std::sync::Arc;

use super::option::RunOptions;
use super::run_deadline::RunDeadline;
use crate::approval::Gate;
use crate::scope::RunScope;

impl RunOptions {
    /// Combines these options with those of a narrower scope, such as one conversation:
    ///
    /// - permits, policies, observers, auditors, lanes and cancellations add up; if either set disables the policies of the tools
    ///   ([`policy_instead`](Self::policy_instead)), they are disabled;
    /// - services and extensions add up, and where both have a type, that of `narrower` is used;
    /// - of two limits the stricter applies: concurrency, timeouts, deadline, output cap, approval timeout and lifetime, and
    ///   the size and depth of arguments (where they are not the default);
    /// - [`spawned`](Self::spawned) and [`started_events`](Self::started_events) apply if either set has them;
    /// - everything else is replaced where `narrower` sets it: caller, messages, approver, approval clock, memory and
    ///   keys, sink and run id, and the repairs and the treatment of duplicate keys if they are not the default.
    ///
    /// ```
    /// use haft_executor::{Cx, Permission, RunOptions, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = RunOptions::new().caller("guest").permit(|tool: &Tool, _: &ToolCall, _: &Cx| match tool.name() {
    ///     "drop_tables" => Permission::denied("nobody may"),
    ///     _ => Permission::Allowed,
    /// });
    /// let tenant = RunOptions::new().caller("tenant:7").call_timeout(Duration::from_secs(2));
    /// let options = server.merge(tenant);
    ///
    /// let who = Tool::new("who").handler(|(), cx: Cx| async move { cx.caller().map(ToString::to_string) })?;
    /// let kit: Toolkit = Toolkit::new().with(who)?.with(Tool::new("drop_tables").handler(|(), _cx| async { "gone" })?)?;
    /// let who = kit.run_call_with(&ToolCall::new("c1", "who", ""), &options).await;
    /// assert_eq!(who.to_model_text(), "tenant:7");
    /// assert!(!kit.run_call_with(&ToolCall::new("c2", "drop_tables", ""), &options).await.is_ok());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn merge(self, narrower: Self) -> Self {
        let Self {
            concurrency,
            call_timeout,
            call_idle_timeout,
            output_cap,
            mut policies,
            tool_policies,
            mut permits,
            approver,
            approval_timeout,
            gate,
            scope,
            decode,
            until,
            mut cancellations,
            mut observers,
            sink,
            handler_task,
            run_id,
            start_events,
            mut lanes,
        } = self;
        let Self {
            concurrency: narrower_concurrency,
            call_timeout: narrower_call_timeout,
            call_idle_timeout: narrower_call_idle_timeout,
            output_cap: narrower_output_cap,
            policies: narrower_policies,
            tool_policies: narrower_tool_policies,
            permits: narrower_permits,
            approver: narrower_approver,
            approval_timeout: narrower_approval_timeout,
            gate: narrower_gate,
            scope: narrower_scope,
            decode: narrower_decode,
            until: narrower_until,
            cancellations: narrower_cancellations,
            observers: narrower_observers,
            sink: narrower_sink,
            handler_task: narrower_handler_task,
            run_id: narrower_run_id,
            start_events: narrower_start_events,
            lanes: narrower_lanes,
        } = narrower;
        policies.append(&narrower_policies);
        permits.append(&narrower_permits);
        cancellations.append(&narrower_cancellations);
        observers.append(&narrower_observers);
        lanes.append(&narrower_lanes);
        Self {
            concurrency: stricter(concurrency, narrower_concurrency, Ord::min),
            call_timeout: stricter(call_timeout, narrower_call_timeout, Ord::min),
            call_idle_timeout: stricter(call_idle_timeout, narrower_call_idle_timeout, Ord::min),
            output_cap: stricter(output_cap, narrower_output_cap, |cap, narrower| narrower.smaller(cap)),
            policies,
            tool_policies: tool_policies.max(narrower_tool_policies),
            permits,
            approver: narrower_approver.or(approver),
            approval_timeout: stricter(approval_timeout, narrower_approval_timeout, Ord::min),
            gate: stricter(gate, narrower_gate, |gate, narrower| Arc::new(Gate::merge(&gate, &narrower))),
            scope: stricter(scope, narrower_scope, |scope, narrower| Arc::new(RunScope::merge(&scope, &narrower))),
            decode: decode.merge(narrower_decode),
            until: stricter(until, narrower_until, RunDeadline::earlier),
            cancellations,
            observers,
            sink: narrower_sink.or(sink),
            handler_task: handler_task.max(narrower_handler_task),
            run_id: narrower_run_id.or(run_id),
            start_events: start_events.max(narrower_start_events),
            lanes,
        }
    }
}

/// Combines two values that may be unset.
pub(crate) fn stricter<T>(one: Option<T>, other: Option<T>, both: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(both(one, other)),
        (one, other) => one.or(other),
    }
}
