//! A conversation's model: its name on the command line, and the client behind it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use haft::http::SecretError;
use haft::model::{HttpModel, LanguageModel, ScriptError, ScriptedModel};
use haft::wire::KnownWire;

use super::report::RequestNotes;
use crate::error::Fault;
use crate::input::TextInput;

/// The variable that names the model if no option does.
pub(crate) const MODEL_VARIABLE: &str = "HAFT_MODEL";

/// The provider of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChatProvider {
    /// The provider of a wire, or a compatible server.
    Wire(KnownWire),
    /// A file with the answers.
    Scripted,
}

/// A model's name: `PROVIDER:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelName {
    pub(crate) provider: ChatProvider,
    /// The provider's name for the model, or a script's path.
    pub(crate) name: String,
}

/// The error for a text that is not a model's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ModelNameError {
    #[error("unknown provider `{provider}`; it is one of {}{}", all_providers(), did_you_mean(*.nearest))]
    UnknownProvider { provider: String, nearest: Option<ChatProvider> },
    #[error("the name of the model is missing, as in `{}`", .0.example())]
    NoName(ChatProvider),
}

impl ChatProvider {
    /// Returns all providers, in the order they are shown.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        KnownWire::ALL.into_iter().map(Self::Wire).chain([Self::Scripted])
    }

    /// Returns the name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Wire(wire) => wire.as_str(),
            Self::Scripted => "scripted",
        }
    }

    /// Returns an example model name.
    pub(crate) fn example(self) -> String {
        let model = match self {
            Self::Wire(KnownWire::OpenAi | KnownWire::OpenAiChat) => "gpt-5-mini",
            Self::Wire(KnownWire::Anthropic) => "claude-sonnet-4-5",
            Self::Wire(KnownWire::Gemini) => "gemini-2.5-flash",
            Self::Scripted => "FILE",
        };
        format!("{}:{model}", self.as_str())
    }

    /// Returns the variables with the key.
    pub(crate) fn key_variables(self) -> String {
        match self {
            Self::Wire(wire) => HttpModel::key_variables(wire).join(" or "),
            Self::Scripted => String::new(),
        }
    }
}

impl ModelName {
    /// Creates the client.
    pub(crate) fn open(&self, base_url: Option<&str>, notes: &RequestNotes) -> Result<Arc<dyn LanguageModel>, Fault> {
        let wire = match (self.provider, base_url) {
            (ChatProvider::Wire(wire), _) => wire,
            (ChatProvider::Scripted, None) => return Ok(Arc::new(script(Path::new(&self.name))?)),
            (ChatProvider::Scripted, Some(_)) => {
                return Err(Fault::new("a scripted model has no server").advice("leave out `--base-url`"));
            }
        };
        let client = match base_url {
            Some(url) => HttpModel::from_env_at(wire, url),
            None => HttpModel::from_env(wire),
        };
        let client = client.map_err(|error| self.missing_key(&error))?;
        let notes = notes.clone();
        Ok(Arc::new(client.on_report(move |report| notes.add(report))))
    }

    fn missing_key(&self, error: &SecretError) -> Fault {
        let fault = Fault::new(format!("the model `{self}` can't be used")).cause(error);
        match self.provider {
            ChatProvider::Wire(KnownWire::OpenAiChat) => {
                fault.advice("a compatible server without a key is named by `--base-url`")
            }
            _ => fault,
        }
    }
}

/// Reads a script.
fn script(path: &Path) -> Result<ScriptedModel, Fault> {
    ScriptedModel::from_file(path).map_err(|error| match error {
        ScriptError::Malformed { .. } => malformed(path, &error),
        error => Fault::new(error.to_string()),
    })
}

/// Returns a script's fault, with its place if it is not JSON.
fn malformed(path: &Path, error: &ScriptError) -> Fault {
    let input = TextInput::read(path).ok();
    let syntax = input.as_ref().and_then(|input| {
        let error = serde_json::from_str::<serde::de::IgnoredAny>(&input.text).err()?;
        Some(input.json_excerpt(0, &error))
    });
    match syntax {
        Some(excerpt) => Fault::new(format!("the script `{}` is not JSON", path.display())).excerpt(excerpt),
        None => Fault::new(error.to_string())
            .advice("a script is `{\"turns\": [{\"text\": \"…\"}, {\"calls\": [{\"call_id\": \"c1\", \"name\": \"…\", \"arguments\": {}}]}]}`"),
    }
}

impl FromStr for ModelName {
    type Err = ModelNameError;

