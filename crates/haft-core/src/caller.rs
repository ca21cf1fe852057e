//! The caller that calls run for.

use crate::text_id::text_id;

text_id! {
    /// The caller that a call runs for: a user, a tenant, a session. Its meaning is up to the application.
    Caller
}
