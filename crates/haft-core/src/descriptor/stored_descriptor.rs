//! The stored form of a descriptor.
//!
//! Fields that were added later have defaults, so that older descriptors are read. The schemas are stored as they are,
//! for readers in any language; how they are enforced is stored beside them.

use std::borrow::Cow;

use haft_schema::Enforcement;
use haft_schema::internal::tree;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::object;
use crate::descriptor::{DescriptorKind, Hints, Icon, ProviderOptions, SchemaJson, ToolDescriptor};
use crate::tool_name::ToolId;
use crate::version::FormatVersion;

/// A descriptor as it is written and read.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredDescriptor<'a> {
    #[serde(default)]
    v: FormatVersion,
    /// The id; if absent, that of a new tool of this kind and name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, ToolId>>,
    name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    kind: Cow<'a, DescriptorKind>,
    input_schema: Cow<'a, SchemaJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_schema: Option<Cow<'a, SchemaJson>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure_schema: Option<Cow<'a, SchemaJson>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    emits: Option<Cow<'a, SchemaJson>>,
    #[serde(default, skip_serializing_if = "StoredEnforcement::is_default")]
    enforcement: StoredEnforcement,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(default)]
    hints: Hints,
    #[serde(default, skip_serializing_if = "<[Icon]>::is_empty")]
    icons: Cow<'a, [Icon]>,
    #[serde(default, skip_serializing_if = "has_no_options")]
    provider_options: Cow<'a, ProviderOptions>,
    #[serde(default, skip_serializing_if = "has_no_members", deserialize_with = "owned_object")]
    annotations: Cow<'a, Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_object")]
    meta: Option<Cow<'a, Map<String, Value>>>,
    #[serde(default, skip_serializing_if = "<[Value]>::is_empty", deserialize_with = "array")]
    examples: Cow<'a, [Value]>,
}

/// The enforcement of the schemas of a descriptor.
#[derive(Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredEnforcement {
    #[serde(skip_serializing_if = "Enforcement::is_default")]
    input: Enforcement,
    #[serde(skip_serializing_if = "Enforcement::is_default")]
    output: Enforcement,
    #[serde(skip_serializing_if = "Enforcement::is_default")]
    failure: Enforcement,
    #[serde(skip_serializing_if = "Enforcement::is_default")]
    emits: Enforcement,
}

impl<'a> From<&'a ToolDescriptor> for StoredDescriptor<'a> {
    fn from(descriptor: &'a ToolDescriptor) -> Self {
        let ToolDescriptor {
            id,
            name,
            version,
            title,
            description,
            kind,
            input_schema,
            output_schema,
            failure_schema,
            emits,
            strict,
            hints,
            icons,
            provider_options,
            annotations,
            meta,
            examples,
        } = descriptor;
        let enforcement_of = |schema: &Option<SchemaJson>| schema.as_ref().map(SchemaJson::enforcement);
        Self {
            v: FormatVersion::default(),
            id: Some(Cow::Borrowed(id)),
            name: name.into(),
            version: version.as_deref().map(Cow::Borrowed),
            title: title.as_deref().map(Cow::Borrowed),
            description: description.as_deref().map(Cow::Borrowed),
            kind: Cow::Borrowed(kind),
            input_schema: Cow::Borrowed(input_schema),
            output_schema: output_schema.as_ref().map(Cow::Borrowed),
            failure_schema: failure_schema.as_ref().map(Cow::Borrowed),
            emits: emits.as_ref().map(Cow::Borrowed),
            enforcement: StoredEnforcement {
                input: input_schema.enforcement(),
                output: enforcement_of(output_schema).unwrap_or_default(),
                failure: enforcement_of(failure_schema).unwrap_or_default(),
                emits: enforcement_of(emits).unwrap_or_default(),
            },
            strict: *strict,
            hints: *hints,
            icons: icons.into(),
            provider_options: Cow::Borrowed(provider_options),
            annotations: Cow::Borrowed(annotations),
            meta: meta.as_ref().map(Cow::Borrowed),
            examples: examples.into(),
        }
    }
}

impl From<StoredDescriptor<'_>> for ToolDescriptor {
    fn from(stored: StoredDescriptor<'_>) -> Self {
        let kind = stored.kind.into_owned();
        let name = stored.name.into_owned();
        let StoredEnforcement { input, output, failure, emits } = stored.enforcement;
        Self {
            id: stored.id.map_or_else(|| kind.default_id(&name), Cow::into_owned),
            name,
            version: stored.version.map(Cow::into_owned),
            title: stored.title.map(Cow::into_owned),
            description: stored.description.map(Cow::into_owned),
            kind,
            input_schema: stored.input_schema.into_owned().enforced(input),
            output_schema: stored.output_schema.map(|schema| schema.into_owned().enforced(output)),
            failure_schema: stored.failure_schema.map(|schema| schema.into_owned().enforced(failure)),
            emits: stored.emits.map(|schema| schema.into_owned().enforced(emits)),
            strict: stored.strict,
            hints: stored.hints,
            icons: stored.icons.into_owned(),
            provider_options: stored.provider_options.into_owned(),
            annotations: stored.annotations.into_owned(),
            meta: stored.meta.map(Cow::into_owned),
            examples: stored.examples.into_owned(),
        }
    }
}

impl StoredEnforcement {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn has_no_options(options: &ProviderOptions) -> bool {
    options.is_empty()
}

fn has_no_members(members: &Map<String, Value>) -> bool {
    members.is_empty()
}

fn owned_object<'de, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'a, Map<String, Value>>, D::Error> {
    object(deserializer).map(Cow::Owned)
}

type OptionalMeta<'a> = Option<Cow<'a, Map<String, Value>>>;

fn optional_object<'de, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<OptionalMeta<'a>, D::Error> {
    match tree(deserializer)? {
        Value::Null => Ok(None),
        Value::Object(members) => Ok(Some(Cow::Owned(members))),
        _ => Err(serde::de::Error::custom("expected an object")),
    }
}

fn array<'de, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'a, [Value]>, D::Error> {
    match tree(deserializer)? {
        Value::Array(items) => Ok(Cow::Owned(items)),
        _ => Err(serde::de::Error::custom("expected an array")),
    }
}
