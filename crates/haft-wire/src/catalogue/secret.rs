//! Settings that must not be seen.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::catalogue::IntoSetting;
use crate::seal;

/// Text that only the provider ever sees: a token, a password.
///
/// As JSON it is sealed: encrypted with a key that only this process has. Descriptors, requests, recordings and loop
/// states therefore contain nothing to steal, and the wires put the text into the body that they send. A process that
/// reads such JSON from another one can't send it: the request fails with an error that names the place. Define the
/// tool, or set the options, anew.
///
/// Use it wherever you write provider options by hand:
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_wire::catalogue::SecretSetting;
/// use haft_wire::{Delivery, OpenAiResponses, Wire};
/// use serde_json::json;
///
/// let prompt = json!({"prompt": {"id": "p1", "variables": {"door_code": SecretSetting::new("4711")}}});
/// let request = TurnRequest::new("gpt-6-luna", vec![Item::user("Let me in.")]).provider_options("openai", prompt);
/// assert!(!format!("{request:?}").contains("4711"));
/// assert!(!serde_json::to_string(&request)?.contains("4711"));
///
/// let sent = OpenAiResponses::new().request(&request, Delivery::Whole)?;
/// assert!(sent.body.contains(r#""door_code":"4711""#));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, JsonSchema)]
#[schemars(transparent, description = "A text that is sent to the provider and seen nowhere else.")]
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

/// Seals the text.
impl Serialize for SecretSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sealed = seal::seal(&self.0);
        let sealed = sealed.ok_or_else(|| S::Error::custom("a secret can't be sealed without random numbers"))?;
        serializer.serialize_str(&sealed)
    }
}

/// Opens a sealed text. Takes any other text as it is, such as one from a settings file.
impl<'de> Deserialize<'de> for SecretSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match seal::open(&text) {
            Ok(Some(secret)) => Ok(Self::new(secret.expose())),
            Ok(None) => Ok(Self(text)),
            Err(fault) => Err(D::Error::custom(format!("a secret can't be read: {fault}; set it again"))),
        }
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
