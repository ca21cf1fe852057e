//! OpenAI's search in files.

use std::collections::BTreeMap;

use haft_core::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::openai::executed;
use crate::catalogue::typed::{open_enum, setting_object, settings};
use crate::catalogue::{CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting};

settings! {
    /// The settings of [`file_search`].
    pub struct OpenAiFileSearch {
        required {
            /// The vector stores to search, by their ids.
            vector_store_ids: Vec<String>,
        }
        optional {
            /// The condition that files must meet.
            filters: FileFilter,
            /// The maximum number of results, from 1 to 50.
            max_num_results: u32,
            /// The ranking of results.
            ranking_options: FileRanking,
        }
    }
}

/// A condition on the attributes of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum FileFilter {
    /// A comparison of one attribute.
    Comparison(AttributeFilter),
    /// Several conditions.
    Compound(CompoundFilter),
}

/// A comparison of an attribute of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AttributeFilter {
    /// The name of the attribute.
    pub key: String,
    /// The operator.
    pub r#type: FilterOperator,
    /// The value: a text, a number, a boolean, or a list of texts and numbers.
    pub value: Value,
}

/// Several conditions on a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CompoundFilter {
    /// The number of conditions that must be met: all or one.
    pub r#type: FilterJunction,
    /// The conditions.
    pub filters: Vec<FileFilter>,
}

/// An operator of a condition.
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
    /// One of a list.
    In,
    /// None of a list.
    Nin,
}

/// A junction of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterJunction {
    /// All conditions must be met.
    And,
    /// One condition must be met.
    Or,
}

setting_object! {
    /// The ranking of results.
    pub struct FileRanking {
        optional {
            /// The ranker.
            ranker: FileRanker,
            /// The least score of a result, from 0 to 1.
            score_threshold: f64,
            /// The weights of meaning and words.
            hybrid_search: HybridWeights,
        }
    }
}

setting_object! {
    /// The weights of meaning and words in a search.
    pub struct HybridWeights {
        required {
            /// The weight of meaning.
            embedding_weight: f64,
            /// The weight of words.
            text_weight: f64,
        }
    }
}

open_enum! {
    /// A ranker of results.
    pub enum FileRanker {
        /// The newest.
        Auto,
        /// The ranker of this version.
        #[serde(rename = "default-2024-11-15")]
        Default20241115,
    }
}

/// The result of a search in files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FileSearchResult {
    /// The status of the search.
    pub status: String,
    /// The queries.
    pub queries: Vec<String>,
    /// The files that were found. Absent unless the request includes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<FoundFile>>,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FoundFile {
    /// The id of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_id: Option<String>,
    /// The name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// The score, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The text that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The attributes of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<BTreeMap<String, Value>>,
}

impl FileFilter {
    /// Creates a comparison of an attribute.
    #[must_use]
    pub fn attribute(key: impl Into<String>, operator: FilterOperator, value: impl Into<Value>) -> Self {
        Self::Comparison(AttributeFilter { key: key.into(), r#type: operator, value: value.into() })
    }

    /// Creates a condition that is met if all of these are.
    #[must_use]
    pub fn all(filters: impl IntoIterator<Item = Self>) -> Self {
        Self::Compound(CompoundFilter { r#type: FilterJunction::And, filters: filters.into_iter().collect() })
    }

    /// Creates a condition that is met if one of these is.
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

/// Creates the tool by which a model searches in files of these vector stores.
///
/// ```
/// use haft_wire::catalogue::openai::{self, FileFilter, FilterOperator};
///
/// let recent = FileFilter::attribute("year", FilterOperator::Gte, 2025);
/// let search = openai::file_search(["vs_1"]).max_num_results(5).filters(recent).define()?;
/// # Ok::<_, haft_core::DefinitionError>(())
/// ```
pub fn file_search(vector_stores: impl IntoSetting<Vec<String>>) -> CatalogueTool<OpenAiFileSearch> {
    CatalogueTool::new(OpenAiFileSearch::new(vector_stores.into_setting()))
}
