//! OpenAI's changes to files.

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::item::PlainForm;
use crate::catalogue::openai::handled;
use crate::catalogue::typed::settings;
use crate::catalogue::{ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool};

settings! {
    /// Settings for [`apply_patch`], which takes none.
    pub struct OpenAiApplyPatch {}
}

/// A call to [`apply_patch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PatchCall {
    /// The change.
    pub operation: PatchOperation,
}

/// A change to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PatchOperation {
    /// Creates a file.
    CreateFile {
        /// The file's path, relative to the workspace root.
        path: String,
        /// The content, as a diff.
        diff: String,
    },
    /// Changes a file.
    UpdateFile {
        /// The file's path, relative to the workspace root.
        path: String,
        /// The change, as a diff.
        diff: String,
    },
    /// Deletes a file.
    DeleteFile {
        /// The file's path, relative to the workspace root.
        path: String,
    },
}

/// A result from [`apply_patch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PatchResult {
    /// The status.
    pub status: PatchStatus,
    /// A message for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// A file change's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatchStatus {
    /// The file was changed.
    Completed,
    /// The file was not changed.
    Failed,
}

impl PatchResult {
    /// Creates a result for a change that was made.
    #[must_use]
    pub fn completed() -> Self {
        Self { status: PatchStatus::Completed, output: None }
    }

    /// Creates a result for a change that was not made, with the reason.
    #[must_use]
    pub fn failed(reason: impl Into<String>) -> Self {
        Self { status: PatchStatus::Failed, output: Some(reason.into()) }
    }
}

impl CatalogueSettings for OpenAiApplyPatch {
    const ENTRY: CatalogueEntry = handled("openai.apply_patch", "OpenAiApplyPatch", "apply_patch")
        .items("apply_patch_call", &["operation"], "apply_patch_call_output", PlainForm::Patch)
        .types::<Self>();
    type Params = PatchCall;
    type Success = PatchResult;
    type Failure = NoFailure;
}

impl ApplicationTool for OpenAiApplyPatch {}

/// Creates the tool with which a model changes your application's files.
///
/// ```
/// use haft_wire::catalogue::openai::{self, PatchCall, PatchOperation, PatchResult};
///
/// let patch = openai::apply_patch().handler(|call: PatchCall, _cx| async move {
///     match call.operation {
///         PatchOperation::DeleteFile { path } => PatchResult::failed(format!("{path} may not be deleted")),
///         _ => PatchResult::completed(),
///     }
/// })?;
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn apply_patch() -> CatalogueTool<OpenAiApplyPatch> {
    CatalogueTool::new(OpenAiApplyPatch::new())
}
