//! The wires that haft knows, by name.

use std::fmt;
use std::str::FromStr;

use haft_schema::nearest;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::profile::Profile;
use crate::wire::Wire;
use crate::wire::anthropic_messages::AnthropicMessages;
use crate::wire::gemini_content::GeminiContent;
use crate::wire::openai_chat::OpenAiChat;
use crate::wire::openai_responses::OpenAiResponses;
use crate::wire::response::recognition::{self, Recognition};

macro_rules! wires {
    ($($(#[$doc:meta])* $wire:ident = $name:literal, $title:literal, $form:ident;)+) => {
        /// One of the built-in wires. Its name is its [`Profile`]'s.
        ///
        /// The enum is exhaustive: a new wire does not compile until everything that decides by wire has decided about it.
        ///
        /// ```
        /// use haft_wire::KnownWire;
        ///
        /// let wire: KnownWire = "gemini".parse()?;
        /// assert_eq!((wire, wire.wire().provider()), (KnownWire::Gemini, "google"));
        /// let error = "opnai".parse::<KnownWire>().unwrap_err();
        /// assert_eq!(error.to_string(), "there is no wire called `opnai`; the nearest is `openai`");
        /// # Ok::<_, haft_wire::UnknownWire>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum KnownWire {
            $($(#[$doc])* $wire,)+
        }

        impl KnownWire {
            /// All wires.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$wire),+];

            /// Returns the name.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$wire => $name,)+
                }
            }

            /// Returns the API's name for people, such as `Messages API of Anthropic`.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$wire => $title,)+
                }
            }

            /// Creates the wire with its default profile and the built-in model table.
            #[must_use]
            pub fn wire(self) -> Box<dyn Wire> {
                match self {
                    $(Self::$wire => Box::new($form::new()),)+
                }
            }

            /// Returns the members by which the wire's bodies are recognised.
            pub(crate) fn recognition(self) -> Recognition {
                match self {
                    $(Self::$wire => $form::RECOGNITION,)+
                }
            }
        }
    };
}

// The one list of wires.
wires! {
    /// OpenAI's Responses API, `openai`.
    OpenAi = "openai", "Responses API of OpenAI", OpenAiResponses;
    /// The Chat Completions API, `openai-chat`.
    OpenAiChat = "openai-chat", "Chat Completions API of OpenAI and of compatible servers", OpenAiChat;
    /// Anthropic's Messages API, `anthropic`.
    Anthropic = "anthropic", "Messages API of Anthropic", AnthropicMessages;
    /// Gemini's `generateContent` API, `gemini`.
    Gemini = "gemini", "API of Gemini", GeminiContent;
}

/// The error for a name that no wire has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no wire called `{name:.80}`; {advice}")]
#[non_exhaustive]
pub struct UnknownWire {
    /// The name.
    pub name: String,
    /// The nearest name, or all names if none is near.
    pub advice: String,
}

impl KnownWire {
    /// Returns the default profile.
    #[must_use]
    pub fn profile(self) -> Profile {
        self.wire().profile().clone()
    }

    /// Recognises a provider's response: a whole body, server-sent events as a program such as `curl` saves them, or
    /// Gemini's streamed array. It recognises provider errors too; OpenAI's error, which both its APIs share, counts as
    /// `openai`.
    ///
    /// A truncated body is recognised as long as what is left shows whose it is. Calls by themselves, such as
    /// `{"name": …, "arguments": …}`, a list or lines of them, are not a provider's response.
    ///
    /// ```
    /// use haft_wire::KnownWire;
    ///
    /// let saved = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n";
    /// assert_eq!(KnownWire::recognise(saved), Some(KnownWire::Anthropic));
    /// assert_eq!(KnownWire::recognise(r#"{"candidates":[{"content":{}}]}"#), Some(KnownWire::Gemini));
    /// assert_eq!(KnownWire::recognise(r#"[{"name":"get_time","arguments":{}}]"#), None);
    /// ```
    #[must_use]
    pub fn recognise(body: &str) -> Option<Self> {
        recognition::recognise(body)
    }
}

impl fmt::Display for KnownWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Writes the name.
impl Serialize for KnownWire {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for KnownWire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl FromStr for KnownWire {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, UnknownWire> {
        if let Some(wire) = Self::ALL.into_iter().find(|wire| wire.as_str() == name) {
            return Ok(wire);
        }
        let advice = match nearest(name, Self::ALL.into_iter().map(Self::as_str)).first() {
            Some(near) => format!("the nearest is `{near}`"),
            None => format!("the wires are {}", Self::ALL.map(|wire| format!("`{wire}`")).join(", ")),
        };
        Err(UnknownWire { name: name.to_owned(), advice })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_is_found_by_its_name_which_is_that_of_its_profile() {
        for wire in KnownWire::ALL {
            assert_eq!(wire.as_str().parse(), Ok(wire));
            assert_eq!(wire.profile().name(), wire.to_string());
            let stored = serde_json::to_string(&wire).unwrap();
            assert_eq!(serde_json::from_str::<KnownWire>(&stored).unwrap(), wire);
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_what_there_is() {
        let advice = |name: &str| name.parse::<KnownWire>().unwrap_err().advice;
        assert_eq!(advice("antropic"), "the nearest is `anthropic`");
        assert_eq!(advice("zzz"), "the wires are `openai`, `openai-chat`, `anthropic`, `gemini`");
        let long = "x".repeat(10_000).parse::<KnownWire>().unwrap_err().to_string();
        assert!(long.len() < 300, "{long}");
    }
}