    fn from_str(text: &str) -> Result<Self, ModelNameError> {
        let (provider, name) = text.split_once(':').unwrap_or((text, ""));
        let Some(provider) = ChatProvider::all().find(|known| known.as_str() == provider) else {
            let nearest = nearest_provider(provider);
            return Err(ModelNameError::UnknownProvider { provider: provider.to_owned(), nearest });
        };
        if name.trim().is_empty() {
            return Err(ModelNameError::NoName(provider));
        }
        Ok(Self { provider, name: name.to_owned() })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider.as_str(), self.name)
    }
}

impl From<ModelNameError> for Fault {
    fn from(error: ModelNameError) -> Self {
        Self::new(error.to_string())
    }
}

/// The least similarity at which a name is suggested.
const LEAST_SIMILARITY: f64 = 0.7;

fn nearest_provider(text: &str) -> Option<ChatProvider> {
    let similarity = |provider: ChatProvider| strsim::jaro_winkler(&text.to_lowercase(), provider.as_str());
    let nearest = ChatProvider::all().max_by(|a, b| similarity(*a).total_cmp(&similarity(*b)))?;
    (similarity(nearest) >= LEAST_SIMILARITY).then_some(nearest)
}

fn did_you_mean(nearest: Option<ChatProvider>) -> String {
    nearest.map(|provider| format!("; did you mean `{}`?", provider.as_str())).unwrap_or_default()
}

fn all_providers() -> String {
    ChatProvider::all().map(ChatProvider::as_str).collect::<Vec<_>>().join(", ")
}

/// Chooses the model: from the option, else the stored conversation, else the environment.
pub(crate) fn choose(option: Option<ModelName>, stored: Option<&str>) -> Result<ModelName, Fault> {
    if let Some(name) = option {
        return Ok(name);
    }
    if let Some(stored) = stored {
        let unknown = |error: ModelNameError| {
            Fault::new(format!("the model of the conversation, `{stored}`, can't be used"))
                .cause(&error)
                .advice("name one with `--model PROVIDER:NAME`")
        };
        return stored.parse().map_err(unknown);
    }
    match std::env::var(MODEL_VARIABLE) {
        Ok(name) if !name.trim().is_empty() => name.trim().parse().map_err(|error: ModelNameError| {
            Fault::new(format!("the variable {MODEL_VARIABLE} is no model")).cause(&error)
        }),
        _ => Err(Fault::new("no model is named").advice(format!(
            "use `--model PROVIDER:NAME` or the variable {MODEL_VARIABLE}, for example `{}`",
            ChatProvider::Wire(KnownWire::OpenAi).example()
        ))),
    }
}

/// Returns the name with a script's path made absolute, so that it holds in other folders too.
pub(crate) fn lasting_name(name: &ModelName) -> String {
    match name.provider {
        ChatProvider::Scripted => {
            let path = std::path::absolute(&name.name).unwrap_or_else(|_| PathBuf::from(&name.name));
            format!("{}:{}", name.provider.as_str(), path.display())
        }
        ChatProvider::Wire(_) => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_colons_in_the_models_name() {
        let name: ModelName = "openai-chat:llama3.3:70b".parse().unwrap();
        assert_eq!((name.provider, name.name.as_str()), (ChatProvider::Wire(KnownWire::OpenAiChat), "llama3.3:70b"));
        assert_eq!(name.to_string(), "openai-chat:llama3.3:70b");
        for provider in ChatProvider::all() {
            assert_eq!(provider.example().parse::<ModelName>().unwrap().provider, provider);
        }
    }

    #[test]
    fn an_unknown_provider_is_reported_with_the_nearest_one() {
        let message = |text: &str| text.parse::<ModelName>().unwrap_err().to_string();
        assert!(message("opnai:gpt-5").contains("did you mean `openai`?"), "{}", message("opnai:gpt-5"));
        assert!(message("Antropic:x").contains("did you mean `anthropic`?"));
        assert!(!message("zzz:x").contains("did you mean"));
        assert!(message("gemini").contains("`gemini:gemini-2.5-flash`"));
        assert!(message("openai: ").contains("the name of the model is missing"));
    }

    #[test]
    fn the_option_wins_over_the_stored_model() {
        let option: ModelName = "gemini:a".parse().unwrap();
        assert_eq!(choose(Some(option.clone()), Some("openai:b")).unwrap(), option);
        assert_eq!(choose(None, Some("openai:b")).unwrap().name, "b");
        assert!(choose(None, Some("other:b")).unwrap_err().message.contains("`other:b`"));
    }
}
