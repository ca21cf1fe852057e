//! Function calls in a response.

use std::borrow::Cow;

use haft_core::{CallId, Delta};

use super::{CALL_ID, GeminiTurn, PartExtras, insert_data};
use crate::wire::gemini_content::partial_args::PartialArguments;
use crate::wire::gemini_content::response::ReadFunctionCall;
use crate::wire::gemini_content::tool::FunctionOfSet;
use crate::wire_error::ReadError;

/// A call whose arguments are still arriving.
#[derive(Debug)]
pub(super) struct OpenCall {
    id: CallId,
    name: String,
    arguments: PartialArguments,
    whole: Option<String>,
}

impl OpenCall {
    /// Returns the error for a call whose end did not arrive.
    pub(super) fn incomplete(&self) -> ReadError {
        ReadError::invalid(format!("the arguments of the call `{}` are incomplete", self.name))
    }
}

impl GeminiTurn {
    pub(super) fn add_call(
        &mut self,
        call: ReadFunctionCall<'_>,
        extras: PartExtras<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReadError> {
        let will_continue = call.will_continue.unwrap_or_default();
        let name = call.name.map(|name| name.0).filter(|name| !name.is_empty());
        let mut open = match (self.open_call.take(), name) {
            // What follows a continuing call belongs to it, and may repeat its name.
            (Some(open), None) => open,
            (Some(open), Some(name)) if open.name == name => open,
            (Some(open), Some(_)) => return Err(open.incomplete()),
            (None, Some(name)) => self.start_call(call.id.map(|id| id.0), name.into_owned(), deltas),
            (None, None) => return Err(ReadError::invalid("a function call of the response has no name")),
        };
        if let Some(started) = self.builder.call_mut(&open.id) {
            extras.insert(&mut started.provider_data, &self.provider);
        }
        for piece in call.partial_args.unwrap_or_default() {
            open.arguments.add(piece)?;
        }
        if let Some(args) = call.args {
            open.whole = Some(args.get().to_owned());
        }
        if will_continue {
            self.open_call = Some(open);
        } else {
            self.end_call(open, deltas);
        }
        Ok(())
    }

    fn start_call(&mut self, id: Option<Cow<'_, str>>, name: String, deltas: &mut Vec<Delta>) -> OpenCall {
        let id = id.filter(|id| !id.is_empty());
        // With a repeated id, one call's result would answer both.
        let known = id.as_deref().map(CallId::from).filter(|id| self.call_ids.insert(id.clone()));
        let call_id = known.unwrap_or_else(|| self.assigned_id());
        let wire_name = FunctionOfSet::find(&self.tools, &name).map_or(name.as_str(), |function| function.tool);
        deltas.push(self.builder.call_start(call_id.clone(), wire_name));
        if let (Some(call), Some(id)) = (self.builder.call_mut(&call_id), id) {
            insert_data(&mut call.provider_data, &self.provider, CALL_ID, id.into());
        }
        OpenCall { id: call_id, name, arguments: PartialArguments::default(), whole: None }
    }

    /// Ends a call. Arguments that arrived in pieces win over an empty object, which some servers send with them.
    pub(super) fn end_call(&mut self, open: OpenCall, deltas: &mut Vec<Delta>) {
        let arguments = match open.whole {
            Some(whole) if open.arguments.is_empty() => whole,
            _ => open.arguments.into_text(),
        };
        let arguments = match FunctionOfSet::find(&self.tools, &open.name) {
            Some(function) => function.join(&arguments).unwrap_or(arguments),
            None => arguments,
        };
        deltas.push(self.builder.call_arguments(open.id.clone(), arguments));
        deltas.push(self.builder.call_end(open.id));
    }
}
