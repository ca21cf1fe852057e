//! Where references that leave a schema are looked up: nowhere, except in tests that bring their own documents.

#[cfg(feature = "validate")]
use std::collections::HashMap;
#[cfg(feature = "validate")]
use std::sync::Arc;

#[cfg(feature = "validate")]
use serde_json::Value;

/// Documents that a schema may refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolver {
    #[cfg(feature = "validate")]
    documents: Option<Arc<HashMap<String, Value>>>,
}

impl Resolver {
    /// Nothing can be referred to.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// Exactly these documents can be referred to, by their address.
    #[cfg(all(test, feature = "validate"))]
    pub(super) fn in_memory(documents: HashMap<String, Value>) -> Self {
        Self { documents: Some(Arc::new(documents)) }
    }

    /// Whether documents outside the schema exist at all.
    #[cfg(feature = "validate")]
    pub(super) fn is_none(&self) -> bool {
        self.documents.is_none()
    }

    #[cfg(feature = "validate")]
    pub(super) fn retriever(&self) -> Option<InMemory> {
        self.documents.clone().map(InMemory)
    }
}

/// Answers from memory alone.
#[cfg(feature = "validate")]
pub(super) struct InMemory(Arc<HashMap<String, Value>>);

#[cfg(feature = "validate")]
impl jsonschema::Retrieve for InMemory {
    fn retrieve(&self, uri: &jsonschema::Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        self.0.get(uri.as_str()).cloned().ok_or_else(|| format!("no document at {uri}").into())
    }
}
