//! The identity of a call beyond its id: its run, and the key by which services recognise it.

use haft_core::RunId;

use super::Cx;
use crate::cx::run_id::RunIdSource;

impl Cx {
    /// Returns the id of the run that the call is part of: the same for all calls of the run, and for the run that goes
    /// on with a suspended one. A call that runs alone, by [`run_call`](crate::Toolkit::run_call), is a run of one
    /// call.
    ///
    /// The id is created when it is first asked for, unless it was [set](crate::RunOptions::run_id).
    ///
    /// ```
    /// use haft_executor::{Cx, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let which = Tool::new("which").handler(|(), cx: Cx| async move { cx.run_id().to_string() })?;
    /// let kit: Toolkit = Toolkit::new().with(which)?;
    ///
    /// let run = kit.run([ToolCall::new("c1", "which", ""), ToolCall::new("c2", "which", "")]);
    /// let id = run.run_id().clone();
    /// for result in run.collect_results().await {
    ///     assert_eq!(result.to_model_text(), id.as_str());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn run_id(&self) -> RunId {
        self.0.run_id()
    }

    /// Returns the position of the call in its run, if it is part of one.
    pub(crate) fn call_index(&self) -> Option<usize> {
        self.0.call_index()
    }

    /// Returns a key by which a service can recognise that a request of this call was sent before: 64 hexadecimal
    /// digits, safe to send as a header.
    ///
    /// It is the same in every attempt at the call, and when the call is resumed after its run was suspended, also in
    /// another process. Every other call has another key: one with another id, and one with the same id in another run.
    /// It is a hash of the [run id](Cx::run_id) and the call id, and reveals neither.
    ///
    /// ```
    /// use haft_executor::Cx;
    /// use haft_core::ToolCall;
    ///
    /// let call = ToolCall::new("c1", "pay", "500");
    /// let cx = Cx::for_call(&call).with_run_id("order-17");
    /// let key = cx.idempotency_key();
    /// assert_eq!(key.len(), 64);
    /// assert_eq!(cx.with_attempt(2).idempotency_key(), key);
    /// assert_ne!(Cx::for_call(&call).idempotency_key(), key, "another run");
    /// ```
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        haft_core::internal::idempotency_key(&self.run_id(), self.call_id())
    }

    /// Sets the id of the run. In a run, [`RunOptions::run_id`](crate::RunOptions::run_id) sets it for all calls.
    #[must_use]
    pub fn with_run_id(self, run_id: impl Into<RunId>) -> Self {
        self.changed(|own| own.run_id = RunIdSource::Known(run_id.into()))
    }
}
