//! Tools of a file that is not trusted.
//!
//! Tools refer to secrets by name, and the program may have a secret of any name. So it is not enough to withhold the
//! secrets that the file itself defines: its tools get none at all, wherever the program has them from.

use haft_core::{Dependency, Middleware, Next, Outcome, Request};

use super::source::FileSource;
use crate::secrets::Secrets;

/// A middleware that withholds all secrets from a tool, also those of the run.
#[derive(Clone, Debug)]
pub(crate) struct ConfinedTool(Secrets);

impl ConfinedTool {
    pub(crate) fn new(file: &FileSource) -> Self {
        Self(Secrets::withheld(untrusted(file)))
    }
}

impl Middleware for ConfinedTool {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        next.run(request.with_service(self.0.clone())).await
    }

    fn provides(&self) -> Vec<Dependency> {
        vec![Dependency::of::<Secrets>()]
    }
}

/// Returns the reason for which secrets of a file are withheld.
pub(crate) fn untrusted(file: &FileSource) -> String {
    format!("`{}` is not trusted; review the file, and trust it", file.path.display())
}
