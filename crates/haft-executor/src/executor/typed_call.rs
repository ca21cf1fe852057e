//! Calls that the application makes itself, with Rust types.
//!
//! A typed call takes the same path as a model's: its parameters are encoded by the tool's schema, decoded and checked,
//! and the result is checked as well. So ranges, lengths and permits apply to both.

use std::sync::atomic::{AtomicU64, Ordering};

use haft_core::{CallId, ToolCall, ToolFailure};
use haft_schema::JsonText;
use haft_schema::isolation::{Isolated, isolated};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call_error::CallError;
use super::option::RunOptions;
use crate::handler::{ToolType, invalid_input};
use crate::tool::Tool;
use crate::toolkit::{AmbiguousTool, Toolkit};

/// Returns a new id for a call that the application makes itself. It is unique within the process, and carries no other
/// meaning.
fn next_call_id() -> CallId {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    CallId::from(format!("own_call_{}", COUNT.fetch_add(1, Ordering::Relaxed)))
}

impl Toolkit {
    /// Calls a tool by the type of its parameters.
    ///
    /// Works with the types that `#[tool]` generates, which are their own parameters; for others see
    /// [`call_of`](Toolkit::call_of). The success and the declared failure must implement `Deserialize`. The tool
    /// is found by its type, so it may have been renamed or be in a namespace; see [`find`](Toolkit::find). If there
    /// are several, [`call_named`](Toolkit::call_named) chooses one.
    pub async fn call<T>(&self, params: T) -> Result<T::Success, CallError<T::Failure>>
    where
        T: ToolType<Params = T, Success: DeserializeOwned, Failure: DeserializeOwned> + Serialize,
    {
        self.call_with(params, RunOptions::new()).await
    }

    /// Calls a tool as [`call`](Toolkit::call) does, with options.
    ///
    /// ```
    /// use haft_executor::{RunOptions, Tool, ToolType, Toolkit};
    /// # use haft_executor::NoFailure;
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize, JsonSchema)]
    /// struct Double { n: u8 }
    ///
    /// # impl ToolType for Double {
    /// #     const NAME: &'static str = "double";
    /// #     type Params = Self;
    /// #     type Success = u16;
    /// #     type Failure = NoFailure;
    /// #     type Services = ();
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let double = Tool::of::<Double>().handler(|Double { n }, _cx| async move { u16::from(n) * 2 })?;
    /// let kit: Toolkit = Toolkit::new().with(double)?;
    /// assert_eq!(kit.call_with(Double { n: 21 }, RunOptions::new().caller("ana")).await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_with<T>(
        &self,
        params: T,
        options: impl Into<RunOptions>,
    ) -> impl Future<Output = Result<T::Success, CallError<T::Failure>>>
    where
        T: ToolType<Params = T, Success: DeserializeOwned, Failure: DeserializeOwned> + Serialize,
    {
        self.call_of::<T>(params, options)
    }

    /// Calls the tool `T`, whose parameters are of another type, with options.
    ///
    /// ```
    /// use haft_executor::{CallError, NoFailure, RunOptions, Tool, ToolType, Toolkit};
    /// use haft_core::FailureKind;
    ///
    /// struct Double;
    ///
    /// impl ToolType for Double {
    ///     const NAME: &'static str = "double";
    ///     type Params = u8;
    ///     type Success = u16;
    ///     type Failure = NoFailure;
    ///     type Services = ();
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::of::<Double>().handler(|n, _cx| async move { u16::from(n) * 2 })?)?;
    /// assert_eq!(kit.call_of::<Double>(21, RunOptions::new()).await?, 42);
    ///
    /// let missing = Toolkit::new().call_of::<Double>(21, RunOptions::new()).await.unwrap_err();
    /// assert!(matches!(missing, CallError::Fault(failure) if failure.kind == FailureKind::UnknownTool));
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_of<T>(
        &self,
        params: T::Params,
        options: impl Into<RunOptions>,
    ) -> impl Future<Output = Result<T::Success, CallError<T::Failure>>>
    where
        T: ToolType<Params: Serialize, Success: DeserializeOwned, Failure: DeserializeOwned>,
    {
        self.call_found::<T>(self.find::<T>(), T::NAME, Isolated::new(params), options.into())
    }

    /// Calls the tool with this name, with parameters of the type `T`, and with options. It chooses between several
    /// tools of one type.
    ///
    /// ```
    /// use haft_executor::{CallError, NoFailure, RunOptions, Tool, ToolType, Toolkit};
    ///
    /// struct Search;
    ///
    /// impl ToolType for Search {
    ///     const NAME: &'static str = "search";
    ///     type Params = String;
    ///     type Success = String;
    ///     type Failure = NoFailure;
    ///     type Services = ();
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let search: Toolkit = Toolkit::new().with(Tool::of::<Search>().handler(|query, _cx| async move { query })?)?;
    /// let kit = Toolkit::compose([search.clone().namespace("github")?, search.namespace("wiki")?])?;
    /// let (query, options) = ("rust".to_owned(), RunOptions::new());
    ///
    /// let error = kit.call_of::<Search>(query.clone(), &options).await.unwrap_err();
    /// assert!(matches!(error, CallError::Ambiguous(error) if error.names == ["github__search", "wiki__search"]));
    /// assert_eq!(kit.call_named::<Search>("wiki__search", query, &options).await?, "rust");
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_named<T>(
        &self,
        name: &str,
        params: T::Params,
        options: impl Into<RunOptions>,
    ) -> impl Future<Output = Result<T::Success, CallError<T::Failure>>>
    where
        T: ToolType<Params: Serialize, Success: DeserializeOwned, Failure: DeserializeOwned>,
    {
        self.call_found::<T>(Ok(self.get(name)), name, Isolated::new(params), options.into())
    }

    /// Calls the tool that was found. If there is none, the result is that of an unknown name.
    async fn call_found<T>(
        &self,
        found: Result<Option<&Tool>, AmbiguousTool>,
        name: &str,
        params: Isolated<T::Params>,
        options: RunOptions,
    ) -> Result<T::Success, CallError<T::Failure>>
    where
        T: ToolType<Params: Serialize, Success: DeserializeOwned, Failure: DeserializeOwned>,
    {
        let tool = found.map_err(CallError::Ambiguous)?;
        let written = match tool {
            Some(tool) => match isolated(|| tool.parameters().encode_params(&*params)) {
                Ok(written) => written.map_err(|issues| CallError::Fault(invalid_input(issues)))?,
                Err(panicked) => return Err(CallError::Fault(ToolFailure::from(panicked).not_started())),
            },
            None => JsonText::null(),
        };
        let call = ToolCall::new(next_call_id(), tool.map_or(name, Tool::name), written.as_str());
        let result = self.run_call_with(&call, &options).await;
        isolated(|| T::read(&result)).unwrap_or_else(|panicked| Err(CallError::Fault(panicked.into())))
    }
}
