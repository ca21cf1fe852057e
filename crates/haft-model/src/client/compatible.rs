//! The common methods of the clients: every setting of [`HttpModel`](super::HttpModel), under their own
//! names.

/// Implements the settings and the model trait of a client that wraps an [`HttpModel`](super::HttpModel) in its field
/// `model`. The text describes the base URL.
macro_rules! client_of_http_model {
    ($client:ident, $base_url:literal) => {
        impl $client {
            #[doc = $base_url]
            /// A query is kept. The URL must contain no secrets: proxies and servers log URLs.
            pub fn base_url(mut self, url: impl Into<String>) -> Self {
                self.model = self.model.base_url(url);
                self
            }

            /// Sets the model for requests that name none, which are those whose model name is empty, as in
            /// `TurnRequest::new("", history)`.
            pub fn model(mut self, model: impl Into<std::borrow::Cow<'static, str>>) -> Self {
                self.model = self.model.model(model);
                self
            }

            /// Sets a header of every request, in place of one of the same name. Its value is no secret.
            pub fn header(mut self, name: impl Into<std::borrow::Cow<'static, str>>, value: impl Into<String>) -> Self {
                self.model = self.model.header(name, value);
                self
            }

            /// Receives answers as one body, rather than as a stream. The deltas are created from the complete turn.
            pub fn whole(mut self) -> Self {
                self.model = self.model.whole();
                self
            }

            /// Lets the provider cache the prompt, in the way that it asks for; see
            /// [`HttpModel::cache_prompt`](crate::HttpModel::cache_prompt).
            pub fn cache_prompt(mut self) -> Self {
                self.model = self.model.cache_prompt();
                self
            }

            /// Sets the timeouts of requests, in place of those of the HTTP client.
            pub fn timeouts(mut self, timeouts: haft_http::Timeouts) -> Self {
                self.model = self.model.timeouts(timeouts);
                self
            }

            /// Sets the HTTP client, for proxies, certificates and size limits, or to share connections.
            pub fn http_client(mut self, client: haft_http::HttpClient) -> Self {
                self.model = self.model.http_client(client);
                self
            }

            /// Sets a function that receives what of a request can't be sent as it is. It is called only if there is
            /// something to report, and findings about tools are not repeated while they stay the same.
            ///
            /// Without such a function, tools that are left out are logged as warnings of [`tracing`].
            pub fn on_report(
                mut self,
                report: impl Fn(&crate::client::RequestReport<'_>) + Send + Sync + 'static,
            ) -> Self {
                self.model = self.model.on_report(report);
                self
            }
        }

        impl From<$client> for crate::HttpModel {
            fn from(client: $client) -> Self {
                client.model
            }
        }

        impl crate::LanguageModel for $client {
            fn info(&self) -> crate::ModelInfo {
                self.model.info()
            }

            fn stream_turn(&self, request: &haft_core::TurnRequest) -> crate::TurnStream {
                self.model.stream_turn(request)
            }
        }
    };
}

pub(super) use client_of_http_model;
