//! Anthropic's advisor: a second model that Claude consults.

use haft_executor::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::executed;
use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting};

settings! {
    /// Settings for [`advisor`].
    pub struct AnthropicAdvisor {
        required {
            /// The model that gives advice.
            model: String,
        }
        optional {
            /// The most calls in one request.
            max_uses: u32,
            /// The most tokens in an answer.
            max_tokens: u32,
            /// Caches the text that the advisor reads.
            caching: AdvisorCaching,
        }
    }
}

/// The advisor's cache setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum AdvisorCaching {
    /// Caches for a limited time.
    Ephemeral {
        /// The time: `5m` or `1h`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ttl: Option<String>,
    },
}

/// An advisor's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AdvisorResult {
    /// Advice.
    AdvisorResult {
        /// The text.
        text: String,
        /// The reason why the advisor stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop_reason: Option<String>,
    },
    /// Advice that only the provider can read.
    AdvisorRedactedResult {
        /// The encrypted text.
        encrypted_content: String,
        /// The reason why the advisor stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stop_reason: Option<String>,
    },
}

/// An advisor's failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AdvisorError {
    /// The reason.
    pub error_code: AdvisorErrorCode,
}

open_enum! {
    /// The reason that an advisor gave no advice.
    pub enum AdvisorErrorCode {
        /// There were more calls than `max_uses`.
        MaxUsesExceeded,
        /// The conversation is too long.
        PromptTooLong,
        /// The rate limit is exceeded.
        TooManyRequests,
        /// The provider is overloaded.
        Overloaded,
        /// An internal error.
        Unavailable,
        /// The answer took too long.
        ExecutionTimeExceeded,
        /// There is no such model.
        ModelNotFound,
    }
}

impl Failure for AdvisorError {
    fn message(&self) -> String {
        format!("the advisor failed: {:?}", self.error_code)
    }
}

impl CatalogueSettings for AnthropicAdvisor {
    const ENTRY: CatalogueEntry =
        executed("anthropic.advisor_20260301", "AnthropicAdvisor", "advisor", "advisor_20260301")
            .beta("advisor-tool-2026-03-01")
            .reported(&["advisor"], "server_tool_use", &["advisor_tool_result"])
            .fallible::<Self>();
    type Params = ();
    type Success = AdvisorResult;
    type Failure = AdvisorError;
}

/// Creates the tool with which Claude consults another model.
pub fn advisor(model: impl IntoSetting<String>) -> CatalogueTool<AnthropicAdvisor> {
    CatalogueTool::new(AnthropicAdvisor::new(model.into_setting()))
}
