//! Settings that must not be logged.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::IntoSetting;

/// A text that is sent to the provider and does not appear in `Debug`.
///
/// The settings of a tool are part of its descriptor, so a descriptor that is stored contains it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretSetting(String);

impl SecretSetting {
    /// Creates a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Omits the text.
impl fmt::Debug for SecretSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretSetting(..)")
    }
}

impl IntoSetting<SecretSetting> for &str {
    fn into_setting(self) -> SecretSetting {
        SecretSetting::new(self)
    }
}

impl IntoSetting<SecretSetting> for String {
    fn into_setting(self) -> SecretSetting {
        SecretSetting::new(self)
    }
}
