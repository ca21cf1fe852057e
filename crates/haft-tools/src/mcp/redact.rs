//! The secrets that a server got, removed from whatever it returns.

use std::fmt;

use haft_core::{ContentPart, Secret, ToolFailure, ToolOutput};
use haft_schema::Issues;

use crate::redactor::Redactor;

/// The secrets of one server.
#[derive(Default)]
pub(super) struct ServerSecrets {
    redactor: Redactor,
    is_empty: IsEmpty,
}

/// True until a secret is added.
struct IsEmpty(bool);

impl Default for IsEmpty {
    fn default() -> Self {
        Self(true)
    }
}

impl ServerSecrets {
    pub(super) fn add(&mut self, secret: &Secret) {
        self.redactor.add(secret);
        self.is_empty = IsEmpty(false);
    }

    /// Returns an output without the secrets.
    pub(super) fn output(&self, output: ToolOutput) -> ToolOutput {
        if self.is_empty.0 {
            return output;
        }
        let value = output.value().map(|value| self.redactor.redact_json(value.clone()));
        let content = output.content().map(|parts| parts.iter().map(|part| self.part(part)).collect::<Vec<_>>());
        let redacted = match (value, content) {
            (Some(value), content) => ToolOutput::rendered(value, content),
            (None, Some(content)) => ToolOutput::content_only(content),
            (None, None) => return output,
        };
        output.metadata().into_iter().flatten().fold(redacted, |redacted, (key, value)| {
            let mut value = value.clone();
            self.redactor.redact_value(&mut value);
            redacted.with_metadata(key, value)
        })
    }

    fn part(&self, part: &ContentPart) -> ContentPart {
        let Ok(mut value) = serde_json::to_value(part) else { return part.clone() };
        let before = value.clone();
        self.redactor.redact_value(&mut value);
        if value == before {
            return part.clone();
        }
        serde_json::from_value(value.clone()).unwrap_or(ContentPart::Unknown(value))
    }

    /// Returns a failure without the secrets.
    pub(super) fn failure(&self, mut failure: ToolFailure) -> ToolFailure {
        if self.is_empty.0 {
            return failure;
        }
        failure.message = self.redactor.redact(&failure.message);
        failure.details = failure.details.map(|details| Box::new(self.redactor.redact_json(*details)));
        let has_secret = failure.issues.iter().any(|issue| !self.redactor.find(issue.message.as_bytes()).is_empty());
        if has_secret {
            failure.issues = Issues::default();
        }
        failure
    }
}

impl fmt::Debug for ServerSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSecrets").finish_non_exhaustive()
    }
}
