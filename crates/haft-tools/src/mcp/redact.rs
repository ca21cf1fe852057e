//! The secrets that a server got, removed from whatever it returns.

use std::fmt;

use haft_core::{ContentPart, Secret, ToolFailure, ToolOutput};
use haft_schema::Issues;
use serde_json::Value;

use crate::redactor::Redactor;

/// The secrets of one server.
#[derive(Default)]
pub(super) struct ServerSecrets {
    redactor: Redactor,
    has_secrets: bool,
}

impl ServerSecrets {
    pub(super) fn add(&mut self, secret: &Secret) {
        self.redactor.add(secret);
        self.has_secrets = true;
    }

    /// Removes the secrets from a value.
    pub(super) fn value(&self, value: &mut Value) {
        if self.has_secrets {
            self.redactor.redact_value(value);
        }
    }

    /// Returns a text without the secrets.
    pub(super) fn text(&self, text: &str) -> String {
        self.redactor.redact(text)
    }

    /// Reports whether a value contains a secret.
    pub(super) fn are_in(&self, value: &Value) -> bool {
        let mut redacted = value.clone();
        self.value(&mut redacted);
        redacted != *value
    }

    /// Returns an output without the secrets.
    pub(super) fn output(&self, output: ToolOutput) -> ToolOutput {
        if !self.has_secrets {
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
            redacted.with_metadata(self.redactor.redact(key), value)
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
        if !self.has_secrets {
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

#[cfg(test)]
mod tests {
    use haft_core::{ContentPart, FailureKind, Secret, ToolFailure, ToolOutput};
    use serde_json::json;

    use super::ServerSecrets;

    const PLANTED: &str = "planted-secret-of-a-server";

    fn secrets() -> ServerSecrets {
        let mut secrets = ServerSecrets::default();
        secrets.add(&Secret::new(PLANTED));
        secrets
    }

    #[test]
    fn no_part_of_an_output_has_a_secret() {
        let text = format!("the token is {PLANTED}.");
        let output =
            ToolOutput::rendered(json!({"token": text, PLANTED: 1}).into(), Some(vec![ContentPart::text(&*text)]))
                .with_metadata("trace", json!([text]));
        let redacted = secrets().output(output);
        assert!(!format!("{redacted:?}").contains(PLANTED), "{redacted:?}");
        assert!(format!("{redacted:?}").contains("the token is "), "{redacted:?}");
    }

    #[test]
    fn no_part_of_a_failure_has_a_secret() {
        let failure = ToolFailure::new(FailureKind::ExecutionError, format!("401 for {PLANTED}"));
        let redacted = secrets().failure(failure);
        assert!(redacted.message.starts_with("401 for ") && !redacted.message.contains(PLANTED), "{redacted:?}");
    }

    #[test]
    fn without_secrets_nothing_changes() {
        let redacted = ServerSecrets::default().output(ToolOutput::rendered(json!([PLANTED]).into(), None));
        assert!(format!("{redacted:?}").contains(PLANTED));
    }
}
