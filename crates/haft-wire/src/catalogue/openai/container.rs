//! Containers in which OpenAI runs code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::SecretSetting;
use crate::catalogue::typed::open_enum;

/// A container's network access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum NetworkPolicy {
    /// No access.
    Disabled {},
    /// Access to some domains.
    Allowlist {
        /// The domains.
        allowed_domains: Vec<String>,
        /// Secrets that are added to requests to a domain.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        domain_secrets: Vec<DomainSecret>,
    },
}

/// A secret to add to requests to a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainSecret {
    /// The domain.
    pub domain: String,
    /// The secret's name.
    pub name: String,
    /// The secret.
    pub value: SecretSetting,
}

open_enum! {
    /// A container's memory.
    pub enum MemoryLimit {
        /// One gigabyte.
        #[serde(rename = "1g")]
        OneGigabyte,
        /// Four gigabytes.
        #[serde(rename = "4g")]
        FourGigabytes,
        /// Sixteen gigabytes.
        #[serde(rename = "16g")]
        SixteenGigabytes,
        /// Sixty-four gigabytes.
        #[serde(rename = "64g")]
        SixtyFourGigabytes,
    }
}
