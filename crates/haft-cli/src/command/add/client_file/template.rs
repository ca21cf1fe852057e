//! Texts with variables, as clients write them: `${env:X}`, `${X}`, `${X:-default}`, `${input:x}`, `${workspaceFolder}`.

/// A text with variables.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<TemplatePiece>);

#[derive(Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    /// A variable of the environment, with the text that stands in for it.
    Env(String, Option<String>),
    /// A text that the client asks a person for.
    Input(String),
    /// A variable that has no equivalent here.
    Unknown(String),
}

/// The content of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TemplateContent {
    /// A text without variables.
    Text(String),
    /// A single variable of the environment, after a text.
    Variable {
        /// The text before it.
        prefix: String,
        /// The name of the variable.
        variable: String,
    },
}

impl Template {
    pub(super) fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, (name, after))) = rest.find("${").and_then(|at| {
            let (before, from) = rest.split_at(at);
            Some((before, from[2..].split_once('}')?))
        }) {
            push_text(&mut pieces, before);
            match variable(name) {
                TemplatePiece::Text(text) => push_text(&mut pieces, &text),
                piece => pieces.push(piece),
            }
            rest = after;
        }
        push_text(&mut pieces, rest);
        Self(pieces)
    }

    /// Returns the content, or the reason why there is no equivalent of it.
    pub(super) fn content(self) -> Result<TemplateContent, String> {
        let unknown = self.0.iter().find_map(|piece| match piece {
            TemplatePiece::Unknown(name) => Some(format!("`${{{name}}}` has no equivalent; write its value")),
            _ => None,
        });
        if let Some(reason) = unknown {
            return Err(reason);
        }
        let mut pieces = self.0.into_iter();
        let (prefix, piece) = match pieces.next() {
            None => return Ok(TemplateContent::Text(String::new())),
            Some(TemplatePiece::Text(text)) => match pieces.next() {
                None => return Ok(TemplateContent::Text(text)),
                Some(piece) => (text, piece),
            },
            Some(piece) => (String::new(), piece),
        };
        let variable = match piece {
            TemplatePiece::Env(name, None) => name,
            TemplatePiece::Input(id) => variable_name(&id),
            TemplatePiece::Env(name, Some(default)) => {
                let rest: String = pieces.map(TemplatePiece::text).collect();
                tracing::debug!(variable = name, "a variable of a client's file is replaced by its default");
                return Template::parse(&format!("{prefix}{default}{rest}")).content();
            }
            TemplatePiece::Text(_) | TemplatePiece::Unknown(_) => return Err("its variables are not known".to_owned()),
        };
        if pieces.next().is_some() {
            return Err("a variable stands amid other text; put the whole text into one variable".to_owned());
        }
        Ok(TemplateContent::Variable { prefix, variable })
    }
}

impl TemplatePiece {
    /// Returns the piece as it was written.
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Env(name, None) => format!("${{env:{name}}}"),
            Self::Env(name, Some(default)) => format!("${{{name}:-{default}}}"),
            Self::Input(id) => format!("${{input:{id}}}"),
            Self::Unknown(name) => format!("${{{name}}}"),
        }
    }
}

fn push_text(pieces: &mut Vec<TemplatePiece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(TemplatePiece::Text(last)) => last.push_str(text),
        _ => pieces.push(TemplatePiece::Text(text.to_owned())),
    }
}

/// Returns the piece for a variable.
fn variable(name: &str) -> TemplatePiece {
    match name.split_once(':') {
        Some(("env", name)) if is_variable(name) => TemplatePiece::Env(name.to_owned(), None),
        Some(("input", id)) if !id.is_empty() => TemplatePiece::Input(id.to_owned()),
        // Relative paths start at the folder of the workspace file.
        None if ["workspaceFolder", "CLAUDE_PROJECT_DIR"].contains(&name) => TemplatePiece::Text(".".to_owned()),
        None if ["/", "pathSeparator"].contains(&name) => TemplatePiece::Text("/".to_owned()),
        None if name == "userHome" => TemplatePiece::Unknown(name.to_owned()),
        None if is_variable(name) => TemplatePiece::Env(name.to_owned(), None),
        Some((name, rest)) if is_variable(name) && rest.starts_with('-') => {
            TemplatePiece::Env(name.to_owned(), Some(rest[1..].to_owned()))
        }
        _ => TemplatePiece::Unknown(name.to_owned()),
    }
}

fn is_variable(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.bytes().all(is_part) && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Returns the variable for a text that a client asks for.
pub(super) fn variable_name(id: &str) -> String {
    let part = |character: char| if character.is_ascii_alphanumeric() { character.to_ascii_uppercase() } else { '_' };
    let name: String = id.chars().map(part).collect();
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> String {
        match Template::parse(text).content() {
            Ok(TemplateContent::Text(text)) => format!("text {text}"),
            Ok(TemplateContent::Variable { prefix, variable }) => format!("variable {prefix}|{variable}"),
            Err(reason) => reason,
        }
    }

    #[test]
    fn forms_of_variables() {
        for (text, expected) in [
            ("", "text "),
            ("plain $HOME {x} $", "text plain $HOME {x} $"),
            ("${env:API_KEY}", "variable |API_KEY"),
            ("${API_KEY}", "variable |API_KEY"),
            ("Bearer ${input:api-key}", "variable Bearer |API_KEY"),
            ("${input:2nd}", "variable |_2ND"),
            ("${workspaceFolder}/a", "text ./a"),
            ("a${/}b", "text a/b"),
            ("${PORT:-8080}", "text 8080"),
            ("${BASE:-https://a.example}/mcp", "text https://a.example/mcp"),
            ("${A:-}${env:B}", "variable |B"),
            ("${open", "text ${open"),
            ("${userHome}/x", "`${userHome}` has no equivalent; write its value"),
            ("${command:pick}", "`${command:pick}` has no equivalent; write its value"),
            ("${}", "`${}` has no equivalent; write its value"),
            ("${env:A}b", "a variable stands amid other text; put the whole text into one variable"),
            ("${A}${B}", "a variable stands amid other text; put the whole text into one variable"),
        ] {
            assert_eq!(content(text), expected, "{text}");
        }
    }
}
