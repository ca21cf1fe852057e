//! Logins at the server of an import.

use std::sync::Arc;

use haft_executor::{BoxError, Services};
use haft_registry::{ImportLogin, LoggingIn, OpenPage};

use super::server::ServerSettings;

/// The logins at one server.
pub(super) struct McpLogin(pub(super) Arc<ServerSettings>);

impl ImportLogin for McpLogin {
    fn login(&self, services: Services, open: OpenPage) -> LoggingIn<'_> {
        Box::pin(async move {
            let server = self.0.server(&self.0.given(&services)?)?;
            Ok(server.login(open).await?)
        })
    }

    fn is_logged_in(&self) -> bool {
        self.0.has_login()
    }

    fn logout(&self) -> Result<(), BoxError> {
        Ok(self.0.without_credentials().logout()?)
    }
}
