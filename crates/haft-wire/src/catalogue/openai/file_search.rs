//! OpenAI's search in files.

use std::collections::BTreeMap;

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::openai::executed;
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting};

settings! {
    /// Settings for [`file_search`].
    pub struct OpenAiFileSearch {
        required {
            /// The vector stores to search, by their ids.
            vector_store_ids: Vec<String>,
        }
        optional {
            /// The condition that files must meet.
            filters: FileFilter,
            /// The most results to return, from 1 to 50.
            max_num_results: u32,
            /// The result ranking.
            ranking_options: FileRanking,
        }
    }
}

/// A condition on a file's attributes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum FileFilter {
    /// Compares one attribute.
    Comparison(AttributeFilter),
    /// Several conditions.
    Compound(CompoundFilter),
}

/// A comparison with a file's attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AttributeFilter {
    /// The attribute's name.
    pub key: String,
    /// The operator.
    pub r#type: FilterOperator,
    /// The value: a text, number or boolean, or a list of texts and numbers.
    pub value: Value,
}

/// Several conditions on a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CompoundFilter {
    /// Requires all conditions, or one.
    pub r#type: FilterJunction,
    /// The conditions.
    pub filters: Vec<FileFilter>,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FilterOperator {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// In a list.
    In,
    /// Not in a list.
    Nin,
}

/// A way to combine conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterJunction {
    /// All conditions must be met.
    And,
    /// One condition must be met.
    Or,
}

setting_object! {
    /// Result ranking.
    pub struct FileRanking {
        optional {
            /// The ranker.
            ranker: FileRanker,
            /// The lowest score a result may have, from 0 to 1.
            score_threshold: f64,
            /// The weights for meaning and words.
            hybrid_search: HybridWeights,
        }
    }
}

setting_object! {
    /// A search's weights for meaning and words.
    pub struct HybridWeights {
        required {
            /// The weight for meaning.
            embedding_weight: f64,
            /// The weight for words.
            text_weight: f64,
        }
    }
}

open_enum! {
    /// A result ranker.
    pub enum FileRanker {
        /// The newest.
        Auto,
        /// The ranker with this version.
        #[serde(rename = "default-2024-11-15")]
        Default20241115,
    }
}

/// A file search's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FileSearchResult {
    /// The search's status.
    pub status: String,
    /// The queries.
    pub queries: Vec<String>,
    /// The found files. Absent unless the request includes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<FoundFile>>,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FoundFile {
    /// The file's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    /// The file's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// The score, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The text that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The file's attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<BTreeMap<String, Value>>,
}

impl FileFilter {
    /// Creates a comparison with an attribute.
    #[must_use]
    pub fn attribute(key: impl Into<String>, operator: FilterOperator, value: impl Into<Value>) -> Self {
        Self::Comparison(AttributeFilter { key: key.into(), r#type: operator, value: value.into() })
    }

    /// Creates a condition that is met if all of these are.
    #[must_use]
    pub fn all(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::Compound(CompoundFilter { r#type: FilterJunction::And, filters: filters.into_iter().collect() })
    }

    /// Creates a condition that is met if any of these is.
    #[must_use]
    pub fn any(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::Compound(CompoundFilter { r#type: FilterJunction::Or, filters: filters.into_iter().collect() })
    }
}

impl CatalogueSettings for OpenAiFileSearch {
    const ENTRY: CatalogueEntry =
        executed("openai.file_search", "OpenAiFileSearch", "file_search", "file_search_call").types::<Self>();
    type Params = ();
    type Success = FileSearchResult;
    type Failure = NoFailure;
}

/// Creates the tool with which a model searches files in these vector stores.
///
/// ```
/// use haft_wire::catalogue::openai::{self, FileFilter, FilterOperator};
///
/// let recent = FileFilter::attribute("year", FilterOperator::Gte, 2025);
/// let search = openai::file_search(["vs_1"]).max_num_results(5).filters(recent).define()?;
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn file_search(vector_stores: impl IntoSetting<Vec<String>>) -> CatalogueTool<OpenAiFileSearch> {
    CatalogueTool::new(OpenAiFileSearch::new(vector_stores.into_setting()))
}
