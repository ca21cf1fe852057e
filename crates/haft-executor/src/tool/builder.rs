//! The builder of a tool.
//!
//! The steps can be called in any order, and none of them fails. The last one, which attaches the handler or omits it,
//! checks everything and reports all faults at once.

use std::fmt;
use std::marker::PhantomData;

use haft_core::{Annotation, ContentPart, Icon, Icons, IntoDescription, ProviderOptions, Title, Version};
use haft_schema::{Issue, Schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cx::Cx;
use crate::handler::{Failure, failure_schema};
use crate::service::Dependency;
use crate::tool::definition::ModelOutput;
use crate::tool::draft::ToolDraft;
use crate::tool::{
    ApprovalPolicy, DefinitionError, DefinitionFault, ExecutionLimits, FailureMode, Fixed, Inferred, Open, Refine,
    RefineError, SchemaPart, Tool, ToolKind,
};

/// A builder of a tool. `P` and `R` are the sources of the schemas of its parameters and its result; see [`Inferred`],
/// [`Fixed`] and [`Open`].
///
/// ```
/// use haft_core::Readonly;
/// use haft_executor::Tool;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Search { query: String }
///
/// let search = Tool::new("search")
///     .describe("Searches the archive.")
///     .annotate(Readonly(true))
///     .example(json!({"query": "Rust"}))
///     .handler(|search: Search, _cx| async move { vec![search.query] })?;
/// assert_eq!(search.description(), Some("Searches the archive."));
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
#[must_use = "a builder builds no tool until its last step is called"]
pub struct ToolBuilder<P = Inferred, R = Inferred> {
    pub(crate) draft: ToolDraft,
    slots: PhantomData<fn() -> (P, R)>,
}

impl<P, R> ToolBuilder<P, R> {
    pub(crate) fn start(name: impl Into<String>, kind: ToolKind) -> Self {
        Self::from_draft(ToolDraft::new(name.into(), kind))
    }

    /// Sets the description for the model: a text, or an `Option` of one. An empty text counts as set; `None` unsets it.
    ///
    /// ```
    /// use haft_executor::Tool;
    ///
    /// let documented = Some(String::from("Finds pages."));
    /// assert_eq!(Tool::new("search").describe(documented).define()?.description(), Some("Finds pages."));
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn describe<M>(mut self, text: impl IntoDescription<M>) -> Self {
        self.draft.description = text.into_description();
        self
    }

    /// Sets the id, by which the tool is known independently of its name. By default it is the name, or `vendor.tool`
    /// for a provider-defined tool.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.draft.id = Some(id.into());
        self
    }

    /// Sets the version of the tool, in any notation.
    pub fn version(self, version: impl Into<String>) -> Self {
        self.annotate(Version(version.into()))
    }

    /// Adds an icon.
    pub fn icon(self, icon: Icon) -> Self {
        let mut icons = self.draft.annotations.icons().to_vec();
        icons.push(icon);
        self.annotate(Icons(icons))
    }

    /// Sets the options for providers, replacing earlier ones.
    pub fn provider_options(self, options: ProviderOptions) -> Self {
        self.annotate(options)
    }

    /// Sets the title for people.
    pub fn title(self, title: impl Into<String>) -> Self {
        self.annotate(Title(title.into()))
    }

    /// Sets the type of the parameters. The handler must take an `A`.
    pub fn params<A: DeserializeOwned + JsonSchema>(mut self) -> ToolBuilder<Fixed<A>, R> {
        self.draft.set_schema(SchemaPart::Parameters, Schema::of_params::<A>());
        ToolBuilder::from_draft(self.draft)
    }

    /// Sets the schema of the parameters. The handler may take any type.
    pub fn params_schema(mut self, schema: Schema) -> ToolBuilder<Open, R> {
        self.draft.set_schema(SchemaPart::Parameters, Ok(schema));
        ToolBuilder::from_draft(self.draft)
    }

    /// Sets the raw JSON Schema of the parameters, which is kept unchanged. The handler may take any type.
    pub fn params_json(mut self, schema: Value) -> ToolBuilder<Open, R> {
        self.draft.set_schema(SchemaPart::Parameters, Schema::json(schema));
        ToolBuilder::from_draft(self.draft)
    }

    /// Sets the type of a success. The handler must return a `T`.
    pub fn success<T: Serialize + JsonSchema>(mut self) -> ToolBuilder<P, Fixed<T>> {
        self.draft.set_schema(SchemaPart::Success, Schema::of_output::<T>());
        ToolBuilder::from_draft(self.draft)
    }

    /// Sets the schema of a success. The handler may return any type.
    pub fn success_schema(mut self, schema: Schema) -> ToolBuilder<P, Open> {
        self.draft.set_schema(SchemaPart::Success, Ok(schema));
        ToolBuilder::from_draft(self.draft)
    }

    /// Sets the raw JSON Schema of a success. The handler may return any type.
    pub fn success_json(mut self, schema: Value) -> ToolBuilder<P, Open> {
        self.draft.set_schema(SchemaPart::Success, Schema::json(schema));
        ToolBuilder::from_draft(self.draft)
    }

    /// Sets the type of a declared failure. By default it is the error type of a fallible handler.
    pub fn failure<F: Failure>(mut self) -> Self {
        self.draft.set_schema(SchemaPart::Failure, failure_schema::<F>());
        self
    }

    /// Sets the schema of a declared failure.
    pub fn failure_schema(mut self, schema: Schema) -> Self {
        self.draft.set_schema(SchemaPart::Failure, Ok(schema));
        self
    }

    /// Declares the type of the values that the handler emits. It is part of the descriptor, and every value that is
    /// passed to [`Cx::emit`](crate::Cx::emit) is checked: any other one is an error and does not reach the reader.
    /// That includes [`Cx::progress`](crate::Cx::progress). Preliminary results have the success schema. A tool that is
    /// not executed here does not support this.
    ///
    /// ```
    /// use haft_executor::{Cx, EmitError, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tool = Tool::new("count").emits::<u32>().handler(|(), cx: Cx| async move {
    ///     let wrong = cx.emit("one").await.unwrap_err();
    ///     matches!(wrong, EmitError::Invalid(_)) && cx.emit(1).await.is_ok()
    /// })?;
    /// assert_eq!(tool.descriptor().emits.as_ref().unwrap().as_json()["format"], "uint32");
    ///
    /// let kit: Toolkit = Toolkit::new().with(tool)?;
    /// assert_eq!(kit.run_call(&ToolCall::new("c1", "count", "")).await.to_model_text(), "true");
    /// # Ok(())
    /// # }
    /// ```
    pub fn emits<E: Serialize + JsonSchema>(mut self) -> Self {
        self.draft.set_schema(SchemaPart::Emits, Schema::of_output::<E>());
        self
    }

    /// Sets how a failed call is reported to the calling code. A tool that is not executed here supports no mode.
    pub fn failure_mode(mut self, mode: FailureMode) -> Self {
        self.draft.failure_mode = Some(mode);
        self
    }

    /// Attaches an annotation, replacing an earlier one of the same type or key.
    pub fn annotate(mut self, annotation: impl Annotation) -> Self {
        self.draft.annotations = self.draft.annotations.with(annotation);
        self
    }

    /// Adds an example of arguments. It must be valid for the parameters.
    pub fn example(mut self, arguments: impl Serialize) -> Self {
        match serde_json::to_value(arguments) {
            Ok(example) => self.draft.examples.push(example),
            Err(error) => {
                let issue = Issue::new("", "json", format!("the example can't be encoded as JSON: {error}"));
                let index = self.draft.examples.len();
                self.draft.faults.push(DefinitionFault::Example { index, issues: issue.into() });
            }
        }
        self
    }

    /// Sets which calls require approval before they run or, for a tool without a handler, before they surface. A tool
    /// that its provider executes supports no policy but [`never`](ApprovalPolicy::never).
    pub fn needs_approval(mut self, policy: ApprovalPolicy) -> Self {
        self.draft.approval = policy;
        self
    }

    /// Requires a service of type `T`, which must be provided before any call starts. A tool that is not executed here
    /// supports no dependencies.
    pub fn depends_on<T: ?Sized + 'static>(self) -> Self {
        self.depends_on_all([Dependency::of::<T>()])
    }

    /// Requires a service of type `T` that each run provides, by [`RunOptions::service`](crate::RunOptions::service) or
    /// a middleware that [declares](crate::Middleware::provides) it. One of the toolkit does not count. A tool that is
    /// not executed here supports no dependencies.
    pub fn depends_on_run<T: ?Sized + 'static>(self) -> Self {
        self.depends_on_all([Dependency::per_run::<T>()])
    }

    /// Sets the timeouts and the limits of concurrency and size for each call. A tool that is not executed here
    /// supports no limits.
    pub fn limits(mut self, limits: ExecutionLimits) -> Self {
        self.draft.limits = limits;
        self
    }

    /// Sets the content that the model reads in place of a success value. The function takes exactly the type that the
    /// handler returns. A tool that is not executed here does not support this.
    ///
    /// ```
    /// use haft_core::ContentPart;
    /// use haft_executor::Tool;
    ///
    /// let tool = Tool::new("count")
    ///     .to_model_output(|count: &u32| [ContentPart::text(format!("{count} rows"))])
    ///     .handler(|(), _cx| async { 3_u32 })?;
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    pub fn to_model_output<T, C>(mut self, render: impl Fn(&T) -> C + Send + Sync + 'static) -> Self
    where
        T: 'static,
        C: IntoIterator<Item = ContentPart>,
    {
        self.draft.model_output = Some(ModelOutput::new(render));
        self
    }

    /// Sets a function that gets the valid arguments of a call before any decision about it, and rejects or transforms
    /// them. What permits, policies, people and the handler see are the refined arguments. A tool that is not executed
    /// here does not support this.
    ///
    /// The function takes the arguments as any type that reads and writes them, and returns them, or a [`RefineError`]:
    /// an [`Issue`] rejects the call, and the model reads it. What it returns is checked by the schema again; arguments
    /// that the schema rejects are an error of the function, which only the operator sees. The timeouts of a call apply
    /// to this step by itself.
    ///
    /// In each run it is called once for what the model wrote, and once for what a person wrote in its place, and it
    /// gets exactly that text. A call that waited for approval is refined again when it is resumed, so the function
    /// should return the same for the same arguments: the approval is for what it returned, and if that has changed,
    /// approval is requested again or the call is denied. A person who edits the arguments approves what the function
    /// makes of them. Arguments that a middleware changes are checked by the schema and not refined.
    ///
    /// ```
    /// use haft_executor::{Cx, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// use haft_schema::Issue;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let weather = Tool::new("weather")
    ///     .refine(|(city,): (String,), _cx: Cx| async move {
    ///         match city.trim().to_lowercase().as_str() {
    ///             "muc" | "munich" => Ok(("Munich".to_owned(),)),
    ///             _ => Err(Issue::new("/0", "refine", "there is no such city").expected("a city")),
    ///         }
    ///     })
    ///     .handler(|(city,): (String,), _cx| async move { format!("sunny in {city}") })?;
    /// let kit: Toolkit = Toolkit::new().with(weather)?;
    ///
    /// let result = kit.run_call(&ToolCall::new("c1", "weather", r#"["muc "]"#)).await;
    /// assert_eq!(result.to_model_text(), "sunny in Munich");
    /// let result = kit.run_call(&ToolCall::new("c2", "weather", r#"["Atlantis"]"#)).await;
    /// assert_eq!(result.failure().unwrap().issues.as_slice()[0].pointer, "/0");
    /// # Ok(())
    /// # }
    /// ```
    pub fn refine<A, E, F, Fut>(mut self, refine: F) -> Self
    where
        A: DeserializeOwned + Serialize + Send + 'static,
        E: Into<RefineError>,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
    {
        self.draft.refine = Some(Refine::new(refine));
        self
    }

    /// Builds the tool without a handler, to be described to a model, or to be given a handler later.
    pub fn define(self) -> Result<Tool, DefinitionError> {
        self.draft.finish(None)
    }

    pub(crate) fn depends_on_all(mut self, dependencies: impl IntoIterator<Item = Dependency>) -> Self {
        for dependency in dependencies {
            if !self.draft.dependencies.contains(&dependency) {
                self.draft.dependencies.push(dependency);
            }
        }
        self
    }

    fn from_draft(draft: ToolDraft) -> Self {
        Self { draft, slots: PhantomData }
    }
}

impl<P, R> fmt::Debug for ToolBuilder<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBuilder")
            .field("name", &self.draft.name)
            .field("kind", &self.draft.kind)
            .field("faults", &self.draft.faults)
            .finish_non_exhaustive()
    }
}
