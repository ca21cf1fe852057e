//! The calls of functions in a response.

use std::borrow::Cow;

use haft_core::{CallId, Delta};

use super::{CALL_ID, GeminiTurn, SIGNATURE, insert_data};
use crate::gemini_content::partial_args::PartialArguments;
use crate::gemini_content::response::ReadFunctionCall;
use crate::gemini_content::tool::FunctionOfSet;
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
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl GeminiTurn {
    pub(super) fn add_call(
        &mut self,
        call: ReadFunctionCall<'_>,
        signature: Option<Cow<'_, str>>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReadError> {
        let will_continue = call.will_continue.unwrap_or_default();
        let pieces = call.partial_args.unwrap_or_default();
        if let Some(name) = call.name.map(|name| name.0).filter(|name| !name.is_empty()) {
            if let Some(open) = &self.open_call {
                return Err(ReadError::invalid(format!("the arguments of the call `{}` are incomplete", open.name)));
            }
            let id = self.start_call(call.id.map(|id| id.0), &name, signature, deltas);
            let (name, arguments) = (name.into_owned(), PartialArguments::default());
            self.open_call = Some(OpenCall { id, name, arguments, whole: None });
        }
        let Some(open) = &mut self.open_call else {
            return Err(ReadError::invalid("a function call of the response has no name"));
        };
        for piece in pieces {
            open.arguments.add(piece)?;
        }
        if let Some(args) = call.args {
            open.whole = Some(args.get().to_owned());
        }
        if !will_continue && let Some(open) = self.open_call.take() {
            self.end_call(open, deltas);
        }
        Ok(())
    }

    fn start_call(
        &mut self,
        id: Option<Cow<'_, str>>,
        name: &str,
        signature: Option<Cow<'_, str>>,
        deltas: &mut Vec<Delta>,
    ) -> CallId {
        let id = id.filter(|id| !id.is_empty());
        let call_id = match &id {
            Some(id) => CallId::from(id.clone().into_owned()),
            None => self.assigned_id(),
        };
        let wire_name = FunctionOfSet::find(&self.tools, name).map_or(name, |function| function.tool);
        deltas.push(self.builder.call_start(call_id.clone(), wire_name));
        if let Some(call) = self.builder.call_mut(&call_id) {
            for (member, value) in [(CALL_ID, id), (SIGNATURE, signature)] {
                if let Some(value) = value {
                    insert_data(&mut call.provider_data, &self.provider, member, value);
                }
            }
        }
        call_id
    }

    fn end_call(&mut self, open: OpenCall, deltas: &mut Vec<Delta>) {
        let arguments = open.whole.unwrap_or_else(|| open.arguments.into_text());
        let arguments = match FunctionOfSet::find(&self.tools, &open.name) {
            Some(function) => function.join(&arguments).unwrap_or(arguments),
            None => arguments,
        };
        deltas.push(self.builder.call_arguments(open.id.clone(), arguments));
        deltas.push(self.builder.call_end(open.id));
    }
}
